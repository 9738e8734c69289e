"""The spool: what the shims tell, and what the journal could not take in time.

One file is one event; it is taken exactly once, in the order in which they fired.
A file holds a line of notes (JSON: `event`, `delivery-id`, `fired-at`, …) and then the payload. It is complete when it
ends in a newline.

Rules
- A file goes only when its event is committed. Should the daemon die between the two, its delivery id tells that it is
  known already.
- While the journal cannot be written, files stay where they are.
- What cannot be understood is set aside in `rejected/`, counted and shown; of those the newest thousand are kept.
- A file that is not complete after a minute will not be: its writer is gone.
- The shims close a spool that nobody empties (`full`) and count what they could not keep (`lost`). It is opened again
  when it is empty.
"""

import asyncio
import errno
import heapq
import os
import stat
import time
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
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros
from claude_headspace.ports import Clock, HookCounters, Received

log = structlog.get_logger(__name__)

Process = Callable[[Received], Awaitable[bool]]
"""Stores an event; returns when it is committed, and whether it counts as a hook."""

POLL_SECONDS = 1.0
INCOMPLETE_POLL_SECONDS = 0.02
"""How soon to look again at a file that is being written."""
GATHER_SECONDS = 0.002
"""Between the bell and the taking: hooks come in groups, and the one that rang can end in peace."""
CATCH_UP_SECONDS = 0.1
"""How long a hook that asks waits for what others told before it."""
ABANDONED_AFTER: Micros = 60 * SECOND
MAX_NOTES_BYTES = 64 * 1024
MAX_BATCH_FILES = 256
MAX_BATCH_BYTES = 16 * 1024 * 1024
MAX_REJECTED = 1_000

_notes_decoder = msgspec.json.Decoder(dict[str, str])


class SpoolFile(NamedTuple):
    """A file of the spool, read."""

    path: Path
    notes: dict[str, str]
    payload: bytes
    written_at: Micros


class BadSpoolFile(Exception):
    """A file that can never be taken, with the reason."""


class SpoolCounts(NamedTuple):
    """How the spool is doing: what waits, what was set aside, what could not be kept, and when it was last emptied."""

    depth: int
    rejected: int
    lost: int
    taken: int
    last_drain_at: Micros | None


