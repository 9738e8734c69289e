"""What others announced reaches the readers here, in its order, told or not."""

import asyncio
from collections.abc import Callable, Sequence

from claude_headspace.engine.batch import Batch, BatchRules, Submission
from claude_headspace.errors import JournalUnavailable
from claude_headspace.ports import StreamMessage
from claude_headspace.surfaces.live.follower import PAGE_SIZE, StreamFollower
from claude_headspace.surfaces.live.stream import EventStream
from claude_headspace.testing import START, hook
from tests.journals import TemporaryJournal


class Flaky(TemporaryJournal):
    """A journal that cannot be read now and then."""

    away = False

    def stream(self, after: int, limit: int) -> list[StreamMessage]:
        """Announcements, if it can be read."""
        if self.away:
            raise JournalUnavailable("journal_unavailable", "The database is away.", "Wait.")
        return super().stream(after, limit)


def announce(journal: TemporaryJournal, agents: int) -> None:
    """Another daemon stores something."""
    with journal.transaction() as transaction:
        begun = journal.counts().agents
        batch = Batch(transaction, BatchRules(new_id=iter(f"agent-{begun + n}" for n in range(agents)).__next__))
        starts = [hook("SessionStart", START, session_id=f"s{begun + n}", cwd=f"/{begun + n}") for n in range(agents)]
        batch.process([Submission(start, None, None) for start in starts])  # type: ignore[arg-type]
        transaction.write(batch.records)


async def eventually(condition: Callable[[], bool]) -> None:
    """Wait until it holds."""
    async with asyncio.timeout(60):
        while True:
            if condition():
                return
            await asyncio.sleep(0.005)


def test_everything_is_brought_in_order() -> None:
    """However much has gathered, and also after a time in which nothing could be read."""

    async def story() -> None:
        journal, told = Flaky(), list[int]()
        broadcaster = EventStream(journal, lambda: 60, 0, is_shared=True)

        def publish(messages: Sequence[StreamMessage]) -> None:
            broadcaster.publish(messages)
            told.extend(message.seq for message in messages)

        follower = StreamFollower(journal, broadcaster, publish)

        follower.start()
        announce(journal, PAGE_SIZE + 10)
        follower.read_soon()
        await eventually(lambda: len(told) == PAGE_SIZE + 10)
        journal.away = True
        announce(journal, 3)
        follower.read_soon()
        await eventually(lambda: follower.failure is not None)
        journal.away = False
        await eventually(lambda: len(told) == PAGE_SIZE + 13)  # nobody rings: it looks for itself
        await eventually(lambda: follower.failure is None)
        announce(journal, 1)
        await follower.stop()
        assert told == [message.seq for message in TemporaryJournal.stream(journal, 0, 10_000)]

    asyncio.run(story())


def test_a_reader_from_now_on_hears_nothing_that_was_committed_before() -> None:
    """Where others write the journal is ahead of what is known here: it says where now is."""

    async def story() -> None:
        journal = TemporaryJournal()
        broadcaster = EventStream(journal, lambda: 60, 0, is_shared=True)
        announce(journal, 5)
        assert await broadcaster.newest_in_journal() == journal.counts().last_seq
        assert broadcaster.newest == 0

    asyncio.run(story())
