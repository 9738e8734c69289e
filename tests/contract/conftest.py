"""An empty journal of each backend."""

from collections.abc import Iterator

import pytest

from claude_headspace.journal.sql import SqlJournal
from tests.journals import MAKERS


@pytest.fixture(params=MAKERS)
def any_journal(request: pytest.FixtureRequest) -> Iterator[SqlJournal]:
    """An empty journal of each backend."""
    journal = MAKERS[request.param](request)
    yield journal
    journal.close()
