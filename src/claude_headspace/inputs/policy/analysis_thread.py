"""The thread that analyses tool calls, one after another, with a time limit.

Rules
- A job that exceeds its time (a dead file system) is abandoned: its thread is replaced, so that later jobs run.
- An abandoned thread never keeps the daemon from ending. There are at most `MAX_ABANDONED` of them.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

MAX_ABANDONED = 8

_Result = TypeVar("_Result")
_Job = tuple[Callable[[], Any], Future[Any]]
"""What to run, and where its result goes."""


class AnalysisThread:
    """Runs jobs in a thread."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._abandoned: list[threading.Thread] = []
        self._thread: threading.Thread | None = None

    async def run(self, job: Callable[[], _Result], seconds: float) -> _Result:
        """Run a job and return its result. Raises `TimeoutError` if it takes too long."""
        thread = self._ensure_thread()
        result: Future[_Result] = Future()
        self._jobs.put((job, result))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(result), seconds)
        except TimeoutError:
            self._abandon(thread)
            raise

    def _ensure_thread(self) -> threading.Thread:
        self._abandoned = [thread for thread in self._abandoned if thread.is_alive()]
        if len(self._abandoned) >= MAX_ABANDONED:
            raise TimeoutError
        if self._thread is None:
            self._thread = threading.Thread(target=_work, args=(self._jobs,), name="policy", daemon=True)
            self._thread.start()
        return self._thread

    def _abandon(self, thread: threading.Thread) -> None:
        """Let a thread end after its current job. The next job gets a new one."""
        if thread is self._thread:
            self._abandoned.append(thread)
            self.close()

    def close(self) -> None:
        """Let the thread end after its current job."""
        self._jobs.put(None)
        self._jobs, self._thread = SimpleQueue(), None


def _work(jobs: "SimpleQueue[_Job | None]") -> None:
    while (next_job := jobs.get()) is not None:
        job, result = next_job
        if not result.set_running_or_notify_cancel():
            continue
        try:
            result.set_result(job())
        except Exception as error:  # noqa: BLE001  # the caller gets it
            result.set_exception(error)
