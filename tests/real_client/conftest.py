"""Runs all selected scenarios in parallel. Each test then checks its own result."""

import os
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from tests.real_client.cases import Case, run_cases
from tests.real_client.program import Unavailable
from tests.real_client.run import Timing

WORKERS = min(12, 2 + 2 * (os.cpu_count() or 1))
"""How many clients run at the same time. They wait most of the time."""

Results = dict[str, "Future[list[Timing]]"]


@pytest.fixture(scope="session")
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    """The result of every selected case, by its name."""
    parts = [getattr(item, "callspec", None) for item in request.session.items]
    cases = [part.params["case"] for part in parts if part is not None and isinstance(part.params.get("case"), Case)]
    root: Path = tmp_path_factory.mktemp("real")
    try:
        with run_cases(cases, root, WORKERS) as futures:
            yield futures
    except Unavailable as reason:
        pytest.skip(f"the real client cannot be run here: {reason}")
