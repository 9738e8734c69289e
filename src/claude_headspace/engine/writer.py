"""The writer: the only component that adds events to the log while the daemon runs.

`submit` queues an envelope, `record` an act, `transact` other work that writes events (the import of a log). One task
processes the queue: everything that has arrived since the last commit becomes one batch (`batch.py`) and one
transaction. Under load the batches grow, and many events share the cost of a durable commit.

Who may write
- Events and everything derived from them: only this class.
- Read positions, tokens, pruning and rebuilding: the journal itself, under the lock that its transactions share.
  They add no events.

Rules
- A caller gets its outcome, and subscribers their changes, only after the commit.
- A failed commit changes nothing, in the database or in memory. What is queued behind it fails with it, so that a
  sender that retries keeps the order.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

import msgspec
import structlog

from claude_headspace.engine.batch import Batch
from claude_headspace.engine.changes import ChangePublisher
from claude_headspace.engine.outages import Outages
from claude_headspace.engine.submission import DEFAULT_FUNCTIONS, BatchFunctions, Result, Submission, unavailable
from claude_headspace.errors import STOPPING, HeadspaceError, JournalUnavailable
from claude_headspace.kernel.act_events import wrap_act
from claude_headspace.kernel.acts import DELIVERED, Act
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort.acts import Act as EffortAct
from claude_headspace.kernel.effort.model import Effort
from claude_headspace.kernel.envelope import NO_OBSERVATIONS, Envelope, Observations
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.text import count
from claude_headspace.ports import Clock, Outcome, StreamMessage, Transaction, Writer

log = structlog.get_logger(__name__)

MAX_BATCH = 128
RETRY_SECONDS = 1.0

Value = TypeVar("Value")


class Job(msgspec.Struct):
    """Work that writes events, in a transaction of its own."""

    work: Callable[[Transaction], Any]
    future: "asyncio.Future[Any]"


class Committed(NamedTuple):
    """A batch after its commit: the result of each submission, and the changes to publish."""

    results: Sequence[Result]
    agents: Iterable[Agent] = ()
    efforts: Iterable[Effort] = ()
    messages: Sequence[StreamMessage] = ()


class EventWriter:
    """The single writer of a daemon."""

    def __init__(
        self,
        journal: Writer,
        changes: ChangePublisher,
        host: str,
        clock: Clock,
        *,
        functions: BatchFunctions = DEFAULT_FUNCTIONS,
        outages: Outages | None = None,
        observe_commit: Callable[[float, int], None] = lambda _seconds, _size: None,
        check_may_write: Callable[[], None] | None = None,
    ) -> None:
        self._journal = journal
        self._changes = changes
        self._host = host
        self._clock = clock
        self._functions = functions
        self._outages = outages or Outages(clock)
        self._observe_commit = observe_commit
        self._check_may_write = check_may_write
        """Raises if this daemon must not write now."""
        self._paused: JournalUnavailable | None = None
        self._queue: asyncio.Queue[Submission | Job | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self.failure: str | None = None
        """Why the last batch failed, until one succeeds."""

    @property
    def running(self) -> bool:
        """Whether the queue is being processed."""
        return self._task is not None and not self._task.done()

    @property
    def queued(self) -> int:
        """The length of the queue."""
        return self._queue.qsize()

    def health(self) -> tuple[bool, str | None, str]:
        """Whether it runs, why the last batch failed, and the length of the queue."""
        return self.running, self.failure, f"{count(self.queued, 'event')} waiting"

    def start(self) -> None:
        """Start processing."""
        self._task = asyncio.create_task(self._run(), name="engine")

    async def stop(self) -> None:
        """Process what is queued, then stop."""
        self._check_may_write = _refuse_while_stopping
        await self._queue.put(None)
        if self._task is not None:
            await self._task

    def pause(self, reason: JournalUnavailable) -> None:
        """Refuse everything with this error, because the journal is not open. Nothing is written to it."""
        self._paused = reason

    def resume(self) -> None:
        """The journal is open."""
        self._paused = None

    # --- queueing ---

    def _refuse_if_closed(self) -> None:
        if self._paused is not None:
            raise self._paused
        if self._check_may_write is not None:
            self._check_may_write()

    async def submit(
        self,
        envelope: Envelope,
        agent_id: str | None = None,
        *,
        event: Event | None = None,
        announce: bool = True,
        expects_reply: bool = False,
        trusted: bool = True,
        reply_reaches_client: bool = False,
    ) -> Outcome:
        """Store an envelope. `agent_id`: its agent, if the sender knows it. See `Submission` for the others."""
        self._refuse_if_closed()
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        submission = Submission(
            envelope, agent_id, future, event, announce, expects_reply, trusted, reply_reaches_client
        )
        self._queue.put_nowait(submission)
        return await future

    async def record(
        self,
        act: Act | EffortAct,
        agent_id: str | None = None,
        *,
        delivery_id: str | None = None,
        observations: Observations = NO_OBSERVATIONS,
        client: str = "headspace",
    ) -> Outcome:
        """Store an act, without secrets. The same `delivery_id` is stored once: a repetition is a `duplicate`."""
        envelope = wrap_act(
            act,
            self._functions.new_id(),
            self._host,
            self._clock(),
            observations=observations,
            delivery_id=delivery_id,
            client=client,
        )
        if not isinstance(act, DELIVERED):
            envelope = msgspec.structs.replace(envelope, payload=self._functions.redact(envelope.payload))
        return await self.submit(envelope, agent_id)

    async def transact(self, work: Callable[[Transaction], Value]) -> Value:
        """Run work in a transaction of its own, in a thread."""
        self._refuse_if_closed()
        future: asyncio.Future[Value] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait(Job(work, future))
        return await future

    # --- processing ---

    async def _run(self) -> None:
        stopping = False
        while not stopping:
            queued = [await (self._queue.get() if self.failure is None else self._next_after_failure())]
            with contextlib.suppress(asyncio.QueueEmpty):
                while len(queued) < MAX_BATCH:
                    queued.append(self._queue.get_nowait())
            stopping = None in queued
            for kind, some in groupby(queued, type):
                if kind is Submission:
                    await self._write_batch(list(some))  # type: ignore[arg-type]  # of that type
                elif kind is Job:
                    await self._do_jobs(some)  # type: ignore[arg-type]  # of that type

    async def _next_after_failure(self) -> Submission | Job | None:
        """The next in the queue. While nothing arrives, try whether the journal is writable again."""
        while self.failure is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(RETRY_SECONDS):
                    return await self._queue.get()
            with contextlib.suppress(Exception):
                await self._journal.transact(lambda transaction: transaction.write([]))
                self._end_failure()
        return await self._queue.get()

    async def _write_batch(self, submissions: list[Submission]) -> None:
        started = time.perf_counter()
        try:
            committed = await self._journal.transact(partial(self._process, submissions))
            if self.failure is not None or self._outages.current is not None:
                self._end_failure()
        except Exception as error:  # whatever the journal raises, the loop continues and every caller gets the error
            log.exception("batch_failed", size=len(submissions))
            self.failure = str(error)
            self._outages.begin(self.failure)
            committed = Committed([unavailable(error)] * len(submissions))
            self._fail_queued(unavailable(error))
        self._observe_commit(time.perf_counter() - started, len(submissions))
        self._changes.publish(committed.agents, committed.efforts)
        for submission, result in zip(submissions, committed.results, strict=True):
            _settle(submission.future, result)
        if not self._journal.is_shared:
            self._changes.publish_messages(committed.messages)

    def _process(self, submissions: list[Submission], transaction: Transaction) -> "Committed":
        batch = Batch(transaction, self._functions)
        results = batch.process(submissions)
        messages = transaction.write(batch.records) if batch.records else ()
        efforts = [change.effort for record in batch.records for change in record.efforts]
        return Committed(results, batch.changed.values(), efforts, messages)

    async def _do_jobs(self, jobs: Iterable[Job]) -> None:
        for job in jobs:
            try:
                _settle(job.future, await asyncio.to_thread(self._do, job.work))
            except Exception as error:  # noqa: BLE001  # the caller gets it
                _settle(job.future, error)

    def _do(self, work: Callable[[Transaction], Value]) -> Value:
        with self._journal.transaction() as transaction:
            return work(transaction)

    def _fail_queued(self, error: HeadspaceError) -> None:
        """Fail everything that is queued; a request to stop stays."""
        stopping = False
        with contextlib.suppress(asyncio.QueueEmpty):
            while True:
                if (each := self._queue.get_nowait()) is None:
                    stopping = True
                else:
                    _settle(each.future, error)
        if stopping:
            self._queue.put_nowait(None)

    def _end_failure(self) -> None:
        self.failure = None
        self._outages.end()


def _refuse_while_stopping() -> None:
    raise JournalUnavailable(STOPPING, "The daemon is stopping.", "Send it again in a moment.")


def _settle(future: "asyncio.Future[Any]", result: object) -> None:
    if future.done():
        return
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(result)
