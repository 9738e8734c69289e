"""The session registry: files in which every running client reports what it is doing.

It is the fastest source for what no hook reports (an interrupt appears after 100 ms), and the only one that knows the
client's process. It is undocumented, not written atomically, and left behind by clients that were killed.

Rules
- An entry counts while the process that wrote it lives: same pid, same start time.
- An entry with an unknown session is delayed by a second: right after `--resume` the client writes a temporary id and
  corrects it.
- Only entries that change an agent are submitted.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import structlog

from claude_headspace.background import Loop
from claude_headspace.clients.claude_code import locations
from claude_headspace.clients.claude_code.registry import read_entry
from claude_headspace.clients.decode import decode
from claude_headspace.clients.files import open_regular_file
from claude_headspace.clients.registry_entry import Activity, RegistryEntry
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.client_processes import ProcessAncestry
from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.inputs.watch.files import FileWatch
from claude_headspace.inputs.watch.processes import is_alive
from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros, Observations
from claude_headspace.kernel.novelty import is_new
from claude_headspace.kernel.text import count

log = structlog.get_logger(__name__)

Submit = Callable[[Envelope, str | None], Awaitable[Agent]]

MAX_ENTRY_BYTES = 64 * 1024
RETRY_SECONDS = 0.06
MAX_TRIES = 5
"""An empty or half-written entry is read again, this many times."""
BETWEEN_TURNS: Micros = SECOND * 3 // 20
"""A client is idle this long between a turn and a queued one: the turn has not ended."""
BEFORE_NEXT_TURN: Micros = SECOND
"""The same if background work or a queued prompt is known to start the next turn."""
BUSY_WITHOUT_HOOKS: Micros = 3 * SECOND
"""An idle client with hooks reports work by a hook; busy without one is `/clear` or `/exit`."""
NEW_SESSION_SECONDS = 1.0
PROCESS_TABLE_SECONDS = 5.0
MAX_START_DIFFERENCE: Micros = 2 * SECOND
"""A process that started this much later than its entry says is another process with the same pid."""


class RunningClient(msgspec.Struct, frozen=True):
    """A running client: its registry entry, and its process."""

    entry: RegistryEntry
    raw: bytes
    modified_ns: int
    process: Observations


class RegistryWatch(Loop):
    """Submits what running clients report about themselves."""

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
        self._clock = envelopes.clock
        self._ancestry = ancestry
        self._clients: dict[str, RunningClient] = {}
        self._unconfirmed: dict[str, tuple[str, float]] = {}
        self._submitted: dict[str, str] = {}
        self._not_new: dict[str, tuple[str, Agent | None]] = {}
        self._paths: set[str] | None = set()
        self._wake = asyncio.Event()
        self._checked = asyncio.Event()
        self.watch = FileWatch(self._directories, self._paths_changed, recursive=False)

    @property
    def problem(self) -> str | None:
        """Why it cannot be read."""
        return self.failure or self.watch.failure

    @property
    def summary(self) -> str:
        """How many clients run, and how many directories are watched."""
        directories = "1 directory" if self.watch.watching == 1 else f"{self.watch.watching} directories"
        return f"{count(len(self._clients), 'client')}, watches {directories}"

    def processes(self) -> list[Observations]:
        """The processes of all running clients."""
        return [client.process for client in self._clients.values()]

    def find_client(self, session_id: str) -> Observations | None:
        """The process that has a session open."""
        found = (client for client in self._clients.values() if client.entry.session_id == session_id)
        return next((client.process for client in found if is_alive(client.entry.pid)), None)

    def shows_dialog(self, session_id: str) -> bool:
        """Whether the client that has a session open shows a dialog."""
        entries = (client.entry for client in self._clients.values())
        return any(entry.session_id == session_id and entry.activity is Activity.WAITING for entry in entries)

    def exists(self) -> bool:
        """Whether there is a registry. Old clients have none."""
        return any(directory.is_dir() for directory in self._directories())

    def was_killed(self, pid: int) -> bool:
        """Whether a vanished client left its entry behind."""
        return any((directory / locations.entry_name(pid)).exists() for directory in self._directories())

    def start(self) -> None:
        """Start reading."""
        super().start()
        self.watch.start()

    async def stop(self) -> None:
        """Stop reading."""
        await self.watch.stop()
        await super().stop()

    def _directories(self) -> list[Path]:
        return [config_dir / locations.REGISTRY for config_dir in self._config_dirs()]

    # --- reading ---

    def _paths_changed(self, paths: set[str]) -> None:
        """Read these entries soon; with an empty set, all of them."""
        if not paths:
            self._paths = None
        elif self._paths is not None:
            self._paths |= {path for path in paths if locations.is_entry(Path(path))}
        self._wake.set()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            paths, self._paths = self._paths, set()
            try:
                await (self.check() if paths is None else self._read_all(sorted(paths)))
                self.failure = None
            except Exception as error:  # the next change tries again
                self.failure = str(error)
                log.exception("registry_read_failed")

    async def first_check(self) -> None:
        """Wait until every existing entry has been read once."""
        await self._checked.wait()

    async def check(self) -> None:
        """Read every entry."""
        entries = await asyncio.to_thread(_list_entries, self._directories())
        for removed in self._clients.keys() - entries.keys():
            self._forget(removed)
        for path, modified_ns in entries.items():
            client = self._clients.get(path)
            if client is None or client.modified_ns != modified_ns:
                await self._read(path)
            elif is_alive(client.entry.pid):
                await self._process(path)
        self._checked.set()

    async def _read_all(self, paths: Sequence[str]) -> None:
        for path in paths:
            await self._read(path)

    async def _read(self, path: str) -> None:
        entry, raw, modified_ns = await _read_entry(path)
        if entry is None:
            self._forget(path)
            return
        process = await self._ancestry(entry.pid, max_seconds=PROCESS_TABLE_SECONDS)
        if not is_alive(entry.pid) or not _is_writer(process, entry):
            self._forget(path)
            return
        self._clients[path] = RunningClient(entry, raw, modified_ns, process)
        await self._process(path)

    def _forget(self, path: str) -> None:
        for by_path in (self._clients, self._unconfirmed, self._submitted, self._not_new):
            by_path.pop(path, None)

    # --- submitting ---

    async def _process(self, path: str) -> None:
        """Submit an entry now, or check again later if it may still change."""
        entry = self._clients[path].entry
        if self._clock() - entry.at < (settle_time := self._settle_time(entry)):
            self._read_later(path, settle_time / SECOND)
            return
        now = time.monotonic()
        session_id, since = self._unconfirmed.get(path, ("", now))
        is_known = entry.activity is not Activity.UNKNOWN and self._agents.find_by_session(entry.session_id) is not None
        if is_known or (session_id == entry.session_id and now - since >= NEW_SESSION_SECONDS):
            await self._submit_entry(path)
        elif session_id != entry.session_id:
            self._unconfirmed[path] = (entry.session_id, now)
            self._read_later(path)

    def _settle_time(self, entry: RegistryEntry) -> Micros:
        """How long an entry must stay unchanged before it counts."""
        agent = self._agents.find_by_session(entry.session_id)
        if entry.activity is Activity.IDLE:
            return BEFORE_NEXT_TURN if agent is not None and agent.continues_by_itself(entry.at) else BETWEEN_TURNS
        is_idle = agent is not None and agent.last_hook_at > 0 and agent.state in (AgentState.IDLE, AgentState.ERROR)
        return BUSY_WITHOUT_HOOKS if entry.activity is Activity.BUSY and is_idle else 0

    def _read_later(self, path: str, seconds: float = NEW_SESSION_SECONDS + 0.01) -> None:
        asyncio.get_running_loop().call_later(seconds, self._paths_changed, {path})

    async def _submit_entry(self, path: str) -> None:
        """Submit an entry if it is new. It is checked again later, because a hook may arrive that makes it new."""
        client = self._clients[path]
        entry = client.entry
        if self._submitted.get(path) == entry.delivery_id:
            return
        agent = self._agents.find_by_session(entry.session_id)
        delivery_id, compared_with = self._not_new.get(path, ("", None))
        if agent is not None and delivery_id == entry.delivery_id and compared_with is agent:
            return
        envelope = await self._envelopes.registry_entry(entry, client.raw, client.process)
        if agent is None or is_new(agent, decode(envelope)):
            await self._submit(envelope, None)
            self._submitted[path] = entry.delivery_id
            return
        self._not_new[path] = (entry.delivery_id, agent)
        if delivery_id != entry.delivery_id:
            self._read_later(path)


def _list_entries(directories: Sequence[Path]) -> dict[str, int]:
    """The paths of all entries, with their modification times."""
    found = {}
    for directory in directories:
        with suppress(OSError):
            for entry in os.scandir(directory):
                if locations.is_entry(Path(entry.path)):
                    found[entry.path] = entry.stat(follow_symlinks=False).st_mtime_ns
    return found


async def _read_entry(path: str) -> tuple[RegistryEntry | None, bytes, int]:
    """An entry, its raw content and its modification time. Retries while the file is being written."""
    for _ in range(MAX_TRIES):
        try:
            with open_regular_file(path) as handle:
                modified_ns, raw = os.fstat(handle).st_mtime_ns, os.read(handle, MAX_ENTRY_BYTES)
            entry = read_entry(raw)
        except (FileNotFoundError, msgspec.ValidationError):
            break
        except (OSError, msgspec.DecodeError, UnicodeError, RecursionError):
            await asyncio.sleep(RETRY_SECONDS)
        else:
            return entry, raw, modified_ns
    return None, b"", 0


def _is_writer(process: Observations, entry: RegistryEntry) -> bool:
    """Whether the process with the entry's pid is the one that wrote it."""
    started_at = process.client_started_at
    return started_at is not None and started_at <= entry.started_at + MAX_START_DIFFERENCE
