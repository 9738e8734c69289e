"""A copied journal has the same log and rows, on any database, also after an interruption."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from claude_headspace.errors import BadRequest, JournalUnavailable
from claude_headspace.journal.copy import copy, count_rows
from claude_headspace.journal.sql import SqlJournal
from claude_headspace.kernel.search_terms import parse_query
from claude_headspace.ports import NamedToken, Position, SearchFilter
from claude_headspace.testing import START, hook
from tests.journals import opened, sqlite_journal, store

Make = Callable[[str], SqlJournal]


@pytest.fixture
def make(tmp_path: Path, request: pytest.FixtureRequest) -> Make:
    """Makes journals, each in its own database."""

    def made(kind: str) -> SqlJournal:
        if kind == "postgresql":
            return opened(SqlJournal(request.getfixturevalue("postgres").database()))
        return sqlite_journal(tmp_path / f"{len(list(tmp_path.iterdir()))}.db")

    return made


class Steps:
    """Counts the progress of each phase; can interrupt the copy after one."""

    def __init__(self, stop_after: str = "") -> None:
        self.totals: dict[str, int] = {}
        self.done: dict[str, int] = {}
        self._stop_after = stop_after

    def __call__(self, what: str, total: int) -> Callable[[int], None]:
        """Start the next phase."""
        if self._stop_after in self.totals:
            raise KeyboardInterrupt
        self.totals[what], self.done[what] = total, 0

        def advance(count: int) -> None:
            self.done[what] += count

        return advance


def fill(journal: SqlJournal, sessions: int = 3) -> None:
    """A log, positions, a token and a snapshot."""
    for number in range(sessions):
        common = {"session_id": f"s{number}", "cwd": f"/p{number}"}
        store(
            journal,
            hook("SessionStart", START + number, **common),  # type: ignore[arg-type]
            hook("UserPromptSubmit", START + number + 1, prompt=f"needle {number} \0 日本", **common),  # type: ignore[arg-type]
            hook("Stop", START + number + 2, last_assistant_message="Which?", **common),  # type: ignore[arg-type]
        )
    journal.save_positions("tail", {"/a": Position(1, START)})
    journal.add_token(NamedToken(name="one", scopes=("read",), owner="", created_at=START), "digest")
    journal.prune(START + 1)


@pytest.mark.parametrize(
    ("origin", "target"), [("sqlite", "sqlite"), ("sqlite", "postgresql"), ("postgresql", "sqlite")]
)
def test_a_copy_equals_the_original(make: Make, origin: str, target: str) -> None:
    """Events, stream, agents, search, tokens and positions; new events continue the sequence."""
    source, destination = make(origin), make(target)
    fill(source)
    steps = Steps()
    done = copy(source, destination, steps)
    assert done.differing == []
    assert done.events == source.counts().events
    assert list(steps.totals) == ["Copying", "Building", "Comparing"]
    assert steps.done == steps.totals
    assert steps.totals["Copying"] == count_rows(source)
    assert destination.counts() == source.counts()
    assert destination.tokens() == source.tokens()
    assert destination.positions("tail") == source.positions("tail")
    assert len(destination.search(parse_query("needle"), SearchFilter(), 10)) == 3
    assert list(destination.verify()) == []
    store(destination, hook("SessionStart", START + 99, session_id="new", cwd="/new"))
    assert list(destination.verify()) == []
    source.close()
    destination.close()


def test_a_copy_continues_where_it_stopped(make: Make) -> None:
    """Only rows that are not yet in the target are copied."""
    source, destination = make("sqlite"), make("sqlite")
    fill(source)
    first = copy(source, destination)
    again = copy(source, destination)
    assert (again.copied, again.differing) == (0, [])
    store(source, hook("SessionStart", START + 50, session_id="later", cwd="/later"))
    more = copy(source, destination)
    assert 0 < more.copied < first.copied
    assert more.differing == []
    assert destination.counts() == source.counts()
    source.close()
    destination.close()


@pytest.mark.parametrize("target", ["sqlite", "postgresql"])
@pytest.mark.parametrize("phase", ["Copying", "Building"])
def test_an_unfinished_copy_is_refused(make: Make, target: str, phase: str) -> None:
    """It can only be opened to continue the copy; then it is a normal journal."""
    source, destination = make("sqlite"), make(target)
    fill(source)
    with pytest.raises(KeyboardInterrupt):
        copy(source, destination, Steps(stop_after=phase))
    with pytest.raises(JournalUnavailable) as refusal:
        destination.open()
    assert refusal.value.code == "half_copied"
    assert "db copy" in refusal.value.hint
    destination.open(allow_partial_copy=True)
    again = copy(source, destination)
    assert (again.copied, again.differing) == (0, [])
    destination.open()
    source.close()
    destination.close()


def test_another_log_is_not_overwritten(make: Make) -> None:
    """A target with other events is refused and stays unchanged."""
    source, destination = make("sqlite"), make("sqlite")
    fill(source)
    store(destination, hook("SessionStart", session_id="own", cwd="/own"))
    before = destination.counts()
    with pytest.raises(BadRequest, match="contains another log"):
        copy(source, destination)
    assert destination.counts() == before
    source.close()
    destination.close()


def test_differences_are_reported(make: Make) -> None:
    """Rows of the source that do not follow from its log are missing in the copy."""
    source, destination = make("sqlite"), make("sqlite")
    fill(source)
    with source.transaction() as batch:
        batch.connection.execute(text("UPDATE turns SET text = 'other'"))
    assert copy(source, destination).differing == ["turns"]
    source.close()
    destination.close()
