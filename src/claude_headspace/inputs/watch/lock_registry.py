"""A session registry made of lock files: which process has which session open. It has no status.

Rules
- A lock counts while its process lives, and only if the process started before the lock was written.
- A client without a lock has the session open that its log names: it continues one, and locks it with its first prompt.
- The pane of a client is in its environment. No hook reports it before the first prompt.
- The directory of a session changes when a lock is added or removed. Only directories that changed are read again.
- A lock is submitted if its session or its process is new. A new session is delayed by a second: its first hook tells
  more, and a client that only shows its help is gone by then.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import structlog

from claude_headspace.background import Loop
from claude_headspace.clients.copilot import locks
from claude_headspace.clients.registry_entry import RegistryEntry
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.client_processes import ProcessAncestry, find_tmux_pane
from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.inputs.watch.processes import is_alive
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros, Observations
from claude_headspace.kernel.text import count

log = structlog.get_logger(__name__)

Submit = Callable[[Envelope, str | None], Awaitable[Agent]]

INTERVAL_SECONDS = 0.5
NEW_SESSION_SECONDS = 1.0
PROCESS_TABLE_SECONDS = 5.0
MAX_START_DIFFERENCE: Micros = 2 * SECOND
"""A process that started this much later than its lock is another process with the same pid."""


class LockedSession(msgspec.Struct, frozen=True):
    """A session that a running client has open."""

    entry: RegistryEntry
    raw: bytes
    process: Observations
    found_at: float


class LockRegistry(Loop):
    """Finds the lock files of running clients, and submits those that are new."""

    def __init__(
        self,
        config_dirs: Callable[[], Sequence[Path]],
        agents: AgentCache,
        submit: Submit,
        envelopes: EnvelopeBuilder,
        ancestry: ProcessAncestry,
    ) -> None:
        super().__init__()
        self._config_dirs = config_dirs
        self._agents = agents
        self._submit = submit
        self._envelopes = envelopes
        self._ancestry = ancestry
        self._changed_at: dict[str, int] = {}
        self._locks: dict[str, list[tuple[int, Micros]]] = {}
        self._logs: dict[Path, tuple[int, list[tuple[str, int, Micros]]]] = {}
        self._sessions: dict[tuple[str, int], LockedSession] = {}
        self._submitted: set[str] = set()
        self._checked = asyncio.Event()

    @property
    def problem(self) -> str | None:
        """Why it cannot be read."""
        return self.failure

    @property
    def summary(self) -> str:
        """How many clients run."""
        return count(len(self._sessions), "client")

    def processes(self) -> list[Observations]:
        """The processes of all running clients."""
        return [session.process for session in self._sessions.values()]

    def find_client(self, session_id: str) -> Observations | None:
        """The process that has a session open."""
        found = (each for each in self._sessions.values() if each.entry.session_id == session_id)
        return next((each.process for each in found if is_alive(each.entry.pid)), None)

    def shows_dialog(self, session_id: str) -> bool:
        """A lock does not tell."""
        del session_id
        return False

    def exists(self) -> bool:
        """Whether there is a directory of sessions."""
        return any(locks.directory(config_dir).is_dir() for config_dir in self._config_dirs())

    def was_killed(self, pid: int) -> bool:
        """Whether a vanished client left its lock behind."""
        return any(pid == locked for path in self._locks for locked, _ in locks.locks_in(path))

    async def first_check(self) -> None:
        """Wait until every existing lock has been read once."""
        await self._checked.wait()

    async def _run(self) -> None:
        while True:
            try:
                await self.check()
                self.failure = None
            except Exception as error:  # the next round tries again
                self.failure = str(error)
                log.exception("lock_registry_failed")
                self._checked.set()
            await asyncio.sleep(INTERVAL_SECONDS)

    async def check(self) -> None:
        """Read the locks of all sessions that changed, and submit what is new."""
        found = await asyncio.to_thread(lambda: list(self._find_locks()))
        alive = {(path, pid): at for path, pid, at in found if is_alive(pid)}
        for gone in self._sessions.keys() - alive.keys():
            del self._sessions[gone]
        for (path, pid), at in alive.items():
            if (path, pid) not in self._sessions:
                await self._add(path, pid, at)
        for session in list(self._sessions.values()):
            await self._submit_if_new(session)
        self._checked.set()

    def _find_locks(self) -> Iterator[tuple[str, int, Micros]]:
        existing = set()
        for config_dir in self._config_dirs():
            for path, changed_at in locks.session_directories(config_dir):
                existing.add(path)
                if self._changed_at.get(path) != changed_at:
                    self._changed_at[path] = changed_at
                    self._locks[path] = list(locks.locks_in(path))
        for path in self._changed_at.keys() - existing:
            del self._changed_at[path], self._locks[path]
        locked = [(path, pid, at) for path, found in self._locks.items() for pid, at in found]
        yield from locked
        yield from self._find_unlocked({pid for _, pid, _ in locked})

    def _find_unlocked(self, locked: set[int]) -> Iterator[tuple[str, int, Micros]]:
        """The sessions of running clients that have locked none."""
        for config_dir in self._config_dirs():
            for log_path, pid, at in self._logs_of(config_dir):
                is_open = pid not in locked and is_alive(pid)
                if is_open and (path := locks.session_in_log(log_path)) is not None:
                    yield path, pid, at

    def _logs_of(self, config_dir: Path) -> list[tuple[str, int, Micros]]:
        """The logs of a config dir, read again if one was added."""
        try:
            changed_at = (config_dir / locks.LOGS).stat().st_mtime_ns
        except OSError:
            return []
        if self._logs.get(config_dir, (None,))[0] != changed_at:
            self._logs[config_dir] = (changed_at, list(locks.logs_in(config_dir)))
        return self._logs[config_dir][1]

    async def _add(self, path: str, pid: int, at: Micros) -> None:
        process = await self._ancestry(pid, max_seconds=PROCESS_TABLE_SECONDS)
        started_at = process.client_started_at
        if started_at is not None and started_at <= at + MAX_START_DIFFERENCE:
            entry, raw = await asyncio.to_thread(locks.entry_of, path, pid, at)
            self._sessions[path, pid] = LockedSession(entry, raw, process, time.monotonic())

    async def _submit_if_new(self, session: LockedSession) -> None:
        entry = session.entry
        is_settled = time.monotonic() - session.found_at >= NEW_SESSION_SECONDS
        if is_settled and entry.delivery_id not in self._submitted and not self._is_known(entry):
            self._submitted.add(entry.delivery_id)
            process = self._agents.add_wrapper(self._envelopes.client, session.process)
            pane = await asyncio.to_thread(find_tmux_pane, entry.pid)
            process = msgspec.structs.replace(process, tmux_pane=pane)
            await self._submit(await self._envelopes.registry_entry(entry, session.raw, process), None)

    def _is_known(self, entry: RegistryEntry) -> bool:
        agent = self._agents.find_by_session(entry.session_id)
        if agent is None or agent.session is None:
            return False
        return (agent.pid, agent.session.client_id) == (entry.pid, entry.session_id)
