"""Live screens: one reader for all viewers, only while there are any."""

import asyncio
from collections.abc import AsyncIterator

from claude_headspace.errors import BadRequest
from claude_headspace.surfaces.live.screens import Screens, ScreenView
from claude_headspace.surfaces.live.stream import CONNECTED
from claude_headspace.surfaces.text.screen_lines import LinePart


class Pane:
    """A pane that counts how often it is read. Each text is shown until the next one is set."""

    def __init__(self) -> None:
        self.reads = 0
        self.text = "one"
        self.problem: Exception | None = None

    def read(self, _agent: str) -> ScreenView:
        """What it shows."""
        self.reads += 1
        if self.problem is not None:
            raise self.problem
        return ScreenView(80, [[LinePart(self.text)]])


async def frame(viewer: AsyncIterator[bytes]) -> bytes:
    """The next frame with a screen."""
    async with asyncio.timeout(60):
        while True:
            found = await anext(viewer)
            if found.startswith(b"event: screen"):
                return found


def test_all_viewers_share_one_reader() -> None:
    """A late viewer gets the same screen; the reader stops with the last viewer."""

    async def run() -> None:
        pane = Pane()
        screens = Screens(pane.read, lambda: 5.0)
        first, second = screens.watch("a"), screens.watch("a")
        assert await anext(first) == CONNECTED
        assert b'"one"' in await frame(first)
        assert b'"one"' in await frame(second)
        assert screens.readers == 1
        pane.text = "two"
        assert [b'"two"' in await frame(each) for each in (first, second)] == [True, True]
        await first.aclose()  # type: ignore[attr-defined]  # a generator
        assert screens.readers == 1
        await second.aclose()  # type: ignore[attr-defined]
        assert screens.readers == 0

    asyncio.run(run())


def test_without_a_screen_there_is_a_reason_and_later_the_screen() -> None:
    """Refusals and bugs are shown, and do not end the reader."""

    async def run() -> None:
        pane = Pane()
        pane.problem = BadRequest("no_pane", "It does not run in tmux.", "Start it there.")
        screens = Screens(pane.read, lambda: 5.0)
        viewer = screens.watch("a")
        assert b"It does not run in tmux." in await frame(viewer)
        pane.problem = ValueError("a bug")
        assert b"The screen could not be read." in await frame(viewer)
        pane.problem = None
        assert b'"one"' in await frame(viewer)
        screens.close()
        async with asyncio.timeout(60):
            assert [each async for each in viewer if each.startswith(b"event")] == []
        assert screens.readers == 0

    asyncio.run(run())
