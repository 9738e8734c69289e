"""The status file: the board in one short line, for the status lines of tmux and of the client.

Readers start no program and send no request: there is one file for all panes, written when the board changes.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from claude_headspace.config import write_private_file
from claude_headspace.kernel.agent import Agent, AgentState

SHAPES = {
    AgentState.WAITING: "◆",
    AgentState.ERROR: "✕",
    AgentState.WORKING: "●",
    AgentState.IDLE: "○",
    AgentState.STARTING: "◌",
}
NAMED = (AgentState.WAITING, AgentState.ERROR)
MAX_NAMES = 3
FULL, FULL_SHAPE = 80, "▲"
"""Agents whose context is at least this full, in percent, are listed with this shape."""


def status_line(agents: Iterable[Agent]) -> str:
    """Agents per state, with the names of those with needs or a full context: "◆ 1 able-ant  ● 3  ▲ wild-fox 91%"."""
    found = sorted(agents, key=lambda agent: agent.state_since)
    numbers = Counter(agent.state for agent in found)
    parts = [_part(state, numbers[state], found) for state in SHAPES if numbers[state]]
    return "  ".join([*parts, *_full(found)])


def _full(agents: list[Agent]) -> list[str]:
    full = [agent for agent in agents if agent.ended_at is None and (agent.context_percent or 0) >= FULL]
    fullest = sorted(full, key=lambda agent: -(agent.context_percent or 0))
    names = [f"{agent.name} {int(agent.context_percent or 0)}%" for agent in fullest[:MAX_NAMES]]
    return [" ".join([FULL_SHAPE, *names, *(["…"] if len(full) > MAX_NAMES else [])])] if full else []


def _part(state: AgentState, number: int, agents: list[Agent]) -> str:
    names = [agent.name for agent in agents if agent.state is state][:MAX_NAMES] if state in NAMED else []
    more = ["…"] if state in NAMED and number > MAX_NAMES else []
    return " ".join([SHAPES[state], str(number), *names, *more])


class StatusFile:
    """Writes the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def show(self, agents: Sequence[Agent]) -> None:
        """Write the line, atomically."""
        write_private_file(self._path, f"{status_line(agents)}\n".encode())

    def clear(self) -> None:
        """Remove the file."""
        self._path.unlink(missing_ok=True)
