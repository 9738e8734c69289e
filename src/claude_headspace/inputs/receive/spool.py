"""The spool: a directory of events that hook scripts report, and of events that the journal could not store in time.

Each file is one event: a line of notes (JSON: `event`, `delivery-id`, `fired-at`, …), then the payload. It is complete
when it ends with a newline. Events are processed once, in the order in which they fired.

Rules
- A file is removed only after its event is committed. If the daemon is killed in between, the delivery id shows that
  the event is stored already.
- While the journal cannot be written, files stay in the spool.
- Files that cannot be decoded are moved to `rejected/` and counted. The newest thousand are kept.
- What is not a regular file (a directory, link, pipe, socket) is never opened. It is moved to `rejected/`, too, and
  counted as quarantined. An entry that cannot be moved is skipped.
- A file that is incomplete after a minute was abandoned by its writer and is rejected.
- Hook scripts mark a spool with too many files as `full` and count the events that they drop (`lost`). The mark is
  removed when the spool is empty.
"""

import asyncio
import errno
import heapq
import os
import stat
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
import structlog

from claude_headspace.background import Loop
from claude_headspace.errors import BadRequest, HeadspaceError, JournalUnavailable
from claude_headspace.inputs.receive.directory_watch import DirectoryWatch
from claude_headspace.inputs.receive.receiver import HookReceiver
from claude_headspace.inputs.receive.spool_notes import MAX_NOTES_BYTES, client_of_file, notes_decoder
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros
from claude_headspace.ports import Clock, HookCounters, Received

log = structlog.get_logger(__name__)

Process = Callable[[Received], Awaitable[bool]]
"""Stores an event. Returns after the commit, with whether the event counts as a hook."""

POLL_SECONDS = 1.0
INCOMPLETE_POLL_SECONDS = 0.02
"""How soon to read again while a file is incomplete."""
GATHER_SECONDS = 0.002
"""The pause between a change and reading: hooks come in groups, and the script that wrote can exit first."""
CATCH_UP_SECONDS = 0.1
"""How long a hook that asks waits for earlier events in the spool."""
ABANDONED_AFTER: Micros = 60 * SECOND
MAX_BATCH_FILES = 256
MAX_BATCH_BYTES = 16 * 1024 * 1024
MAX_REJECTED = 1_000


class SpoolFile(NamedTuple):
    """The content of a spool file."""

    path: Path
    notes: dict[str, str]
    payload: bytes
    written_at: Micros


class BadSpoolFile(Exception):
    """A file that can never be processed, with the reason."""


class SpoolCounts(NamedTuple):
    """Events that wait, were rejected, were lost and were processed, and when the last one was processed."""

    depth: int
    rejected: int
    lost: int
    processed: int
    last_drain_at: Micros | None
    quarantined: int
    """Entries that are not regular files, in `rejected/`."""
    rejected_by_client: dict[str, int]


