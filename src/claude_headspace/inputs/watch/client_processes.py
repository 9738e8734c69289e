"""The client processes of this host: their ancestors, and which of them run.

A process that belongs to a running client is not a person.

Rules
- A running client is never forgotten. Its agent may end, get another process or be removed from the registry: the
  process counts until it exits.
- The processes of the session registry count as well, whatever hooks say.
- A process that the programs of a user run in is not a client, whatever reports it: the first process, a shell, a
  terminal (`never_clients.py`). Otherwise one report would lock the user out. This is checked at every lookup, so
  reports that are already stored do no harm either.
- The start time and the ancestors of a client are cached for a while.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import psutil

from claude_headspace.clients.processes import environment_of
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.never_clients import can_be_client
from claude_headspace.inputs.watch.processes import is_running
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Micros, Observations

FindAncestry = Callable[[int], Awaitable[Observations]]
"""Finds the start time and the ancestors of a process."""

MAX_ANCESTORS = 32
CACHE_SECONDS = 30.0
MAX_CACHED = 2_000
TIMEOUT_SECONDS = 0.2

TMUX_PANE = re.compile(r"%[0-9]{1,9}")
"""The id of a pane."""

MAX_KNOWN = 1_000
"""Above this number, the processes that have exited are removed."""


def find_ancestry(pid: int) -> Observations:
    """The start time of a client's process, and its ancestors, nearest first."""
    try:
        process = psutil.Process(pid)
        started_at = round(process.create_time() * SECOND)
        ancestors = tuple(parent.pid for parent in process.parents()[:MAX_ANCESTORS])
    except (psutil.Error, OverflowError, ValueError):
        return Observations(client_pid=pid)
    return Observations(client_pid=pid, client_started_at=started_at, ancestor_pids=ancestors)


def find_tmux_pane(pid: int) -> str | None:
    """The tmux pane in which a process was started; None if there is none, or its environment cannot be read."""
    try:
        env = environment_of(pid)
    except (psutil.Error, OSError, OverflowError, ValueError):
        return None
    pane = env.get("TMUX_PANE", "")
    return pane if env.get("TMUX") and TMUX_PANE.fullmatch(pane) else None


class ProcessAncestry:
    """Looks up the ancestry of clients in a thread, with a cache and a time limit."""

    def __init__(self) -> None:
        self._cache: dict[int, tuple[float, Observations]] = {}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ancestry")

    async def __call__(self, pid: int, max_seconds: float = TIMEOUT_SECONDS) -> Observations:
        """The ancestry of a client; only its pid if the lookup takes too long."""
        now = time.monotonic()
        cached = self._cache.get(pid)
        if cached is not None and cached[0] > now:
            return cached[1]
        lookup = asyncio.get_running_loop().run_in_executor(self._thread, find_ancestry, pid)
        try:
            found = await asyncio.wait_for(lookup, max_seconds)
        except TimeoutError:
            return Observations(client_pid=pid)
        if len(self._cache) >= MAX_CACHED:
            self._cache.clear()
        self._cache[pid] = (now + CACHE_SECONDS, found)
        return found

    def close(self) -> None:
        """Stop the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)


class ClientProcesses:
    """The client processes that run: of agents, of the registry, and earlier ones that have not exited."""

    def __init__(self, host: str, agents: AgentCache) -> None:
        self._host = host
        self._agents = agents
        self._known: dict[int, Micros | None] = {}

    def update(self, agent: Agent) -> None:
        """Remember the client process of an agent."""
        if agent.pid is not None and agent.host == self._host:
            self._known[agent.pid] = agent.pid_started_at

    def remembering(self, find_ancestry: FindAncestry) -> FindAncestry:
        """A lookup that also remembers the client. A hook can name a client and end its agent in one batch."""

        async def find(pid: int) -> Observations:
            found = await find_ancestry(pid)
            if len(self._known) >= MAX_KNOWN:
                self._forget_exited()
            self._known[pid] = found.client_started_at
            return found

        return find

    def is_client_running(self, agent: Agent) -> bool:
        """Whether the client process of an agent runs on this host."""
        if agent.pid is None or agent.host != self._host or not is_running(agent.pid, agent.pid_started_at):
            return False
        return can_be_client(agent.pid)

    def running(self, registry: Iterable[Observations] = ()) -> set[int]:
        """The pids of all clients that run, with those of the session registry. Exited ones are forgotten."""
        for agent in self._agents.with_client():
            self.update(agent)
        for process in registry:
            self._known[process.client_pid or 0] = process.client_started_at
        self._forget_exited()
        return {pid for pid in self._known if can_be_client(pid)}

    def _forget_exited(self) -> None:
        self._known = {pid: started_at for pid, started_at in self._known.items() if is_running(pid, started_at)}
