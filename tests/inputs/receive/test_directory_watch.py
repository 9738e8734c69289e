"""The bell of a directory: it rings for what is put in, and lets nobody wait for ever."""

import asyncio
import sys
from pathlib import Path

import pytest

from claude_headspace.inputs.receive.directory_watch import DirectoryWatch

LONG = 60.0

pytestmark = pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="no bell on this system")


def test_it_rings_when_a_file_is_put_in(tmp_path: Path) -> None:
    """Whoever waits is woken, also by what came before he waited; afterwards it is quiet again."""

    async def story() -> None:
        bell = DirectoryWatch(tmp_path)
        bell.start()
        assert bell.is_watching
        waiting = asyncio.create_task(bell.wait(LONG))
        await asyncio.sleep(0)
        (tmp_path / "one").write_text("here")
        await waiting
        (tmp_path / "two").write_text("here")
        await asyncio.sleep(0.05)
        await bell.wait(LONG)
        await bell.wait(0.01)
        bell.stop()
        assert not bell.is_watching

    asyncio.run(asyncio.wait_for(story(), LONG / 2))


def test_a_bell_that_cannot_ring_costs_only_time(tmp_path: Path) -> None:
    """Without a directory to watch the wait simply ends."""

    async def story() -> None:
        bell = DirectoryWatch(tmp_path / "nowhere")
        bell.start()
        assert not bell.is_watching
        await bell.wait(0.01)
        bell.stop()

    asyncio.run(story())
