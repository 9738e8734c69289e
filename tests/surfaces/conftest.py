"""One daemon on each engine for all tests of the API and its stream; each test uses sessions of its own."""

from collections.abc import Iterator

import pytest

from tests.support import RunningDaemon, running_daemon


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def daemon(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """A daemon without any configuration, and one whose journal is shared."""
    shared = {"database": request.getfixturevalue("postgres").database()} if request.param == "postgresql" else {}
    with running_daemon(tmp_path_factory.mktemp("surfaces"), **shared) as running:
        yield running
