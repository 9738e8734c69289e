"""Watching one directory: a new file ends the wait, and a wait always ends."""

import asyncio
import sys
from pathlib import Path

import pytest

from claude_headspace.inputs.receive.directory_watch import DirectoryWatch

LONG = 60.0

pytestmark = pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="not supported on this system")


def test_a_new_file_ends_the_wait(tmp_path: Path) -> None:
    """Also one that was created before the wait; each change ends one wait."""

    async def run() -> None:
        watch = DirectoryWatch(tmp_path)
        watch.start()
        assert watch.is_watching
        waiting = asyncio.create_task(watch.wait(LONG))
        await asyncio.sleep(0)
        (tmp_path / "one").write_text("here")
        await waiting
        (tmp_path / "two").write_text("here")
        await asyncio.sleep(0.05)
        await watch.wait(LONG)
        await watch.wait(0.01)
        watch.stop()
        assert not watch.is_watching

    asyncio.run(asyncio.wait_for(run(), LONG / 2))


def test_a_wait_ends_without_a_watch(tmp_path: Path) -> None:
    """A missing directory cannot be watched; the wait ends after its time limit."""

    async def run() -> None:
        watch = DirectoryWatch(tmp_path / "nowhere")
        watch.start()
        assert not watch.is_watching
        await watch.wait(0.01)
        watch.stop()

    asyncio.run(run())
