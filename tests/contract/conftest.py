"""Journals of every kind for the stories that all of them must tell."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_headspace.ports import Journal
from tests.journals import KINDS, NewUrl, open_journal, postgresql_server


@pytest.fixture(scope="session")
def new_postgresql() -> Iterator[NewUrl]:
    """A PostgreSQL server for the session."""
    with postgresql_server() as new_url:
        yield new_url


@pytest.fixture(params=KINDS)
def any_journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    """An empty journal of every kind."""
    made = open_journal(request.param, tmp_path, lambda: request.getfixturevalue("new_postgresql"))
    yield made
    made.close()