class Spool:
    """The directory. Events are put in, and read by a `SpoolReader`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.watch = DirectoryWatch(folder)
        self._counted: set[str] = set()
        self._is_draining = False
        self._drained: asyncio.Future[None] | None = None

    # --- order ---

    async def wait_until_drained(self, seconds: float = CATCH_UP_SECONDS) -> None:
        """Wait until the events in the spool are stored, so that a hook does not overtake them, but not longer."""
        for _ in range(2):  # the event loop sees a change of the directory in one round, and reports it in the next
            await asyncio.sleep(0)
        if self.watch.changed.is_set() or self._is_draining:
            drained = self._drained = self._drained or asyncio.get_running_loop().create_future()
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(drained), seconds)

    def begin_drain(self) -> None:
        """The reader starts a round."""
        self._is_draining = True

    def end_drain(self) -> None:
        """The reader finished a round. Waiting hooks continue, unless a file was put in since."""
        self._is_draining = False
        if self._drained is not None and not self.watch.changed.is_set():
            self._drained.set_result(None)
            self._drained = None

    # --- writing ---

    def put(self, envelope: Envelope) -> None:
        """Store an event that the journal cannot store now. It is synced to disk when this returns."""
        if (self.folder / "full").exists():
            raise OSError(errno.ENOSPC, "the spool is full")
        path = self.folder / _file_name(envelope)
        self._counted.add(path.name)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(msgspec.json.encode(_notes_of(envelope)) + b"\n" + envelope.payload + b"\n")
                file.flush()
                os.fsync(handle)
        except OSError:
            path.unlink(missing_ok=True)
            raise

    # --- counting ---

    def count_new(self) -> int:
        """The number of waiting events that were not counted before. `put` counts its own."""
        new = {entry.name for entry in _files(self.folder)} - self._counted
        self._counted |= new
        return len(new)

    def forget(self, path: Path) -> None:
        """Stop counting a file that was removed."""
        self._counted.discard(path.name)

    @property
    def depth(self) -> int:
        """The number of waiting events."""
        return sum(1 for _ in _files(self.folder))

    @property
    def lost(self) -> int:
        """The number of events that hook scripts dropped while the spool was full."""
        return _size(self.folder / "lost")

    def reopen(self) -> None:
        """Remove the mark `full`, so that hook scripts use the spool again."""
        full = self.folder / "full"
        if os.path.lexists(full):
            move_away(full, self.folder / "rejected") if full.is_dir() else full.unlink(missing_ok=True)
            log.warning("spool_was_full", lost=self.lost)


class SpoolReader(Loop):
    """Processes the events of a spool, at the start and whenever one is put in."""

    def __init__(
        self,
        spool: Spool,
        receiver: HookReceiver,
        process: Process,
        clock: Clock,
        max_payload_bytes: int,
        counters: HookCounters,
    ) -> None:
        super().__init__()
        self._spool = spool
        self._folder = spool.folder
        self._receiver = receiver
        self._process = process
        self._clock = clock
        self._max_payload_bytes = max_payload_bytes
        self._counters = counters
        self._has_incomplete = False
        self._drained_once = asyncio.Event()
        self._processed = 0
        self._last_drain_at: Micros | None = None
        self._rejected_clients: dict[str, str] = {}

    # --- running ---

    def start(self) -> None:
        """Start processing."""
        self._spool.watch.start()
        super().start()

    async def stop(self) -> None:
        """Stop processing."""
        await super().stop()
        self._spool.watch.stop()

    async def first_drain(self, seconds: float | None = None) -> None:
        """Wait until the events that were there at the start are stored, but not longer than this."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._drained_once.wait(), seconds)

    async def _run(self) -> None:
        while True:
            self._spool.begin_drain()
            try:
                await self.drain()
            except Exception as error:
                self.failure = str(error)
                log.exception("spool_failed")
            self._spool.end_drain()
            self._drained_once.set()
            await self._spool.watch.wait(INCOMPLETE_POLL_SECONDS if self._has_incomplete else POLL_SECONDS)
            await asyncio.sleep(GATHER_SECONDS)

    # --- processing ---

    async def drain(self) -> None:
        """Process all files, oldest first, until no complete file is left."""
        self._has_incomplete = False
        await asyncio.to_thread(self._quarantine)
        while paths := await asyncio.to_thread(list_files, self._folder):
            removed = 0
            for batch in _batches(paths):
                removed += await self._process_batch(batch)
                if self.failure is not None:
                    return
            if not removed:
                return
        self.failure = None
        await asyncio.to_thread(self._spool.reopen)

    async def _process_batch(self, paths: Sequence[Path]) -> int:
        """Process these files. Returns how many of them were removed."""
        files, removed = await asyncio.to_thread(self._read_all, paths)
        received: list[tuple[SpoolFile, Received]] = []
        for file in files:
            try:
                received.append((file, await self._receive(file)))
            except BadRequest as error:
                await asyncio.to_thread(self._reject, file.path, error.message)
                removed += 1
        outcomes = await asyncio.gather(*(self._store(each) for _, each in received), return_exceptions=True)
        return removed + await asyncio.to_thread(self._finish_batch, [file for file, _ in received], outcomes)

    async def _store(self, received: Received) -> None:
        started = time.perf_counter()
        if await self._process(received):
            self._counters.stored(received.envelope.name, time.perf_counter() - started)

    async def _receive(self, file: SpoolFile) -> Received:
        notes = {name.encode(): value.encode() for name, value in file.notes.items()}
        notes.setdefault(b"delivery-id", f"spool-{file.path.name}"[:200].encode())
        notes.setdefault(b"fired-at", f"{file.written_at / SECOND:.6f}".encode())
        event, is_of_client = file.notes.get("event", ""), "client" in file.notes
        return await self._receiver.receive_spooled(event, file.payload, notes, is_of_client=is_of_client)

    def _read_all(self, paths: Sequence[Path]) -> tuple[list[SpoolFile], int]:
        """The complete files, and how many were rejected."""
        files, rejected = list[SpoolFile](), 0
        for path in paths:
            try:
                file = read_file(path, self._max_payload_bytes, self._clock())
            except FileNotFoundError:
                continue
            except BadSpoolFile as problem:
                self._reject(path, str(problem))
                rejected += 1
                continue
            if file is None:
                self._has_incomplete = True
            else:
                files.append(file)
        return files, rejected

    def _finish_batch(self, files: Sequence[SpoolFile], outcomes: Sequence[BaseException | None]) -> int:
        """Remove committed files and reject refused ones; the rest stays. Returns how many were removed."""
        removed = 0
        self.failure = None
        for file, outcome in zip(files, outcomes, strict=True):
            if outcome is None:
                file.path.unlink(missing_ok=True)
                self._spool.forget(file.path)
                self._processed += 1
                removed += 1
            elif isinstance(outcome, HeadspaceError) and not isinstance(outcome, JournalUnavailable):
                self._reject(file.path, outcome.message)
                removed += 1
            else:
                self.failure = str(outcome) or type(outcome).__name__
        if removed:
            self._last_drain_at = self._clock()
        return removed

    # --- rejecting ---

    @property
    def _rejected(self) -> Path:
        return self._folder / "rejected"

    def _reject(self, path: Path, reason: str) -> None:
        log.warning("spool_file_rejected", file=path.name, client=client_of_file(path), reason=reason)
        self._counters.refused("spool")
        move_away(path, self._rejected)
        self._spool.forget(path)
        for oldest in sorted(Path(entry.path) for entry in _files(self._rejected))[:-MAX_REJECTED]:
            log.warning("rejected_file_removed", file=oldest.name)
            oldest.unlink(missing_ok=True)

    def _quarantine(self) -> None:
        """Move everything away that is not a regular file, whatever its name."""
        if os.path.lexists(self._folder) and not self._folder.is_dir():
            raise NotADirectoryError(f"{self._folder} is not a directory: remove it")
        for entry in list(_entries(self._folder)):
            if entry.name != self._rejected.name and not entry.is_file(follow_symlinks=False):
                log.warning("spool_entry_quarantined", entry=entry.name)
                if not move_away(Path(entry.path), self._rejected):
                    log.warning("spool_entry_stays", entry=entry.name)

    # --- health ---

    def counts(self) -> SpoolCounts:
        """The current numbers."""
        known, files = self._rejected_clients, [Path(entry.path) for entry in _files(self._rejected)]
        self._rejected_clients = {path.name: known.get(path.name) or client_of_file(path) for path in files}
        return SpoolCounts(
            depth=self._spool.depth,
            rejected=len(files),
            rejected_by_client=dict(Counter(self._rejected_clients.values())),
            quarantined=sum(1 for each in _entries(self._rejected) if not each.is_file(follow_symlinks=False)),
            lost=self._spool.lost,
            processed=self._processed,
            last_drain_at=self._last_drain_at,
        )

    def health(self) -> tuple[bool, str | None, str]:
        """Whether it runs, why it fails, and how many events wait, were rejected or lost."""
        counts = self.counts()
        parts = [f"{counts.depth} waiting" if counts.depth else "empty"]
        parts += [f"{counts.rejected} rejected"] if counts.rejected else []
        parts += [f"{counts.quarantined} quarantined"] if counts.quarantined else []
        parts += [f"{counts.lost} lost while it was full"] if counts.lost else []
        return self.running, self.failure, ", ".join(parts)


