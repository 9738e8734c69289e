"""The process table: a client that was killed fires no hook, but its process is gone.

A number alone is no process: it is given to another one some day. So a client is known by its number and its start, and
one that has the number but began at another time is somebody else.

Rules
- Every second each known client is asked for by its number, which costs some microseconds; its start is compared only
  when the reconciler looks.
- A client that ends by itself fires SessionEnd, up to 1.1 s after its process is gone: that hook knows more, so it is
  waited for. A client that was killed had no time to remove its registry entry: then nothing is waited for.
- A wrapper that started a client (`headspace run`) is asked for in the same way: when it was killed, nobody tells that
  its client will never report, or will not be started anew.
- What the process table tells of a hook's client (start, ancestors) is looked up once and remembered for a while.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import psutil
import structlog

from claude_headspace.background import Loop
from claude_headspace.inputs.receive.receiver import new_id
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import is_same_start
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros, Observations, Origin
from claude_headspace.ports import Clock, Reader

log = structlog.get_logger(__name__)

Submit = Callable[[Envelope, str], Awaitable[object]]

INTERVAL_SECONDS = 1.0
SESSION_END_DELAY: Micros = 3 * SECOND // 2
FULL_CHECK_INTERVAL: Micros = 59 * SECOND
MAX_ANCESTORS = 32
CACHE_SECONDS = 30.0
MAX_CACHED = 2_000
TIMEOUT_SECONDS = 0.2


def is_alive(pid: int) -> bool:
    """Whether a process of that number runs. One that ended and was not fetched by its parent yet does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """Whether only the entry of a process is left, where the system shows that in a file. tmux leaves some for long."""
    try:
        handle = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)  # a third of what a file object costs
    except OSError:
        return False
    try:
        return os.read(handle, 512).rpartition(b") ")[2][:1] in (b"Z", b"X")
    except OSError:
        return False
    finally:
        os.close(handle)


def is_running(pid: int, started_at: Micros | None) -> bool:
    """Whether that very process runs; its remains do not count. What cannot be found out counts as running."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return is_same_start(round(process.create_time() * SECOND), started_at)
    except (psutil.Error, OverflowError, ValueError):
        return is_alive(pid)


# --- whose child a client is ------------------------------------------------------------------------------------------


def find_ancestry(pid: int) -> Observations:
    """When a client's process began, and what it descends from, nearest first."""
    try:
        process = psutil.Process(pid)
        began = round(process.create_time() * SECOND)
        above = tuple(parent.pid for parent in process.parents()[:MAX_ANCESTORS])
    except (psutil.Error, OverflowError, ValueError):
        return Observations(client_pid=pid)
    return Observations(client_pid=pid, client_started_at=began, ancestor_pids=above)


class ProcessAncestry:
    """Looks clients up, and remembers for a while. Never more than a moment's wait."""

    def __init__(self) -> None:
        self._cache: dict[int, tuple[float, Observations]] = {}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kinship")

    async def __call__(self, pid: int, max_seconds: float = TIMEOUT_SECONDS) -> Observations:
        """What the process table tells of a client."""
        now = time.monotonic()
        known = self._cache.get(pid)
        if known is not None and known[0] > now:
            return known[1]
        looking = asyncio.get_running_loop().run_in_executor(self._thread, find_ancestry, pid)
        try:
            found = await asyncio.wait_for(looking, max_seconds)
        except TimeoutError:
            return Observations(client_pid=pid)
        if len(self._cache) >= MAX_CACHED:
            self._cache.clear()
        self._cache[pid] = (now + CACHE_SECONDS, found)
        return found

    def close(self) -> None:
        """Stop looking."""
        self._thread.shutdown(wait=False, cancel_futures=True)


# --- who is gone ------------------------------------------------------------------------------------------------------


class ProcessWatch(Loop):
    """Tells of the agents of this host whose client is gone."""

    def __init__(
        self,
        host: str,
        clock: Clock,
        reader: Reader,
        submit: Submit,
        agents: AgentCache | None = None,
        was_killed: Callable[[int], bool] = lambda _pid: False,
    ) -> None:
        super().__init__()
        self._host = host
        self._clock = clock
        self._reader = reader
        self._submit = submit
        self._agents = agents or AgentCache(host)
        self._was_killed = was_killed
        self._missing: dict[str, tuple[int, Micros]] = {}
        self._checked_at: Micros | None = None

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(INTERVAL_SECONDS)
            try:
                for agent in [agent for agent in self._agents.with_client() if not is_alive(agent.pid or 0)]:
                    await self._handle_missing(agent)
                for agent in [agent for agent in self._agents.with_wrapper() if not is_alive(agent.wrapper_pid or 0)]:
                    await self._submit(self._vanished(agent, "WrapperVanished", agent.wrapper_pid), agent.id)
                self.failure = None
            except Exception as error:  # whatever the journal raises, the next round asks again
                self.failure = str(error)
                log.exception("process_watch_failed")

    async def __call__(self) -> None:
        """Look at every client that is believed to live, and compare its start; not more often than once a minute."""
        now = self._clock()
        if self._checked_at is not None and 0 <= now - self._checked_at < FULL_CHECK_INTERVAL:
            return
        self._checked_at = now
        ours = await asyncio.to_thread(self._own_agents)
        for agent in await asyncio.to_thread(_without_client, ours):
            await self._handle_missing(agent)
        for agent in await asyncio.to_thread(_without_wrapper, ours):
            await self._submit(self._vanished(agent, "WrapperVanished", agent.wrapper_pid), agent.id)

    def _own_agents(self) -> list[Agent]:
        ours = [agent for agent in self._reader.agents() if agent.host == self._host]
        for agent in ours:
            self._agents.add_if_missing(agent)
        return ours

    async def _handle_missing(self, agent: Agent) -> None:
        """A client is not there: tell it, once its own last words had time to arrive."""
        pid, now = agent.pid or 0, self._clock()
        missed, since = self._missing.get(agent.id, (pid, now))
        if missed != pid:
            since = now
        self._missing[agent.id] = (pid, since)
        if now - since >= SESSION_END_DELAY or self._was_killed(pid):
            await self._submit(self._vanished(agent, "ClientVanished", agent.pid, since), agent.id)
            del self._missing[agent.id]

    def _vanished(self, agent: Agent, name: str, pid: int | None, at: Micros | None = None) -> Envelope:
        now = self._clock()
        return Envelope(
            id=new_id(),
            name=name,
            origin=Origin.PROCESS,
            client=agent.client,
            host=self._host,
            fired_at=at or now,
            received_at=now,
            payload=b"{}",
            observations=Observations(client_pid=pid),
        )


def _without_client(agents: Iterable[Agent]) -> list[Agent]:
    return [each for each in agents if each.pid is not None and not is_running(each.pid, each.pid_started_at)]


def _without_wrapper(agents: Iterable[Agent]) -> list[Agent]:
    there = [each for each in agents if each.wrapper_pid is not None and each.ended_at is None]
    return [each for each in there if not is_running(each.wrapper_pid or 0, each.wrapper_started_at)]
