"""Board displays: the status file, tmux colours and notifications follow the board.

Changes within a short time are shown together, in a thread. Nothing waits for a display, and one that fails is updated
again at the next change.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import structlog

from claude_headspace.background import Loop
from claude_headspace.kernel.agent import Agent

log = structlog.get_logger(__name__)

PAUSE_SECONDS = 0.25


class Display(Protocol):
    """Shows the board somewhere. Called in a thread."""

    def show(self, agents: Sequence[Agent]) -> None:
        """Show the agents as they are now."""

    def clear(self) -> None:
        """Remove what is shown, because it is no longer updated."""


class BoardDisplays(Loop):
    """Keeps the displays up to date."""

    def __init__(self, agents: Callable[[], Iterable[Agent]], displays: Sequence[Display]) -> None:
        super().__init__()
        self._agents = agents
        self._displays = displays
        self.changed = asyncio.Event()
        """Set after a change of the board."""

    async def stop(self) -> None:
        """Stop, and clear the displays."""
        await super().stop()
        for display in self._displays:
            await asyncio.to_thread(_try, display.clear)

    async def _run(self) -> None:
        while True:
            self.changed.clear()
            await asyncio.to_thread(_try, self._show)
            await self.changed.wait()
            await asyncio.sleep(PAUSE_SECONDS)

    def _show(self) -> None:
        agents = list(self._agents())
        for display in self._displays:
            _try(lambda display=display: display.show(agents))  # type: ignore[misc]  # bound now


def _try(work: Callable[[], None]) -> None:
    try:
        work()
    except Exception:
        log.warning("display_failed", exc_info=True)