def _file_name(envelope: Envelope) -> str:
    return f"{envelope.fired_at / SECOND:.6f}-{envelope.id}.json"


def _notes_of(envelope: Envelope) -> dict[str, str]:
    """The notes of an envelope, in the format of the hook scripts."""
    observations = envelope.observations
    notes = {
        "event": envelope.name,
        "client": envelope.client,
        "delivery-id": envelope.delivery_id,
        "fired-at": f"{envelope.fired_at / SECOND:.6f}",
        "client-pid": str(observations.client_pid) if observations.client_pid else None,
        "tmux-pane": observations.tmux_pane,
        "tmux-session": observations.tmux_session,
        "session-id": observations.headspace_id,
        "wrapper-id": observations.wrapper_id,
        "agent-id": observations.fleet_id,
        "role": observations.role,
        "mode": observations.declared_mode,
        "mission-id": observations.declared_mission_id,
        "unauthenticated": "1" if observations.unauthenticated else None,
        "verdict": msgspec.json.encode(envelope.decisions.verdict).decode() if envelope.decisions.verdict else None,
    }
    return {name: value for name, value in notes.items() if value}


def list_files(folder: Path, limit: int = 20_000) -> list[Path]:
    """The files of a spool, in the order in which they fired."""
    try:
        return [Path(path) for _, path in heapq.nsmallest(limit, ((_fired_at(e), e.path) for e in _files(folder)))]
    except FileNotFoundError:
        return []


