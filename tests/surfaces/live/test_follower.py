"""The follower of a shared journal: messages of other daemons reach the readers, in order."""

import asyncio
from collections.abc import Callable, Sequence

from claude_headspace.engine.batch import Batch
from claude_headspace.engine.submission import BatchFunctions, Submission
from claude_headspace.errors import JournalUnavailable
from claude_headspace.ports import StreamMessage
from claude_headspace.surfaces.live.follower import PAGE_SIZE, StreamFollower
from claude_headspace.surfaces.live.stream import EventStream
from claude_headspace.testing import START, hook
from tests.journals import TemporaryJournal


class Flaky(TemporaryJournal):
    """A journal that sometimes cannot be read."""

    away = False

    def stream(self, after: int, limit: int) -> list[StreamMessage]:
        """The messages, if the journal can be read."""
        if self.away:
            raise JournalUnavailable("journal_unavailable", "The database is away.", "Wait.")
        return super().stream(after, limit)


def commit(journal: TemporaryJournal, agents: int) -> None:
    """Another daemon stores events."""
    with journal.transaction() as transaction:
        begun = journal.counts().agents
        batch = Batch(transaction, BatchFunctions(new_id=iter(f"agent-{begun + n}" for n in range(agents)).__next__))
        starts = [hook("SessionStart", START, session_id=f"s{begun + n}", cwd=f"/{begun + n}") for n in range(agents)]
        batch.process([Submission(start, None, None) for start in starts])  # type: ignore[arg-type]
        transaction.write(batch.records)


async def eventually(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true."""
    async with asyncio.timeout(60):
        while True:
            if condition():
                return
            await asyncio.sleep(0.005)


def test_messages_are_published_in_order() -> None:
    """Any number of them, and also after a time in which the journal could not be read."""

    async def story() -> None:
        journal, published = Flaky(), list[int]()
        broadcaster = EventStream(journal, lambda: 60, 0, is_shared=True)

        def publish(messages: Sequence[StreamMessage]) -> None:
            broadcaster.publish(messages)
            published.extend(message.seq for message in messages)

        follower = StreamFollower(journal, broadcaster, publish)

        follower.start()
        commit(journal, PAGE_SIZE + 10)
        follower.read_soon()
        await eventually(lambda: len(published) == PAGE_SIZE + 10)
        journal.away = True
        commit(journal, 3)
        follower.read_soon()
        await eventually(lambda: follower.failure is not None)
        journal.away = False
        await eventually(lambda: len(published) == PAGE_SIZE + 13)  # without an announcement it polls
        await eventually(lambda: follower.failure is None)
        commit(journal, 1)
        await follower.stop()
        assert published == [message.seq for message in TemporaryJournal.stream(journal, 0, 10_000)]

    asyncio.run(story())


def test_a_new_reader_starts_at_the_newest_message_of_the_journal() -> None:
    """Other daemons may have committed messages that are not published here yet."""

    async def story() -> None:
        journal = TemporaryJournal()
        broadcaster = EventStream(journal, lambda: 60, 0, is_shared=True)
        commit(journal, 5)
        assert await broadcaster.newest_in_journal() == journal.counts().last_seq
        assert broadcaster.newest == 0

    asyncio.run(story())
