"""A PostgreSQL server for the tests that need one."""

from collections.abc import Iterator

import pytest

from tests.journals import NewUrl, postgresql_server


@pytest.fixture(scope="session")
def new_postgresql() -> Iterator[NewUrl]:
    """A PostgreSQL server for the session."""
    with postgresql_server() as new_url:
        yield new_url
