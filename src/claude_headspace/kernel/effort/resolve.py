"""Find the effort that an event belongs to. Pure.

Rules
- With an `AGENT_ID` (in a fleet), only efforts of that owner count.
- Without one, an agent keeps the effort that it holds, in every directory.
- Otherwise the nearest project at or above the directory decides: its latest free effort, with or without an owner. An
  effort is free if no agent holds it or the client of its holder is gone.
- No match is None: the event is processed as if there were no effort.
"""

from collections.abc import Callable, Iterable, Sequence

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort.model import Effort

IsAlive = Callable[[str], bool]
"""Whether the client of an agent (by id) is known to run."""


def resolve(
    efforts: Iterable[Effort], *, directory: str | None, owner: str | None, agent_id: str | None, is_alive: IsAlive
) -> Effort | None:
    """The effort that an event belongs to. `efforts` are those of its host."""
    active = [effort for effort in efforts if effort.is_active]
    if owner:
        return _latest(_nearest([effort for effort in active if effort.owner == owner], directory))
    held = [effort for effort in active if agent_id and effort.holder == agent_id]
    if held:
        return _latest(held)
    free = [effort for effort in active if _is_free(effort, agent_id, is_alive)]
    return _latest(_nearest(free, directory))


def has_live_client(agent: Agent) -> bool:
    """Whether the agent's client is known to run. Without a process or pane this is unknown, so False."""
    return agent.ended_at is None and (agent.pid is not None or agent.tmux_pane is not None)


def _is_free(effort: Effort, agent_id: str | None, is_alive: IsAlive) -> bool:
    return effort.holder is None or effort.holder == agent_id or not is_alive(effort.holder)


def _nearest(efforts: list[Effort], directory: str | None) -> list[Effort]:
    """The efforts of the nearest project at or above the directory."""
    enclosing = [effort for effort in efforts if directory and is_within(directory, effort.project_root)]
    depth = max((len(effort.project_root) for effort in enclosing), default=0)
    return [effort for effort in enclosing if len(effort.project_root) == depth]


def _latest(efforts: Sequence[Effort]) -> Effort | None:
    return max(efforts, key=lambda effort: (effort.started_at, effort.id), default=None)


def is_within(path: str, root: str) -> bool:
    """Whether a path is `root` or below it."""
    return path == root or path.startswith(root.rstrip("/") + "/")
