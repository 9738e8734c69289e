"""A component that runs in the background until it is stopped.

A subclass implements `_run`. `/health` reports `running` and `failure`.
"""

import asyncio
from abc import ABC, abstractmethod


class Loop(ABC):
    """A background task. `_run` can be cancelled at any time."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self.failure: str | None = None
        """Why it cannot work at present."""

    @property
    def running(self) -> bool:
        """Whether the task runs."""
        return self._task is not None and not self._task.done()

    def start(self) -> None:
        """Start the task."""
        self._task = asyncio.create_task(self._run(), name=type(self).__name__)

    async def stop(self) -> None:
        """Cancel the task, and wait for its end."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @abstractmethod
    async def _run(self) -> None:
        """The work."""
