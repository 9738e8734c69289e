"""The transcripts that clients write: followed line by line, for what no hook tells.

Where hooks speak, most lines only repeat them and are not kept; where hooks are silent, the transcript alone tells what
happens. A line reaches the disk some 200 ms after the fact, and Headspace a tenth of a second after that.

Rules
- Read are the files below `<config dir>/projects`, and nothing else, whatever path a payload names.
- Every line is handed in under its own id, so reading it again does no harm. How far each file was read is remembered.
- What was written before Headspace knew of a config dir is history: it is left to `headspace import`, except for
  sessions that are still open.
- A session without a client, of which only its transcript tells, has ended with its last line.
- What was written while the daemon was down is told together with the hooks of that time, each when it happened: told
  one after the other, hook and transcript of a long session would not recognise each other any more.
"""

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

import structlog

from claude_headspace.background import Loop
from claude_headspace.clients.decode import decode
from claude_headspace.clients.readings import Line
from claude_headspace.inputs.watch.agent_cache import KnownAgents
from claude_headspace.inputs.watch.envelopes import Sealer
from claude_headspace.inputs.watch.files import FileWatch, below
from claude_headspace.inputs.watch.transcript_files import (
    Piece,
    Reading,
    read_piece,
    survey,
    transcripts_in,
)
from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros, Observations
from claude_headspace.kernel.evolve import evolve
from claude_headspace.kernel.novelty import is_new, is_older_than_recent_turns, is_repetition, measured_tokens
from claude_headspace.ports import Clock, Position, PositionStore

log = structlog.get_logger(__name__)

Submit = Callable[[Envelope, str | None], Awaitable[Agent]]
"""Hands an envelope in, to a certain agent if one is named."""

Told = tuple[Micros, str, bytes, Line]
"""When, in which file, the line as it is, and as it is understood."""

REMEMBER_SECONDS = 5.0
RETRY_SECONDS = 2.0
RECENT: Micros = 600 * SECOND
"""A session whose transcript was written this lately may still be open, also where no registry tells."""
SILENT: Micros = 30 * SECOND
"""Where there is a registry, a session that is not in it and wrote nothing for so long has ended."""
LARGEST_BACKLOG = 64 * 1024 * 1024
"""How much is read ahead at the start, in bytes; the rest is read afterwards."""
USAGE_STEP = 0.01
"""How much of the context must have been used for the news to be worth keeping by itself."""

_INTRODUCTIONS = (facts.UserWrote, facts.AgentWrote, facts.PromptSubmitted, facts.ToolStarted, facts.TurnFailed)
"""Only these show that there is a session at all."""


