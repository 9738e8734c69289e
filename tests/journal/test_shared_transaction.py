"""Several writers on one PostgreSQL: they follow each other, and nobody believes an old memory."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from claude_headspace.engine.batch import Batch, BatchRules, Submission
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
    """Four journals on one database, as four daemons have them."""
    url = postgres.database()
    journals = [SqlJournal(url) for _ in range(4)]
    yield journals
    for journal in journals:
        journal.close()


def store(journal: SqlJournal, *envelopes: Envelope) -> list[str]:
    """Work envelopes through as one batch; how each found its agent."""
    with journal.transaction() as transaction:
        batch = Batch(transaction, BatchRules(new_id=lambda: f"agent-{next(_ids)}"))
        outcomes = batch.process([Submission(envelope, None, None) for envelope in envelopes])  # type: ignore[arg-type]
        transaction.write(batch.records)
    return [outcome.strategy.value for outcome in outcomes if isinstance(outcome, Outcome)]


def test_a_memory_counts_only_while_nobody_else_wrote(writers: list[SqlJournal]) -> None:
    """Own work is remembered; what another one changed is read again, and so is what was rebuilt."""
    one, two = writers[:2]
    assert store(one, hook("SessionStart")) == ["new"]
    assert store(one, hook("UserPromptSubmit", START + 1, prompt="Go.")) == ["memory"]
    assert store(two, hook("Stop", START + 2, last_assistant_message="Which one?")) == ["database"]
    assert store(one, hook("UserPromptSubmit", START + 3, prompt="This.")) == ["database"]
    assert store(one, hook("Stop", START + 4)) == ["memory"]
    two.rebuild()
    assert store(one, hook("Stop", START + 5)) == ["database"]
    assert list(one.verify()) == []


def test_the_roster_follows_the_state_whoever_wrote_last(writers: list[SqlJournal]) -> None:
    """A writer whose memory is old does not take what it finds for what it remembers."""
    one, two = writers[:2]
    store(one, hook("UserPromptSubmit", prompt="Go.", prompt_id="p1"))
    store(two, hook("Stop", START + 1, last_assistant_message="I am done.", prompt_id="p1"))
    store(one, hook("UserPromptSubmit", START + 2, prompt="More.", prompt_id="p2"))
    assert one.counts().by_state == two.counts().by_state == {"working": 1}
    assert list(two.verify()) == []


def test_batches_that_need_the_same_never_wait_for_each_other_for_ever(writers: list[SqlJournal]) -> None:
    """Many batches about overlapping agents, each in another order: all are stored, in one sequence without holes."""
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


def test_a_batch_that_dies_leaves_nothing_behind(writers: list[SqlJournal]) -> None:
    """Neither rows nor locks: others go on at once."""
    one, two = writers[:2]

    class Unlucky(Exception):
        pass

    def half_a_batch() -> None:
        with one.transaction() as transaction:
            batch = Batch(transaction, BatchRules(new_id=lambda: "agent-0"))
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


def test_four_daemons_that_start_at_once_make_one_schema(postgres: Postgres, tmp_path: Path) -> None:
    """Whoever is first upgrades; the others wait, and find everything done."""
    url = postgres.empty()
    command = [sys.executable, "-m", "claude_headspace", "db", "upgrade"]
    starts = [subprocess.Popen(command, env=environment(tmp_path / str(n), database=url)) for n in range(4)]
    assert [start.wait(120) for start in starts] == [0] * 4
    journal = SqlJournal(url)
    assert journal.counts().events == 0
    journal.close()
