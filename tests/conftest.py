"""Setup of all tests: a scratch home, and long tests only on request.

The session, including collection, runs with a scratch HOME and without variables of a Claude Code session or a tmux
pane that it may have been started from. A test that changes the real `~/.claude` fails the session.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.journals import close_temporary_journals
from tests.postgres import Postgres, running_postgres
from tests.signals import stop_ignoring_signals

# Where HOME is only a default; the runtime directory has a short name because paths of sockets end at 104 characters.
SCRATCH_PLACES = {
    "HOME": "home",
    "CLAUDE_CONFIG_DIR": "home/.claude",
    "HEADSPACE_HOME": "headspace",
    "XDG_CACHE_HOME": "cache",
    "XDG_CONFIG_DIRS": "etc",
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_DIRS": "share",
    "XDG_DATA_HOME": "data",
    "XDG_RUNTIME_DIR": "run",
    "XDG_STATE_HOME": "state",
}
CACHE = "HEADSPACE_TEST_CACHE"
"""Where programs that tests install are kept: in the real home, for the next time."""
INHERITED_PREFIXES = ("CLAUDE", "HEADSPACE_", "TMUX", "XDG_")


settings.register_profile("headspace", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("headspace")  # a busy machine is slow, and that is no failure


def _changed_at(path: Path) -> int | None:
    return path.stat().st_mtime_ns if path.exists() else None


# Taken when pytest loads this file: before any test module is imported, and before HOME moves.
BEFORE = {path: _changed_at(path) for path in (Path.home() / ".claude", Path.home() / ".claude.json")}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--full`."""
    parser.addoption("--full", action="store_true", help="run the long soaks too")


def pytest_configure(config: pytest.Config) -> None:
    """Moves the session to a scratch home, before the first test module is imported."""
    stop_ignoring_signals()
    real_environment = dict(os.environ)
    scratch = Path(tempfile.mkdtemp(prefix="hs-"))

    def move_back() -> None:
        os.environ.clear()
        os.environ.update(real_environment)
        shutil.rmtree(scratch, ignore_errors=True)

    config.add_cleanup(move_back)
    cache = real_environment.get(CACHE) or str(Path.home() / ".cache" / "headspace-tests")
    for name in real_environment:
        if name.startswith(INHERITED_PREFIXES):
            del os.environ[name]
    for name, place in SCRATCH_PLACES.items():
        directory = scratch / place
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.environ[name] = str(directory)
    os.environ[CACHE] = cache


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skips the long tests; the reason names the option."""
    if config.getoption("--full"):
        return
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker(pytest.mark.skip(reason="long soak: run bin/test --full"))


@pytest.fixture(scope="session", autouse=True)
def _real_home_stays_untouched() -> Iterator[None]:
    """Fails the session if the real Claude Code configuration changed."""
    yield
    touched = [str(path) for path, before in BEFORE.items() if _changed_at(path) != before]
    if touched:
        pytest.fail(f"changed during the tests, by one of them or by a Claude Code running beside: {touched}")


@pytest.fixture(autouse=True)
def _temporary_journals() -> Iterator[None]:
    """Closes the journals that the test opened."""
    yield
    close_temporary_journals()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One PostgreSQL server for all tests. Each test uses its own database."""
    with running_postgres(durable=False) as server:
        yield server