class TranscriptTailer(Loop):
    """Follows the transcripts of all known config dirs."""

    def __init__(
        self,
        host: str,
        clock: Clock,
        config_dirs: Callable[[], Sequence[Path]],
        known: KnownAgents,
        bookmarks: PositionStore,
        submit: Submit,
        sealer: Sealer,
        client_of: Callable[[str], Observations | None],
        has_registry: Callable[[], bool],
    ) -> None:
        super().__init__()
        self._reader = f"tail:{host}"
        self._clock = clock
        self._config_dirs = config_dirs
        self._known = known
        self._bookmarks = bookmarks
        self._submit = submit
        self._sealer = sealer
        self._layout = sealer.client.transcripts
        self._client_of = client_of
        self._has_registry = has_registry
        self._readings: dict[str, Reading] = {}
        self._tokens: dict[str, int] = {}
        self._unattended: dict[str, tuple[str, Micros]] = {}
        self._pending: dict[str, None] = {}
        self._backlog: deque[Told] = deque()
        self._telling = asyncio.Lock()
        self._look_at_all = False
        self._new_places: set[str] = set()
        self._unsaved: set[str] = set()
        self._wake = asyncio.Event()
        self._caught_up = asyncio.Event()
        self.watch = FileWatch(self._roots, self._touched, recursive=True)
        self.refused: set[str] = set()

    @property
    def followed(self) -> int:
        """How many files are known; where to look for them is remembered beside them."""
        return sum(path.endswith(".jsonl") for path in self._readings)

    def start(self) -> None:
        """Begin to follow."""
        self._look_at_all = True
        super().start()
        self.watch.start()

    async def stop(self) -> None:
        """Follow no more, and remember how far it was read."""
        await self.watch.stop()
        await super().stop()
        await self._remember()

    async def gather_backlog(self) -> None:
        """Read what was written while nobody was there, within reason, to be told when its time comes."""
        await self._recall()
        await self._find_all()
        size = 0
        while self._pending and size < LARGEST_BACKLOG:
            path = next(iter(self._pending))
            before = self._readings.get(path)
            piece = await self._piece(path)
            if piece is None or (before is not None and piece.offset == before.offset) or not piece.more:
                del self._pending[path]
            if piece is not None:
                size += piece.offset - (before.offset if before else 0)
                self._backlog += [(at, path, raw, line) for at, raw, line in piece.lines]
        self._backlog = deque(sorted(self._backlog, key=lambda told: told[0]))

    async def tell_until(self, at: Micros) -> None:
        """Tell what was written before a moment, of what was gathered."""
        if not self._backlog:
            return
        async with self._telling:
            due = [told for told in self._backlog if told[0] < at]
            await self._tell(due)
            for _ in due:
                self._backlog.popleft()

    async def caught_up(self) -> None:
        """Wait until everything that was there at the start has been told."""
        await self._caught_up.wait()

    async def look(self) -> None:
        """Look at the files of living agents, whether or not anybody told that they changed."""
        grown, refused = await asyncio.to_thread(self._look_at, set(self._known.transcripts()))
        for path in refused:
            self._refuse(path)
        if grown:
            self._pending |= dict.fromkeys(grown)
            self._wake.set()
        await self._end_the_absent()

    def _look_at(self, paths: Iterable[str]) -> tuple[list[str], list[str]]:
        """Which of these have grown, and which may not be read."""
        grown, refused = list[str](), list[str]()
        for path in paths:
            if self._has_grown(path) or path not in self._readings:
                (refused if below(path, self._roots()) is None else grown).append(path)
        return grown, refused

    def _roots(self) -> list[Path]:
        return [place / self._layout.directory for place in self._config_dirs()]

    def _refuse(self, path: str) -> None:
        if path not in self.refused and len(self.refused) < 100:
            self.refused.add(path)
            log.warning("transcript_outside_known_config_dirs", path=path[:500])

    # --- what is to be read ---

    def _touched(self, paths: set[str]) -> None:
        if not paths:
            self._look_at_all = True
        for path in paths:
            if not path.endswith(".jsonl"):
                self._new_places.add(path)
            elif any(self._layout.is_transcript(path, root) for root in self._roots()):
                self._pending[path] = None
        self._wake.set()

    async def _look_into_new_places(self) -> None:
        """A directory that was just made: what was put into it before it could be watched was told by nobody."""
        places, self._new_places = self._new_places, set()
        for path in await asyncio.to_thread(transcripts_in, self._layout, places, self._roots()):
            self._pending[path] = None

    def _has_grown(self, path: str) -> bool:
        reading = self._readings.get(path)
        try:
            return Path(path).stat().st_size != (reading.offset if reading else 0)
        except OSError:
            return False

    async def _find_all(self) -> None:
        """Every file that is not where it was left. What is over when a config dir is first looked at is history."""
        roots = self._roots()
        new = [root for root in roots if str(root) not in self._readings]
        for path, known, end in await asyncio.to_thread(survey, self._layout, roots):
            reading = self._readings.get(path)
            is_old = reading is None and any(Path(path).is_relative_to(root) for root in new)
            if is_old and not self._is_open(path, known):
                self._keep(Reading(path, end, inode=known.st_ino))
            elif reading is None or reading.offset != known.st_size:
                self._pending[path] = None
        for root in new:
            self._keep(Reading(str(root), at=self._clock()))

    def _keep(self, reading: Reading) -> None:
        self._readings[reading.path] = reading
        self._unsaved.add(reading.path)

    def _is_open(self, path: str, known: os.stat_result) -> bool:
        if self._client_of(self._layout.session_of(path)) is not None:
            return True
        return self._clock() - round(known.st_mtime * SECOND) < RECENT

    # --- reading ---

    async def _recall(self) -> None:
        stored = await asyncio.to_thread(self._bookmarks.positions, self._reader)
        known = {path: Reading(path, position.offset, position.at) for path, position in stored.items()}
        self._readings = known | self._readings

    async def _run(self) -> None:
        await self._recall()
        while True:
            try:
                await self.tell_until(self._clock() + SECOND)
                await self._work()
                self.failure = None
                await self._pause()
            except Exception as error:  # whatever goes wrong, the files stay where they are and are read again
                self.failure = str(error)
                log.exception("transcripts_not_read")
                await asyncio.sleep(RETRY_SECONDS)

    async def _pause(self) -> None:
        """Wait until something is to be read; what was read is remembered after a while."""
        if not self._unsaved:
            await self._wake.wait()
        elif not self._wake.is_set():
            try:
                async with asyncio.timeout(REMEMBER_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                await self._remember()
        self._wake.clear()

    async def _work(self) -> None:
        if self._look_at_all:
            self._look_at_all = False
            await self._find_all()
        if self._new_places:
            await self._look_into_new_places()
        while self._pending:
            path = next(iter(self._pending))
            more = await self._read(path)
            del self._pending[path]
            if more:
                self._pending[path] = None
        self._caught_up.set()

    async def _read(self, path: str) -> bool:
        """Tell what a piece of a file says; whether more is to be read now."""
        before = self._readings.get(path) or Reading(path)
        piece = await self._piece(path)
        if piece is None:
            return False
        try:
            await self._tell([(at, path, raw, line) for at, raw, line in piece.lines])
        except BaseException:
            self._readings[path] = before
            raise
        return piece.more and piece.offset != before.offset

    async def _piece(self, path: str) -> Piece | None:
        """The next piece of a file, if it may be read; the file counts as read that far."""
        real = below(path, self._roots())
        if real is None:
            self._refuse(path)
            return None
        try:
            reading = self._readings.get(path) or Reading(path)
            piece = await asyncio.to_thread(read_piece, self._layout, real, reading, self._clock())
        except OSError:
            return None
        self._keep(Reading(path, piece.offset, piece.at, piece.inode))
        return piece

    async def _remember(self) -> None:
        """Keep how far each file was read, once all of it is told."""
        if self._backlog or not self._unsaved:
            return
        unsaved = set(self._unsaved)
        positions = {path: Position(self._readings[path].offset, self._readings[path].at) for path in unsaved}
        await asyncio.to_thread(self._bookmarks.save_positions, self._reader, positions)
        self._unsaved -= unsaved

    # --- telling ---

    async def _tell(self, lines: Sequence[Told]) -> None:
        """Hand in what is news, in the order it happened."""
        agents: dict[str, Agent | None] = {}
        telling = []
        for at, path, raw, line in lines:
            if line.session_id not in agents:
                agents[line.session_id] = self._known.of_session(line.session_id)
            envelope = await self._sealer.line(at, raw, line)
            agent = agents[line.session_id]
            if not self._is_worth_telling(path, line, envelope, agent):
                continue
            if agent is None:
                agents[line.session_id] = await self._hand_in(envelope, line.session_id)
            else:
                telling.append(self._hand_in(envelope, line.session_id))
                agents[line.session_id] = evolve(agent, decode(envelope)).agent
        await asyncio.gather(*telling)

    async def _hand_in(self, envelope: Envelope, session_id: str) -> Agent:
        agent = await self._submit(envelope, None)
        if agent.pid is None and agent.last_hook_at == 0 and agent.ended_at is None:
            self._unattended[session_id] = (agent.id, max(envelope.fired_at, agent.last_active_at))
        return agent

    def _is_worth_telling(self, path: str, line: Line, envelope: Envelope, agent: Agent | None) -> bool:
        if agent is None:
            return line.subagent_id is None and any(isinstance(fact, _INTRODUCTIONS) for fact in line.facts)
        if is_older_than_recent_turns(agent, envelope.fired_at):
            return False
        if self._has_used_more(path, line, agent):
            return True
        if is_repetition(line.facts) or all(isinstance(fact, facts.TurnClosed) for fact in line.facts):
            return is_new(agent, decode(envelope))
        return True

    def _has_used_more(self, path: str, line: Line, agent: Agent) -> bool:
        """Whether the context has filled, or emptied, by enough."""
        tokens = measured_tokens(line.facts)
        if tokens is None:
            return False
        changed = abs(tokens - self._tokens.get(path, 0)) >= USAGE_STEP * (agent.context_window or 200_000)
        if changed or not is_repetition(line.facts):
            self._tokens[path] = tokens
        return changed

    # --- sessions without a client ---

    async def _end_the_absent(self) -> None:
        """Sessions that only a transcript tells of, and that no client has open, are over."""
        now, patience = self._clock(), SILENT if self._has_registry() else RECENT
        for session_id, (agent_id, at) in list(self._unattended.items()):
            if self._client_of(session_id) is not None:
                del self._unattended[session_id]
            elif now - at >= patience:
                del self._unattended[session_id]
                await self._submit(self._sealer.gone(at), agent_id)
