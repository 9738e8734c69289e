"""Journals of every kind for the stories that all of them must tell."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_headspace.ports import Journal
from tests.journals import MAKERS


@pytest.fixture(params=MAKERS)
def any_journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    """An empty journal of every kind."""
    made = MAKERS[request.param](request, tmp_path)
    yield made
    made.close()
