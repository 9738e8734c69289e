"""The session registry: files in which every running client reports what it is doing.

It is the fastest source for what no hook tells (an Esc is there after a tenth of a second), and the only one that knows
the client's process. It is undocumented, not written atomically, and left behind by clients that were killed.

Rules
- An entry speaks while the process that wrote it lives: same number, same start.
- A session that nobody has heard of yet is held back for a second: right after `--resume` the client writes an id that
  it made up, and corrects it a moment later.
- Only what changes what is known of an agent is told.
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
from claude_headspace.clients.claude_code.locations import CLAUDE_CODE
from claude_headspace.clients.client import Client, RegistryFiles
from claude_headspace.clients.decode import decode
from claude_headspace.clients.readings import Activity, RegistryEntry
from claude_headspace.inputs.receive.receiver import Surroundings, new_id
from claude_headspace.inputs.watch.agent_cache import KnownAgents
from claude_headspace.inputs.watch.files import FileWatch, opened
from claude_headspace.inputs.watch.processes import Kinship, is_alive
from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros, Observations, Origin
from claude_headspace.kernel.novelty import is_new
from claude_headspace.ports import Clock

log = structlog.get_logger(__name__)

Submit = Callable[[Envelope], Awaitable[Agent]]

LARGEST = 64 * 1024
AGAIN_SECONDS = 0.06
TRIES = 5
"""An entry that is empty or half written is read again, a few times."""
BETWEEN_TURNS: Micros = SECOND * 3 // 20
"""Between a turn and the next one that waited for it the client is idle for a moment: that is no end."""
BEFORE_THE_NEXT: Micros = SECOND
"""The same where something is known to wait for the turn to end: news of background work, or a queued prompt."""
BY_ITSELF: Micros = 3 * SECOND
"""A client that rests and has hooks tells its work by them; without one it is only busy with `/clear` or `/exit`."""
HELD_BACK_SECONDS = 1.0
PATIENCE_SECONDS = 5.0
STARTED_LATER: Micros = 2 * SECOND
"""A process that began this much after its entry says that it did is another one."""


class RunningClient(msgspec.Struct, frozen=True):
    """A client that lives: its entry, and what the process table tells of it."""

    entry: RegistryEntry
    raw: bytes
    written: int
    """When, in nanoseconds: whether it was written again."""
    process: Observations


class RegistryWatch(Loop):
    """Tells what clients say of themselves."""

    def __init__(
        self,
        host: str,
        clock: Clock,
        config_dirs: Callable[[], Sequence[Path]],
        known: KnownAgents,
        submit: Submit,
        surroundings: Surroundings,
        kinship: Kinship,
        client: Client = CLAUDE_CODE,
    ) -> None:
        super().__init__()
        self._client = client
        self._host = host
        self._clock = clock
        self._config_dirs = config_dirs
        self._known = known
        self._submit = submit
        self._surroundings = surroundings
        self._kinship = kinship
        self._clients: dict[str, RunningClient] = {}
        self._held: dict[str, tuple[str, float]] = {}
        self._told: dict[str, str] = {}
        self._judged: dict[str, tuple[str, Agent | None]] = {}
        self._paths: set[str] | None = set()
        self._wake = asyncio.Event()
        self._looked = asyncio.Event()
        self.watch = FileWatch(self._places, self._touched, recursive=False)

    @property
    def clients(self) -> int:
        """How many clients live."""
        return len(self._clients)

    def client_of(self, session_id: str) -> Observations | None:
        """The process that has a session open."""
        found = (client for client in self._clients.values() if client.entry.session_id == session_id)
        return next((client.process for client in found if is_alive(client.entry.pid)), None)

    def shows_dialog(self, session_id: str) -> bool:
        """Whether the client that has a session open says that it waits for somebody."""
        entries = (client.entry for client in self._clients.values())
        return any(entry.session_id == session_id and entry.activity is Activity.WAITING for entry in entries)

    def exists(self) -> bool:
        """Whether there is a registry at all: old clients have none."""
        return any(place.is_dir() for place in self._places())

    def was_killed(self, pid: int) -> bool:
        """Whether a client that is gone had no time to remove its entry."""
        return any((place / self._client.registry.entry_of(pid)).exists() for place in self._places())

    def start(self) -> None:
        """Begin to read."""
        super().start()
        self.watch.start()

    async def stop(self) -> None:
        """Read no more."""
        await self.watch.stop()
        await super().stop()

    def _places(self) -> list[Path]:
        return [place / self._client.registry.directory for place in self._config_dirs()]

    # --- reading ---

    def _touched(self, paths: set[str]) -> None:
        """These entries changed; an empty set: look at all."""
        if not paths:
            self._paths = None
        elif self._paths is not None:
            self._paths |= {path for path in paths if self._client.registry.is_entry(Path(path))}
        self._wake.set()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            paths, self._paths = self._paths, set()
            try:
                await (self.look() if paths is None else self._read_all(sorted(paths)))
                self.failure = None
            except Exception as error:  # whatever goes wrong with one, the next change is read
                self.failure = str(error)
                log.exception("registry_not_read")

    async def first_look(self) -> None:
        """Wait until every entry that is there has been read once."""
        await self._looked.wait()

    async def look(self) -> None:
        """Read every entry that there is."""
        there = await asyncio.to_thread(_entries, self._client.registry, self._places())
        for gone in self._clients.keys() - there.keys():
            self._forget(gone)
        for path, written in there.items():
            client = self._clients.get(path)
            if client is None or client.written != written:
                await self._read(path)
            elif is_alive(client.entry.pid):
                await self._consider(path)
        self._looked.set()

    async def _read_all(self, paths: Sequence[str]) -> None:
        for path in paths:
            await self._read(path)

    async def _read(self, path: str) -> None:
        entry, raw, written = await _read_entry(self._client.registry, path)
        if entry is None:
            self._forget(path)
            return
        process = await self._kinship(entry.pid, patience=PATIENCE_SECONDS)
        if not is_alive(entry.pid) or not _wrote(process, entry):
            self._forget(path)
            return
        self._clients[path] = RunningClient(entry, raw, written, process)
        await self._consider(path)

    def _forget(self, path: str) -> None:
        for memory in (self._clients, self._held, self._told, self._judged):
            memory.pop(path, None)

    # --- telling ---

    async def _consider(self, path: str) -> None:
        """Tell it now, or look again after a while if it may still turn out to be wrong."""
        entry = self._clients[path].entry
        if self._clock() - entry.at < (moment := self._moment(entry)):
            asyncio.get_running_loop().call_later(moment / SECOND, self._touched, {path})
            return
        now = time.monotonic()
        held, since = self._held.get(path, ("", now))
        if (entry.activity is not Activity.UNKNOWN and self._known.of_session(entry.session_id) is not None) or (
            held == entry.session_id and now - since >= HELD_BACK_SECONDS
        ):
            await self._tell(path)
        elif held != entry.session_id:
            self._held[path] = (entry.session_id, now)
            self._again(path)

    def _moment(self, entry: RegistryEntry) -> Micros:
        """How long an entry must stand before it is believed."""
        agent = self._known.of_session(entry.session_id)
        if entry.activity is Activity.IDLE:
            return BEFORE_THE_NEXT if agent is not None and agent.continues_by_itself(entry.at) else BETWEEN_TURNS
        is_at_rest = agent is not None and agent.last_hook_at > 0 and agent.state in (AgentState.IDLE, AgentState.ERROR)
        return BY_ITSELF if entry.activity is Activity.BUSY and is_at_rest else 0

    def _again(self, path: str) -> None:
        asyncio.get_running_loop().call_later(HELD_BACK_SECONDS + 0.01, self._touched, {path})

    async def _tell(self, path: str) -> None:
        """Hand it in, if it is news. A hook that is still on its way may make it news: then the next look tells it."""
        client = self._clients[path]
        entry = client.entry
        if self._told.get(path) == entry.delivery_id:
            return
        agent = self._known.of_session(entry.session_id)
        judged, judged_for = self._judged.get(path, ("", None))
        if agent is not None and judged == entry.delivery_id and judged_for is agent:
            return
        envelope = await self._sealed(client)
        if agent is None or is_new(agent, decode(envelope)):
            await self._submit(envelope)
            self._told[path] = entry.delivery_id
            return
        self._judged[path] = (entry.delivery_id, agent)
        if judged != entry.delivery_id:
            self._again(path)

    async def _sealed(self, client: RunningClient) -> Envelope:
        now, entry = self._clock(), client.entry
        around = await self._surroundings(entry.cwd)
        context = msgspec.structs.replace(client.process, project_root=around.project_root, branch=around.branch)
        return Envelope(
            id=new_id(),
            name="RegistryEntry",
            origin=Origin.REGISTRY,
            client=self._client.name,
            host=self._host,
            fired_at=min(entry.at, now) or now,
            received_at=now,
            payload=client.raw,
            observations=context,
            delivery_id=entry.delivery_id,
        )


def _entries(files: RegistryFiles, places: Sequence[Path]) -> dict[str, int]:
    """The entries that there are, and when each was written."""
    found = {}
    for place in places:
        with suppress(OSError):
            for entry in os.scandir(place):
                if files.is_entry(Path(entry.path)):
                    found[entry.path] = entry.stat(follow_symlinks=False).st_mtime_ns
    return found


async def _read_entry(files: RegistryFiles, path: str) -> tuple[RegistryEntry | None, bytes, int]:
    """The entry of a file, and when it was written. One that cannot be understood is read again: it is being
    written.
    """
    for _ in range(TRIES):
        try:
            with opened(path) as handle:
                written, raw = os.fstat(handle).st_mtime_ns, os.read(handle, LARGEST)
            entry = files.read(raw)
        except (FileNotFoundError, msgspec.ValidationError):
            break
        except (OSError, msgspec.DecodeError, UnicodeError, RecursionError):
            await asyncio.sleep(AGAIN_SECONDS)
        else:
            return entry, raw, written
    return None, b"", 0


def _wrote(process: Observations, entry: RegistryEntry) -> bool:
    """Whether the process that has the entry's number now is the one that wrote it."""
    began = process.client_started_at
    return began is not None and began <= entry.started_at + STARTED_LATER
