"""The board in one short line, kept in a file: for tmux's status line and the client's own, which only read it.

Whoever shows it starts no program of ours and asks nobody: one file for all panes, written when something changed.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from claude_headspace.kernel.agent import Agent, AgentState

SHAPES = {
    AgentState.WAITING: "◆",
    AgentState.ERROR: "✕",
    AgentState.WORKING: "●",
    AgentState.IDLE: "○",
    AgentState.STARTING: "◌",
}
NAMED = (AgentState.WAITING, AgentState.ERROR)
MOST_NAMES = 3
PAUSE_SECONDS = 0.25
"""How long changes are gathered before the line is written."""


def glance(agents: Iterable[Agent]) -> str:
    """How many are in which state, and who needs somebody: "◆ 1 able-ant  ● 3  ○ 2"."""
    found = sorted(agents, key=lambda agent: agent.state_since)
    numbers = Counter(agent.state for agent in found)
    return "  ".join(_part(state, numbers[state], found) for state in SHAPES if numbers[state])


def _part(state: AgentState, number: int, agents: list[Agent]) -> str:
    names = [agent.name for agent in agents if agent.state is state][:MOST_NAMES] if state in NAMED else []
    more = ["…"] if state in NAMED and number > MOST_NAMES else []
    return " ".join([SHAPES[state], str(number), *names, *more])


class Glance:
    """Keeps the file."""

    def __init__(self, path: Path, agents: Callable[[], Iterable[Agent]]) -> None:
        self._path = path
        self._agents = agents
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to keep it."""
        self._task = asyncio.create_task(self._run(), name="glance")

    async def stop(self) -> None:
        """Take it away: what nobody keeps is not shown."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._path.unlink(missing_ok=True)

    def ring(self) -> None:
        """Something changed."""
        self._news.set()

    async def _run(self) -> None:
        while True:
            self._news.clear()
            await self._write()
            await self._news.wait()
            await asyncio.sleep(PAUSE_SECONDS)

    async def _write(self) -> None:
        with suppress(Exception):  # a database that is away now is there again at the next change
            line = glance(await asyncio.to_thread(lambda: list(self._agents())))
            draft = self._path.with_name(f"{self._path.name}.{os.getpid()}")
            draft.write_text(line + "\n", encoding="utf-8")
            draft.replace(self._path)
