"""The process table: a client that was killed fires no hook, but its process is gone."""

import asyncio
import os
from collections.abc import Awaitable, Callable

from claude_headspace.inputs.receiver import new_id
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Context, Envelope, Origin
from claude_headspace.ports import Clock, Reader

Submit = Callable[[Envelope, str], Awaitable[object]]


class ProcessWatch:
    """Tells of the agents of this host whose client is gone."""

    def __init__(self, host: str, clock: Clock, reader: Reader, submit: Submit) -> None:
        self._host = host
        self._clock = clock
        self._reader = reader
        self._submit = submit

    async def __call__(self) -> None:
        """Look once at every client that is believed to live."""
        for agent in await asyncio.to_thread(self._reader.agents):
            if agent.host == self._host and agent.pid is not None and not is_alive(agent.pid):
                await self._submit(self._vanished(agent), agent.id)

    def _vanished(self, agent: Agent) -> Envelope:
        now = self._clock()
        return Envelope(
            id=new_id(),
            name="ClientVanished",
            origin=Origin.PROCESS,
            client=agent.client,
            host=self._host,
            fired_at=now,
            received_at=now,
            payload=b"{}",
            context=Context(client_pid=agent.pid),
        )


def is_alive(pid: int) -> bool:
    """Whether a process of that number exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
