"""A seeded demo that stands still at its first moment, and where its pictures go."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from claude_headspace.demo.command import playing, raised
from claude_headspace.demo.stage import Stage
from tests.support import wait_until

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "tests/web/pictures"


@contextmanager
def still_demo() -> Iterator[Stage]:
    """Time stands still, but whoever waits can be answered."""
    with raised(seed=1, speed=0.0) as (stage, director), playing(director):
        wait_until(lambda: len([w for w in stage.client.waits() if w["held_until"]]) >= 4, "everybody who waits")
        yield stage


def keep(name: str, data: bytes) -> None:
    """Put a picture where people look at it; with `PICTURES=docs` into the documentation as well."""
    for folder in [PICTURES, *([ROOT / "docs/pictures"] if os.environ.get("PICTURES") == "docs" else [])]:
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
