"""Detects client processes that have exited.

A client that was killed fires no hook. A process is identified by pid and start time, because pids are reused.

Rules
- Every second each known client is checked by its pid, which takes some microseconds. The start time is compared only
  in a full check, at most once a minute.
- A client that exits normally fires its last hook up to 1.1 s after its process ended. That hook has the exit reason,
  so it is waited for, unless its session has ended. A killed client leaves its registry entry behind and is reported
  immediately.
- Some clients go on without their terminal (`Client.outlives_terminal`). Nobody can use them: they count as exited.
- Wrappers (`headspace run`) are checked in the same way. A killed wrapper cannot report that its client never started
  or will not be restarted.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

import msgspec
import psutil
import structlog

from claude_headspace.background import Loop
from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import is_same_start
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros
from claude_headspace.ports import Reader

log = structlog.get_logger(__name__)

Submit = Callable[[Envelope, str], Awaitable[object]]

INTERVAL_SECONDS = 1.0
SESSION_END_DELAY: Micros = 3 * SECOND // 2
"""How long the last hook of a client may arrive after its process ended."""
FULL_CHECK_INTERVAL: Micros = 59 * SECOND


def is_alive(pid: int) -> bool:
    """Whether a process with this pid runs. A zombie does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """Whether a process ended and its parent has not collected it. False without /proc. tmux collects its own late."""
    try:
        handle = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)  # three times as fast as a file object
    except OSError:
        return False
    try:
        return os.read(handle, 512).rpartition(b") ")[2][:1] in (b"Z", b"X")
    except OSError:
        return False
    finally:
        os.close(handle)


def has_lost_terminal(pid: int) -> bool:
    """Whether the terminal that a process was started in is gone. False without /proc, and for one without terminal."""
    for number in range(3):
        try:
            target = str(Path(f"/proc/{pid}/fd/{number}").readlink())
        except OSError:
            continue
        if target.startswith("/dev/") and target.endswith(" (deleted)"):
            return True
    return False


def is_usable(agent: Agent) -> bool:
    """Whether the client of an agent runs and, if it would outlive its terminal, still has it."""
    pid = agent.pid or 0
    return is_alive(pid) and not _is_orphan(agent)


def _is_orphan(agent: Agent) -> bool:
    client = CLIENTS.get(agent.client)
    return client is not None and client.outlives_terminal and has_lost_terminal(agent.pid or 0)


def is_running(pid: int, started_at: Micros | None) -> bool:
    """Whether the process with this pid and start time runs. True if that is unknown."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return is_same_start(round(process.create_time() * SECOND), started_at)
    except (psutil.Error, OverflowError, ValueError):
        return is_alive(pid)


# --- vanished processes -----------------------------------------------------------------------------------------------


class ProcessWatch(Loop):
    """Reports agents of this host whose client or wrapper process is gone."""

    def __init__(
        self,
        reader: Reader,
        submit: Submit,
        envelopes: EnvelopeBuilder,
        agents: AgentCache,
        was_killed: Callable[[int], bool] = lambda _pid: False,
    ) -> None:
        super().__init__()
        self._reader = reader
        self._submit = submit
        self._envelopes = envelopes
        self._clock = envelopes.clock
        self._agents = agents
        self._was_killed = was_killed
        self._missing: dict[str, tuple[int, Micros]] = {}
        self._checked_at: Micros | None = None

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(INTERVAL_SECONDS)
            try:
                for agent in [agent for agent in self._agents.with_client() if not is_usable(agent)]:
                    await self._report_client(agent)
                for agent in [agent for agent in self._agents.with_wrapper() if not is_alive(agent.wrapper_pid or 0)]:
                    await self._report_wrapper(agent)
                self.failure = None
            except Exception as error:  # the next round tries again
                self.failure = str(error)
                log.exception("process_watch_failed")

    async def check(self) -> None:
        """Check all agents of the journal, including start times. No-op if the last full check is recent."""
        now = self._clock()
        if self._checked_at is not None and 0 <= now - self._checked_at < FULL_CHECK_INTERVAL:
            return
        self._checked_at = now
        agents = await asyncio.to_thread(self._read_agents)
        for agent in await asyncio.to_thread(_without_client, agents):
            await self._report_client(agent)
        for agent in await asyncio.to_thread(_without_wrapper, agents):
            await self._report_wrapper(agent)

    def _read_agents(self) -> list[Agent]:
        agents = [agent for agent in self._reader.agents() if agent.host == self._envelopes.host]
        for agent in agents:
            self._agents.add_if_missing(agent)
        return agents

    async def _report_client(self, agent: Agent) -> None:
        """Report a missing client, once its last hook had time to arrive."""
        pid, now = agent.pid or 0, self._clock()
        missing_pid, since = self._missing.get(agent.id, (pid, now))
        if missing_pid != pid:
            since = now
        self._missing[agent.id] = (pid, since)
        if now - since >= SESSION_END_DELAY or _has_closed(agent) or self._was_killed(pid):
            await self._submit_for(agent, self._envelopes.client_vanished(since, agent.pid))
            del self._missing[agent.id]

    async def _report_wrapper(self, agent: Agent) -> None:
        await self._submit_for(agent, self._envelopes.wrapper_vanished(agent.wrapper_pid))

    async def _submit_for(self, agent: Agent, envelope: Envelope) -> None:
        await self._submit(msgspec.structs.replace(envelope, client=agent.client), agent.id)


def _has_closed(agent: Agent) -> bool:
    """Whether the end of its session was reported."""
    return agent.session is not None and agent.session.ended_at is not None


def _without_client(agents: Iterable[Agent]) -> list[Agent]:
    known = [each for each in agents if each.pid is not None]
    return [each for each in known if not is_running(each.pid or 0, each.pid_started_at) or _is_orphan(each)]


def _without_wrapper(agents: Iterable[Agent]) -> list[Agent]:
    wrapped = [each for each in agents if each.wrapper_pid is not None and each.ended_at is None]
    return [each for each in wrapped if not is_running(each.wrapper_pid or 0, each.wrapper_started_at)]