class Spool:
    """The directory: events are put in, and read by a `SpoolReader`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.watch = DirectoryWatch(folder)
        self._counted: set[str] = set()
        self._is_draining = False
        self._drained: asyncio.Future[None] | None = None

    # --- order ---

    async def wait_until_drained(self, seconds: float = CATCH_UP_SECONDS) -> None:
        """Wait a moment until the events in the spool are stored, so that a hook does not overtake them."""
        for _ in range(2):  # the event loop sees a change of the directory in one round, and reports it in the next
            await asyncio.sleep(0)
        if self.watch.has_changed or self._is_draining:
            drained = self._drained = self._drained or asyncio.get_running_loop().create_future()
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(drained), seconds)

    def begin_drain(self) -> None:
        """The reader starts a round."""
        self._is_draining = True

    def end_drain(self) -> None:
        """The reader finished a round: if nothing was put in since, nobody has to wait."""
        self._is_draining = False
        if self._drained is not None and not self.watch.has_changed:
            self._drained.set_result(None)
            self._drained = None

    # --- putting in ---

    def put(self, envelope: Envelope) -> None:
        """Store an event that the journal cannot store now. It is on the disk when this returns."""
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
        """How many events wait that were not counted before. `put` counts its own."""
        new = {entry.name for entry in _files(self.folder)} - self._counted
        self._counted |= new
        return len(new)

    def forget(self, path: Path) -> None:
        """A file is gone."""
        self._counted.discard(path.name)

    @property
    def depth(self) -> int:
        """How many events wait."""
        return sum(1 for _ in _files(self.folder))

    @property
    def lost(self) -> int:
        """How many events the hook scripts could not store while it was full."""
        return _size(self.folder / "lost")

    def reopen(self) -> None:
        """Accept events again after it was full."""
        full = self.folder / "full"
        if full.exists():
            full.unlink(missing_ok=True)
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
        self._being_written = False
        self._drained_once = asyncio.Event()
        self._processed = 0
        self._last_drain_at: Micros | None = None

    # --- running ---

    def start(self) -> None:
        """Start processing."""
        self._spool.watch.start()
        super().start()

    async def stop(self) -> None:
        """Stop processing."""
        await super().stop()
        self._spool.watch.stop()

    async def first_drain(self, seconds: float) -> None:
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
            await self._spool.watch.wait(INCOMPLETE_POLL_SECONDS if self._being_written else POLL_SECONDS)
            await asyncio.sleep(GATHER_SECONDS)

    # --- taking ---

    async def drain(self) -> None:
        """Take everything that is there, oldest first, until nothing complete is left."""
        self._being_written = False
        while names := await asyncio.to_thread(list_files, self._folder):
            taken = 0
            for batch in _batches(names):
                taken += await self._process_batch(batch)
                if self.failure is not None:
                    return
            if not taken:
                return
        self.failure = None
        await asyncio.to_thread(self._spool.reopen)

    async def _process_batch(self, paths: Sequence[Path]) -> int:
        """Take these files; how many of them are gone afterwards."""
        letters, gone = await asyncio.to_thread(self._read_all, paths)
        received: list[tuple[SpoolFile, Received]] = []
        for letter in letters:
            try:
                received.append((letter, await self._receive(letter)))
            except BadRequest as error:
                await asyncio.to_thread(self._reject, letter.path, error.message)
                gone += 1
        outcomes = await asyncio.gather(*(self._store(each) for _, each in received), return_exceptions=True)
        return gone + await asyncio.to_thread(self._finish_batch, [letter for letter, _ in received], outcomes)

    async def _store(self, received: Received) -> None:
        started = time.perf_counter()
        if await self._process(received):
            self._counters.stored(received.envelope.name, time.perf_counter() - started)

    async def _receive(self, letter: SpoolFile) -> Received:
        told = {name.encode(): value.encode() for name, value in letter.notes.items()}
        told.setdefault(b"delivery-id", f"spool-{letter.path.name}"[:200].encode())
        told.setdefault(b"fired-at", f"{letter.written_at / SECOND:.6f}".encode())
        return await self._receiver.receive_spooled(letter.notes.get("event", ""), letter.payload, told)

    def _read_all(self, paths: Sequence[Path]) -> tuple[list[SpoolFile], int]:
        """The letters that can be taken now, and how many files were set aside."""
        letters, aside = list[SpoolFile](), 0
        for path in paths:
            try:
                letter = read_file(path, self._max_payload_bytes, self._clock())
            except FileNotFoundError:
                continue
            except BadSpoolFile as problem:
                self._reject(path, str(problem))
                aside += 1
                continue
            if letter is None:
                self._being_written = True
            else:
                letters.append(letter)
        return letters, aside

    def _finish_batch(self, letters: Sequence[SpoolFile], outcomes: Sequence[BaseException | None]) -> int:
        """Remove what is committed, set aside what was refused, and leave the rest; how many are gone."""
        gone = 0
        self.failure = None
        for letter, outcome in zip(letters, outcomes, strict=True):
            if outcome is None:
                letter.path.unlink(missing_ok=True)
                self._spool.forget(letter.path)
                self._processed += 1
                gone += 1
            elif isinstance(outcome, HeadspaceError) and not isinstance(outcome, JournalUnavailable):
                self._reject(letter.path, outcome.message)
                gone += 1
            else:
                self.failure = str(outcome) or type(outcome).__name__
        if gone:
            self._last_drain_at = self._clock()
        return gone

    # --- what cannot be taken ---

    @property
    def _rejected(self) -> Path:
        return self._folder / "rejected"

    def _reject(self, path: Path, reason: str) -> None:
        self._rejected.mkdir(mode=0o700, exist_ok=True)
        log.warning("event_set_aside", file=path.name, reason=reason)
        self._counters.refused("spool")
        with suppress(FileNotFoundError):
            path.replace(self._rejected / path.name)
        self._spool.forget(path)
        crowd = sorted(self._rejected.iterdir())[:-MAX_REJECTED]
        for oldest in crowd:
            log.warning("event_given_up", file=oldest.name)
            oldest.unlink(missing_ok=True)

    # --- telling ---

    def counts(self) -> SpoolCounts:
        """How it is doing."""
        return SpoolCounts(
            depth=self._spool.depth,
            rejected=sum(1 for _ in _files(self._rejected)),
            lost=self._spool.lost,
            taken=self._processed,
            last_drain_at=self._last_drain_at,
        )

    def health(self) -> tuple[bool, str | None, str]:
        """Whether it runs, what fails, and what it has to do."""
        counts = self.counts()
        words = [f"{counts.depth} waiting" if counts.depth else "empty"]
        words += [f"{counts.rejected} set aside"] if counts.rejected else []
        words += [f"{counts.lost} lost while it was full"] if counts.lost else []
        return self.running, self.failure, ", ".join(words)


def _file_name(envelope: Envelope) -> str:
    return f"{envelope.fired_at / SECOND:.6f}-{envelope.id}.json"


def _notes_of(envelope: Envelope) -> dict[str, str]:
    """The notes of a letter, as the shims write them."""
    context = envelope.observations
    notes = {
        "event": envelope.name,
        "delivery-id": envelope.delivery_id,
        "fired-at": f"{envelope.fired_at / SECOND:.6f}",
        "client-pid": str(context.client_pid) if context.client_pid else None,
        "tmux-pane": context.tmux_pane,
        "tmux-session": context.tmux_session,
        "session-id": context.headspace_id,
        "wrapper-id": context.wrapper_id,
        "agent-id": context.fleet_id,
        "role": context.role,
        "mode": context.declared_mode,
        "mission-id": context.declared_mission_id,
        "verdict": msgspec.json.encode(envelope.decisions.verdict).decode() if envelope.decisions.verdict else None,
    }
    return {name: value for name, value in notes.items() if value}


def list_files(folder: Path, limit: int = 20_000) -> list[Path]:
    """The files of a spool, those that fired first in front."""
    try:
        return [Path(path) for _, path in heapq.nsmallest(limit, ((_fired_at(e), e.path) for e in _files(folder)))]
    except FileNotFoundError:
        return []


def _fired_at(entry: "os.DirEntry[str]") -> float:
    """When an event fired: its name says so to the microsecond; without one, the time of the file is better."""
    told = entry.name.partition("-")[0]
    try:
        return float(told) if "." in told else entry.stat().st_mtime
    except (ValueError, FileNotFoundError):
        return 0.0


def _files(folder: Path) -> "Iterator[os.DirEntry[str]]":
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        yield from (entry for entry in entries if entry.name.endswith(".json"))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _batches(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Some at a time, so that neither their number nor their size matters."""
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
    """What a file tells; None while it is being written. Never follows a link, never waits for a pipe."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise BadSpoolFile(f"it cannot be opened: {error.strerror}") from error
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise BadSpoolFile("it is no regular file")
        if found.st_size > max_payload_bytes + MAX_NOTES_BYTES:
            raise BadSpoolFile(f"it is larger than {max_payload_bytes} bytes")
        text = file.read()
    head, _, payload = text.partition(b"\n")
    if not payload.endswith(b"\n"):
        if now - found.st_mtime_ns // 1_000 > ABANDONED_AFTER:
            raise BadSpoolFile("it is not complete, and nobody writes it any more")
        return None
    try:
        notes = _notes_decoder.decode(head.decode("utf-8", "replace"))
    except msgspec.DecodeError as error:
        raise BadSpoolFile(f"its first line cannot be read: {error}") from error
    return SpoolFile(path, notes, payload[:-1], found.st_mtime_ns // 1_000)
