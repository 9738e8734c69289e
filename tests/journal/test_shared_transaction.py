"""Several writers on one PostgreSQL database: no deadlocks, and no stale caches."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from claude_headspace.engine.batch import Batch
from claude_headspace.engine.submission import BatchFunctions, Submission
from claude_headspace.journal.sql import SqlJournal
from claude_headspace.kernel.correlate import Identity
from claude_headspace.kernel.envelope import Envelope, Observations
from claude_headspace.ports import Outcome
from claude_headspace.testing import START, hook
from tests.postgres import Postgres
from tests.support import environment

_ids = count(1)


@pytest.fixture
def writers(postgres: Postgres) -> Iterator[list[SqlJournal]]:
    """Four journals on one database, like those of four daemons."""
    url = postgres.database()
    journals = [SqlJournal(url) for _ in range(4)]
    yield journals
    for journal in journals:
        journal.close()


def store(journal: SqlJournal, *envelopes: Envelope) -> list[str]:
    """Process envelopes as one batch; returns how each agent was found."""
    with journal.transaction() as transaction:
        batch = Batch(transaction, BatchFunctions(new_id=lambda: f"agent-{next(_ids)}"))
        outcomes = batch.process([Submission(envelope, None, None) for envelope in envelopes])  # type: ignore[arg-type]
        transaction.write(batch.records)
    return [outcome.strategy.value for outcome in outcomes if isinstance(outcome, Outcome)]


def test_the_cache_is_used_only_if_the_row_is_unchanged(writers: list[SqlJournal]) -> None:
    """Rows that another writer changed or rebuilt are read again."""
    one, two = writers[:2]
    assert store(one, hook("SessionStart")) == ["new"]
    assert store(one, hook("UserPromptSubmit", START + 1, prompt="Go.")) == ["memory"]
    assert store(two, hook("Stop", START + 2, last_assistant_message="Which one?")) == ["database"]
    assert store(one, hook("UserPromptSubmit", START + 3, prompt="This.")) == ["database"]
    assert store(one, hook("Stop", START + 4)) == ["memory"]
    two.rebuild()
    assert store(one, hook("Stop", START + 5)) == ["database"]
    assert list(one.verify()) == []


def test_the_roster_is_updated_after_another_writer(writers: list[SqlJournal]) -> None:
    """The comparison uses the stored agent, not a stale cached one."""
    one, two = writers[:2]
    store(one, hook("UserPromptSubmit", prompt="Go.", prompt_id="p1"))
    store(two, hook("Stop", START + 1, last_assistant_message="I am done.", prompt_id="p1"))
    store(one, hook("UserPromptSubmit", START + 2, prompt="More.", prompt_id="p2"))
    assert one.counts().by_state == two.counts().by_state == {"working": 1}
    assert list(two.verify()) == []


def test_overlapping_batches_do_not_deadlock(writers: list[SqlJournal]) -> None:
    """Many batches in different orders are all stored, in one sequence without gaps."""
    rounds, agents = 12, 8
    together = threading.Barrier(len(writers))

    def write(number: int) -> None:
        together.wait()
        for turn in range(rounds):
            order = [(agent * (number + 1) + turn) % agents for agent in range(agents)]
            batch = [
                hook(
                    "Notification",
                    START + turn,
                    session_id=f"s{agent}",
                    cwd=f"/p{agent % 3}",
                    message="x",
                    delivery_id=f"{number}-{turn}-{place}",
                    observations=Observations(client_pid=100 + agent, ancestor_pids=(100 + (agent + 1) % agents, 1)),
                )
                for place, agent in enumerate(order)
            ]
            store(writers[number], *batch)

    with ThreadPoolExecutor(len(writers)) as pool:
        for done in [pool.submit(write, number) for number in range(len(writers))]:
            done.result(120)
    journal = writers[0]
    counts = journal.counts()
    assert (counts.events, counts.agents) == (len(writers) * rounds * agents, agents)
    events = [stored.seq for stored in journal.events(after=0, limit=10_000)]
    announced = [message.seq for message in journal.stream(0, 10_000)]
    assert sorted(events + announced) == list(range(1, counts.last_seq + 1))
    assert list(journal.verify()) == []


def test_a_failed_batch_leaves_no_rows_and_no_locks(writers: list[SqlJournal]) -> None:
    """Other writers continue at once."""
    one, two = writers[:2]

    class Unlucky(Exception):
        pass

    def half_a_batch() -> None:
        with one.transaction() as transaction:
            batch = Batch(transaction, BatchFunctions(new_id=lambda: "agent-0"))
            batch.process([Submission(hook("SessionStart"), None, None)])  # type: ignore[arg-type]
            transaction.write(batch.records)
            raise Unlucky

    with pytest.raises(Unlucky):
        half_a_batch()
    assert store(two, hook("SessionStart")) == ["new"]
    with two.transaction() as transaction:
        assert set(transaction.agents_by_identity([Identity("session", "session-1")])) == {
            Identity("session", "session-1")
        }


def test_concurrent_starts_create_one_schema(postgres: Postgres, tmp_path: Path) -> None:
    """The first daemon migrates; the others wait."""
    url = postgres.empty()
    command = [sys.executable, "-m", "claude_headspace", "db", "upgrade"]
    starts = [subprocess.Popen(command, env=environment(tmp_path / str(n), database=url)) for n in range(4)]
    assert [start.wait(120) for start in starts] == [0] * 4
    journal = SqlJournal(url)
    assert journal.counts().events == 0
    journal.close()
