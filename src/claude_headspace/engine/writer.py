"""The loop: decode → correlate → decide → evolve → commit → reply → react.

Everybody who has something to tell hands an envelope to `submit` and waits for its outcome. One writer takes what has
gathered, works it through in one transaction (`batch`), commits once, and then answers everybody in the batch: under
load the batches grow and the cost of a durable commit is shared.

Rules
- Nobody is answered before the commit, and what is announced was committed.
- A failed commit leaves no trace, in the database or in memory; what waits behind it fails too.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence

import structlog

from claude_headspace.engine.batch import Answer, Attend, Batch, Outcome, Submission, say_nothing, unavailable
from claude_headspace.engine.outages import Troubles
from claude_headspace.errors import STOPPING, HeadspaceError, JournalUnavailable
from claude_headspace.kernel.decide import Judge, abstain
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.ports import (
    StreamMessage,
    Transaction,
    Writer,
)

log = structlog.get_logger(__name__)

LARGEST_BATCH = 128
TRY_SECONDS = 1.0


class Engine:
    """The single writer of a daemon."""

    def __init__(
        self,
        journal: Writer,
        publish: Callable[[Sequence[StreamMessage]], None],
        new_id: Callable[[], str],
        observe_commit: Callable[[float, int], None] = lambda _seconds, _size: None,
        troubles: Troubles | None = None,
        judge: Judge = abstain,
        attend: Attend = say_nothing,
        require: Callable[[], None] = lambda: None,
    ) -> None:
        self._journal = journal
        self._publish = publish
        self._new_id = new_id
        self._observe_commit = observe_commit
        self._troubles = troubles
        self._judge = judge
        self._attend = attend
        self._require = require
        """Raises while nothing may be written."""
        self._waiting: asyncio.Queue[Submission | None] = asyncio.Queue()
        self._loop: asyncio.Task[None] | None = None
        self._closed = False
        self.last_failure: str | None = None

    @property
    def running(self) -> bool:
        """Whether envelopes are being worked on."""
        return self._loop is not None and not self._loop.done()

    @property
    def backlog(self) -> int:
        """How many envelopes wait for the writer."""
        return self._waiting.qsize()

    def start(self) -> None:
        """Begin to work."""
        self._loop = asyncio.create_task(self._run(), name="engine")

    async def stop(self) -> None:
        """Finish what was handed in, then rest."""
        self._closed = True
        await self._waiting.put(None)
        if self._loop is not None:
            await self._loop

    async def submit(
        self,
        envelope: Envelope,
        agent_id: str | None = None,
        *,
        announce: bool = True,
        asked: bool = False,
        trusted: bool = True,
        speaks: bool = False,
    ) -> Outcome:
        """Hand in an envelope and wait until it is stored. `agent_id` is for senders who know whose it is."""
        if self._closed:
            raise JournalUnavailable(STOPPING, "The daemon is stopping.", "Send it again in a moment.")
        self._require()
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.put_nowait(Submission(envelope, agent_id, future, announce, asked, trusted, speaks))
        return await future

    async def _run(self) -> None:
        ending = False
        while not ending:
            batch = [await self._next()]
            with contextlib.suppress(asyncio.QueueEmpty):
                while len(batch) < LARGEST_BATCH:
                    batch.append(self._waiting.get_nowait())
            ending = None in batch
            submissions = [submission for submission in batch if submission is not None]
            if submissions:
                await self._work_through(submissions)

    async def _next(self) -> Submission | None:
        """What comes next. After a failure, when nothing comes, see whether the journal can be written again."""
        while self.last_failure is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TRY_SECONDS):
                    return await self._waiting.get()
            with contextlib.suppress(Exception):
                await self._journal.transact(lambda transaction: transaction.write([]))
                self._note(None)
        return await self._waiting.get()

    async def _work_through(self, submissions: list[Submission]) -> None:
        started = time.perf_counter()
        try:
            results, messages = await self._journal.transact(lambda batch: self._process(batch, submissions))
        except Exception as error:  # whatever the journal raises, the loop goes on and everybody is told
            log.exception("batch_failed", size=len(submissions))
            submissions += self._those_behind()
            results, messages = [unavailable(error)] * len(submissions), []
            self._note(str(error))
        else:
            self._note(None)
        self._observe_commit(time.perf_counter() - started, len(submissions))
        for submission, result in zip(submissions, results, strict=True):
            _settle(submission.future, result)
        if messages:
            self._announce(messages)

    def _those_behind(self) -> list[Submission]:
        """What waits behind a batch that failed fails with it, so that whoever sends again can keep the order."""
        behind: list[Submission | None] = []
        with contextlib.suppress(asyncio.QueueEmpty):
            while True:
                behind.append(self._waiting.get_nowait())
        if None in behind:
            self._waiting.put_nowait(None)
        return [submission for submission in behind if submission is not None]

    def _note(self, failure: str | None) -> None:
        self.last_failure = failure
        if self._troubles is not None:
            self._troubles.end() if failure is None else self._troubles.begin(failure)

    def _announce(self, messages: Sequence[StreamMessage]) -> None:
        """They are stored: a reader that cannot be told now reads them from the journal."""
        try:
            self._publish(messages)
        except Exception:
            log.exception("announcement_failed")

    def _process(
        self, transaction: Transaction, submissions: list[Submission]
    ) -> tuple[list[Answer], list[StreamMessage]]:
        batch = Batch(transaction, self._judge, self._new_id, self._attend)
        results = batch.work(submissions)
        return results, transaction.write(batch.records) if batch.records else []


def _settle(future: "asyncio.Future[Outcome]", result: Answer) -> None:
    if future.done():
        return
    if isinstance(result, HeadspaceError):
        future.set_exception(result)
    else:
        future.set_result(result)
