"""What follows the board at a small distance: changes are gathered for a moment, then shown once, beside the loop.

Nobody waits for it, and what fails here is tried again at the next change.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import structlog

from claude_headspace.background import Loop
from claude_headspace.kernel.agent import Agent
from claude_headspace.ports import StreamMessage

log = structlog.get_logger(__name__)

PAUSE_SECONDS = 0.25


class Display(Protocol):
    """Something that shows the board elsewhere. Called in a thread."""

    def show(self, agents: Sequence[Agent]) -> None:
        """Show the living agents as they are now."""

    def clear(self) -> None:
        """Leave no trace: nobody keeps it up to date any more."""


class Gathering(Loop):
    """Keeps displays up to date."""

    def __init__(self, agents: Callable[[], Iterable[Agent]], displays: Sequence[Display]) -> None:
        super().__init__()
        self._agents = agents
        self._displays = displays
        self._news = asyncio.Event()

    def ring(self, _messages: Sequence[StreamMessage] = ()) -> None:
        """Something changed."""
        self._news.set()

    async def stop(self) -> None:
        """Follow no more, and clear up."""
        await super().stop()
        for display in self._displays:
            await asyncio.to_thread(_tried, display.clear)

    async def _run(self) -> None:
        while True:
            self._news.clear()
            await asyncio.to_thread(_tried, self._show)
            await self._news.wait()
            await asyncio.sleep(PAUSE_SECONDS)

    def _show(self) -> None:
        agents = list(self._agents())
        for display in self._displays:
            _tried(lambda display=display: display.show(agents))  # type: ignore[misc]  # bound now


def _tried(work: Callable[[], None]) -> None:
    try:
        work()
    except Exception:
        log.warning("display_failed", exc_info=True)