def _fired_at(entry: "os.DirEntry[str]") -> float:
    """When an event fired: from the file name, or else the modification time."""
    seconds = entry.name.partition("-")[0]
    try:
        return float(seconds) if "." in seconds else entry.stat().st_mtime
    except (ValueError, FileNotFoundError):
        return 0.0


def _files(folder: Path) -> "Iterator[os.DirEntry[str]]":
    """The events in a folder: regular files."""
    for entry in _entries(folder):
        if entry.name.endswith(".json") and entry.is_file(follow_symlinks=False):
            yield entry


def _entries(folder: Path) -> "Iterator[os.DirEntry[str]]":
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        yield from entries


def move_away(path: Path, folder: Path) -> bool:
    """Move an entry into a folder, under a name that is free. Returns whether it is gone."""
    try:
        if not folder.is_dir() or folder.is_symlink():
            if os.path.lexists(folder):
                folder.rename(_free_name(folder))
            folder.mkdir(mode=0o700)
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)  # a directory without permissions cannot be moved
        path.rename(_free_name(folder / path.name))
    except OSError:
        return not os.path.lexists(path)
    return True


def _free_name(path: Path) -> Path:
    names = (path.with_name(f"{path.name}.{number}") if number else path for number in range(MAX_REJECTED))
    return next((each for each in names if not os.path.lexists(each)), path)


def _size(path: Path) -> int:
    """The size of a file; 0 if there is none."""
    try:
        found = path.lstat()
    except OSError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


def _batches(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """The paths in batches of limited number and size."""
    batch, total = list[Path](), 0
    for path in paths:
        batch.append(path)
        total += _size(path)
        if len(batch) >= MAX_BATCH_FILES or total >= MAX_BATCH_BYTES:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


def read_file(path: Path, max_payload_bytes: int, now: Micros) -> SpoolFile | None:
    """Read a file; None while it is incomplete. Follows no links, never blocks on a pipe."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise BadSpoolFile(f"it cannot be opened: {error.strerror}") from error
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise BadSpoolFile("it is not a regular file")
        if found.st_size > max_payload_bytes + MAX_NOTES_BYTES:
            raise BadSpoolFile(f"it is larger than {max_payload_bytes} bytes")
        with os.fdopen(handle, "rb", closefd=False) as file:
            text = file.read()
    finally:
        os.close(handle)
    head, _, payload = text.partition(b"\n")
    if not payload.endswith(b"\n"):
        if now - found.st_mtime_ns // 1_000 > ABANDONED_AFTER:
            raise BadSpoolFile("it is incomplete and was abandoned")
        return None
    try:
        notes = notes_decoder.decode(head.decode("utf-8", "replace"))
    except msgspec.DecodeError as error:
        raise BadSpoolFile(f"its notes cannot be decoded: {error}") from error
    return SpoolFile(path, notes, payload[:-1], found.st_mtime_ns // 1_000)
