"""Whose effort is it: from the directory to the nearest project, to the effort there.

Rules
- An agent that holds an effort keeps it, wherever it goes.
- Else the nearest project above the directory decides; a directory of none has no effort.
- In a fleet `AGENT_ID` names the effort, and nothing else does. Without it the latest one counts that is free: nobody
  works on it, or whoever did is gone.
- Whatever cannot be resolved is None, and everything goes on as if there were no effort.
"""

from collections.abc import Callable, Iterable, Sequence

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort.model import Effort

IsAlive = Callable[[str], bool]
"""Whether an agent's client is known to be there."""


def resolve(
    efforts: Iterable[Effort], *, directory: str | None, owner: str | None, agent_id: str | None, is_alive: IsAlive
) -> Effort | None:
    """The effort that an event belongs to, among the active ones of its host."""
    active = [effort for effort in efforts if effort.is_active]
    if owner:
        return _latest(_nearest([effort for effort in active if effort.owner == owner], directory))
    held = [effort for effort in active if agent_id and effort.holder == agent_id]
    if held:
        return _latest(held)
    free = [effort for effort in active if effort.owner is None and _is_free(effort, agent_id, is_alive)]
    return _latest(_nearest(free, directory))


def has_live_client(agent: Agent) -> bool:
    """Whether a client of the agent is known to be there; of one without a process or pane nobody knows."""
    return agent.ended_at is None and (agent.pid is not None or agent.tmux_pane is not None)


def _is_free(effort: Effort, agent_id: str | None, is_alive: IsAlive) -> bool:
    return effort.holder is None or effort.holder == agent_id or not is_alive(effort.holder)


def _nearest(efforts: list[Effort], directory: str | None) -> list[Effort]:
    """Those of the project that is nearest above the directory."""
    around = [effort for effort in efforts if directory and is_within(directory, effort.project_root)]
    depth = max((len(effort.project_root) for effort in around), default=0)
    return [effort for effort in around if len(effort.project_root) == depth]


def _latest(efforts: Sequence[Effort]) -> Effort | None:
    return max(efforts, key=lambda effort: (effort.started_at, effort.id), default=None)


def is_within(path: str, root: str) -> bool:
    """Whether a path is a directory or lies below it."""
    return path == root or path.startswith(root.rstrip("/") + "/")
