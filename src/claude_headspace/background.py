"""A part that works in the background until it is stopped.

Whoever is one says in `_run` what it does; `running` and `failure` are what `/health` tells of it.
"""

import asyncio
from abc import ABC, abstractmethod


class Loop(ABC):
    """Something that goes on by itself. What it does must survive being cancelled at any moment."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self.failure: str | None = None
        """Why it cannot do its work at the moment."""

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        return self._task is not None and not self._task.done()

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._run(), name=type(self).__name__)

    async def stop(self) -> None:
        """End, and wait until it is over."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @abstractmethod
    async def _run(self) -> None:
        """What it does."""
