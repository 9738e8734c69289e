"""One daemon for all tests of what arrives; each test uses sessions and directories of its own."""

from collections.abc import Iterator

import pytest

from tests.support import RunningDaemon, running_daemon


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """A daemon without any configuration."""
    with running_daemon(tmp_path_factory.mktemp("inputs")) as running:
        yield running
