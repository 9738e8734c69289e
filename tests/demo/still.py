"""A demo that is stopped at its start, and where its pictures are saved."""

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from claude_headspace.demo.command import started_demo
from claude_headspace.demo.player import Player
from claude_headspace.demo.sandbox import Sandbox
from tests.support import wait_until

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "tests/web/pictures"


@contextmanager
def still_demo() -> Iterator[Sandbox]:
    """A demo at speed 0. Its open dialogs can be answered."""
    with started_demo(seed=1, speed=0.0) as (sandbox, player), playing(player):
        wait_until(lambda: len([w for w in sandbox.client.waits() if w["held_until"]]) >= 4, "the open dialogs")
        yield sandbox


@contextmanager
def playing(player: Player) -> Iterator[None]:
    """Run the player in a thread."""
    loop = asyncio.new_event_loop()
    play = loop.create_task(player.play())

    def run() -> None:
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(play)
        loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(play.cancel)
        thread.join()


def keep(name: str, data: bytes) -> None:
    """Save a picture for inspection; with `PICTURES=docs` also in the documentation."""
    for folder in [PICTURES, *([ROOT / "docs/pictures"] if os.environ.get("PICTURES") == "docs" else [])]:
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
