"""All chosen scenarios are played at once, as far as the machine allows; each test then looks at its own."""

import os
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from tests.real_client.play import Take, playing
from tests.real_client.program import Unavailable
from tests.real_client.run import Timing

WORKERS = min(12, 2 + 2 * (os.cpu_count() or 1))
"""How many clients run at once: they wait most of the time."""

Played = dict[str, "Future[list[Timing]]"]


@pytest.fixture(scope="session")
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """What became of every take that was chosen for this run."""
    parts = [getattr(item, "callspec", None) for item in request.session.items]
    takes = [part.params["take"] for part in parts if part is not None and isinstance(part.params.get("take"), Take)]
    root: Path = tmp_path_factory.mktemp("real")
    try:
        with playing(takes, root, WORKERS) as futures:
            yield futures
    except Unavailable as reason:
        pytest.skip(f"the real client cannot be run here: {reason}")
