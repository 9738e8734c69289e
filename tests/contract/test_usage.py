"""Every database: usage is stored, rebuilt from the log, and kept when old events are removed."""

from sqlalchemy import text

from claude_headspace.journal.sql import SqlJournal
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.kernel.usage import Tokens
from claude_headspace.testing import START, hook
from tests.journals import store
from tests.usage_events import totals

DAY = 86_400 * SECOND


def fill(journal: SqlJournal) -> None:
    """One agent that worked on two days."""
    store(journal, hook("SessionStart", START, session_id="shop", cwd="/shop", source="startup"))
    store(journal, totals(START + SECOND, "shop", 1.0, opus=(100, 1.0)))
    store(journal, totals(START + 10 * DAY, "shop", 1.5, opus=(150, 1.5)))


def costs(journal: SqlJournal) -> list[tuple[str, float]]:
    """The model and the cost of each row."""
    return [(bucket.model, bucket.cost_usd) for bucket in journal.usage_between(None, None)]


def test_usage_in_a_time_range(any_journal: SqlJournal) -> None:
    """From a time on, up to a time, and of one agent."""
    fill(any_journal)
    [first, second] = any_journal.usage_between(None, None)
    assert (first.tokens, second.tokens) == (Tokens(100), Tokens(50))
    assert any_journal.usage_between(START + DAY, None) == [second]
    assert any_journal.usage_between(None, START + DAY, first.agent_id) == [first]
    assert any_journal.usage_between(None, None, "nobody") == []
    assert list(any_journal.verify()) == []


def test_a_journal_of_an_older_version_gets_its_usage(any_journal: SqlJournal) -> None:
    """It follows from the log, which has all reports."""
    fill(any_journal)
    with any_journal.transaction() as batch:
        batch.connection.execute(text("DELETE FROM usage"))
        batch.connection.execute(text("UPDATE agents SET kernel_version = 6"))
    any_journal.open()
    assert costs(any_journal) == [("opus", 1.0), ("opus", 0.5)]
    assert list(any_journal.verify()) == []


def test_usage_is_kept_when_events_are_removed(any_journal: SqlJournal) -> None:
    """Also after a rebuild. An agent that is removed completely takes its usage along."""
    fill(any_journal)
    any_journal.prune(START + 5 * DAY)
    assert costs(any_journal) == [("opus", 1.0), ("opus", 0.5)]
    assert list(any_journal.verify()) == []
    any_journal.rebuild()
    assert costs(any_journal) == [("opus", 1.0), ("opus", 0.5)]
    store(any_journal, hook("SessionEnd", START + 11 * DAY, session_id="shop", cwd="/shop", reason="other"))
    any_journal.prune(START + 20 * DAY)
    assert costs(any_journal) == []
