"""Follow the transcripts that clients write, line by line, for what no hook reports.

Where there are hooks, most lines repeat them and are not stored. Without hooks the transcript is the only source. A
line reaches the disk about 200 ms after the fact, and Headspace 100 ms after that.

Rules
- Only files below the client's transcript directories are read, whatever path a payload names.
- Every line is submitted under its own id, so reading it again is harmless. How far each file was read is stored.
- Lines older than the first read of a config dir are history and left to `headspace import`, except for
  sessions that are still open.
- A session without a client that is known from its transcript alone has ended with its last line.
- The first lines of a session wait for its first hook while an agent that `headspace run` registered has no session, or
  if no registry names the process: only the hook tells whether it is the session of a known agent.
- Lines written while the daemon was down are submitted together with the spooled hooks, in the order of their times.
  Otherwise hooks and lines of a long session would not be recognised as the same.
"""

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

import structlog

from claude_headspace.background import Loop
from claude_headspace.clients import catalog
from claude_headspace.clients.decode import decode
from claude_headspace.clients.transcript_line import Line
from claude_headspace.clients.transcripts import TRANSCRIPT_FILES
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.inputs.watch.files import FileWatch, resolve_below
from claude_headspace.inputs.watch.registries import SessionRegistry
from claude_headspace.inputs.watch.transcript_files import (
    Chunk,
    ReadPosition,
    find_transcripts_in,
    list_transcripts,
    read_chunk,
)
from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros
from claude_headspace.kernel.evolve import evolve
from claude_headspace.kernel.novelty import is_new, is_older_than_recent_turns, is_repetition, measured_tokens
from claude_headspace.ports import Position, PositionStore

log = structlog.get_logger(__name__)

Submit = Callable[[Envelope, str | None], Awaitable[Agent]]
"""Submits an envelope, to a given agent if one is named."""

TimedLine = tuple[Micros, str, bytes, Line]
"""Time, file, raw line, and decoded line."""

FIRST_HOOK_SECONDS = 10.0
"""How long the first lines of a session wait for its first hook."""
PROCESS_HOOK_SECONDS = 2.0
"""How long they wait if only a hook can tell which process opened the session."""
HOOK_CHECK_SECONDS = 0.2
SAVE_SECONDS = 5.0
RETRY_SECONDS = 2.0
RECENTLY_WRITTEN: Micros = 600 * SECOND
"""A session whose transcript was written this recently may still be open, even without a registry."""
ABSENT_FROM_REGISTRY: Micros = 30 * SECOND
"""If there is a registry, a session that is not in it and wrote nothing for this long has ended."""
MAX_BACKLOG_BYTES = 64 * 1024 * 1024
"""How much is read before the spooled hooks are processed; the rest is read afterwards."""
USAGE_STEP = 0.01
"""The share of the context window by which usage must change to be stored on its own."""

_PROVE_SESSION = (facts.UserWrote, facts.AgentWrote, facts.PromptSubmitted, facts.ToolStarted, facts.TurnFailed)
"""Only these facts prove that a session exists."""


class TranscriptFollower(Loop):
    """Follows the transcripts of one client in all its known config dirs."""

    def __init__(
        self,
        config_dirs: Callable[[], Sequence[Path]],
        agents: AgentCache,
        positions: PositionStore,
        submit: Submit,
        envelopes: EnvelopeBuilder,
        registry: SessionRegistry,
    ) -> None:
        super().__init__()
        self._files = TRANSCRIPT_FILES[envelopes.client]
        self._reader = envelopes.reader("tail")
        self._hooks_name_process = envelopes.client != catalog.DEFAULT
        self._clock = envelopes.clock
        self._config_dirs = config_dirs
        self._agents = agents
        self._store = positions
        self._submit = submit
        self._envelopes = envelopes
        self._registry = registry
        self._read_positions: dict[str, ReadPosition] = {}
        self._tokens: dict[str, int] = {}
        self._without_client: dict[str, tuple[str, Micros]] = {}
        self._pending: dict[str, None] = {}
        self._backlog: deque[TimedLine] = deque()
        self._submitting = asyncio.Lock()
        self._find_all_needed = False
        self._new_directories: set[str] = set()
        self._waiting_since: dict[str, Micros] = {}
        self._unsaved: set[str] = set()
        self._wake = asyncio.Event()
        self._caught_up = asyncio.Event()
        self.watch = FileWatch(self._roots, self._paths_changed, recursive=True)
        self.refused: set[str] = set()

    @property
    def file_count(self) -> int:
        """The number of known files. The positions also contain the roots."""
        return sum(path.endswith(".jsonl") for path in self._read_positions)

    def start(self) -> None:
        """Start following."""
        self._find_all_needed = True
        super().start()
        self.watch.start()

    async def stop(self) -> None:
        """Stop following, and save how far each file was read."""
        await self.watch.stop()
        await super().stop()
        await self._save_positions()

    async def read_backlog(self) -> None:
        """Read what was written while the daemon was down, up to a limit. `submit_backlog_until` submits it."""
        await self._load_positions()
        await self._find_all()
        size = 0
        while self._pending and size < MAX_BACKLOG_BYTES:
            path = next(iter(self._pending))
            before = self._read_positions.get(path)
            chunk = await self._read_chunk(path)
            if chunk is None or (before is not None and chunk.offset == before.offset) or not chunk.has_more:
                del self._pending[path]
            if chunk is not None:
                size += chunk.offset - (before.offset if before else 0)
                self._backlog += [(at, path, raw, line) for at, raw, line in chunk.lines]
        self._backlog = deque(sorted(self._backlog, key=lambda line: line[0]))

    async def submit_backlog_until(self, at: Micros) -> None:
        """Submit the part of the backlog that was written before a time."""
        if not self._backlog:
            return
        async with self._submitting:
            due = [line for line in self._backlog if line[0] < at]
            await self._submit_lines(due)
            for _ in due:
                self._backlog.popleft()

    async def caught_up(self) -> None:
        """Wait until everything that existed at the start has been submitted."""
        await self._caught_up.wait()

    async def check(self) -> None:
        """Check the files of running agents, in case a change was not reported, and end absent sessions."""
        paths = set(self._agents.transcript_paths(self._envelopes.client))
        grown, refused = await asyncio.to_thread(self._find_grown, paths)
        for path in refused:
            self._report_outside(path)
        if grown:
            self._pending |= dict.fromkeys(grown)
            self._wake.set()
        await self._end_absent_sessions()

    def _find_grown(self, paths: Iterable[str]) -> tuple[list[str], list[str]]:
        """The files that have grown, and files outside the known config dirs."""
        grown, refused = list[str](), list[str]()
        for path in paths:
            if self._has_grown(path) or path not in self._read_positions:
                (refused if resolve_below(path, self._roots()) is None else grown).append(path)
        return grown, refused

    def _roots(self) -> list[Path]:
        return [root for config_dir in self._config_dirs() for root in self._files.roots(config_dir)]

    def _report_outside(self, path: str) -> None:
        if path not in self.refused and len(self.refused) < 100:
            self.refused.add(path)
            log.warning("transcript_outside_known_config_dirs", path=path[:500])

    # --- files to read ---

    def _paths_changed(self, paths: set[str]) -> None:
        if not paths:
            self._find_all_needed = True
        for path in paths:
            if not path.endswith(".jsonl"):
                self._new_directories.add(path)
            elif any(self._files.is_transcript(path, root) for root in self._roots()):
                self._pending[path] = None
        self._wake.set()

    async def _find_in_new_directories(self) -> None:
        """Find files that were created in a new directory before it was watched."""
        directories, self._new_directories = self._new_directories, set()
        for path in await asyncio.to_thread(find_transcripts_in, self._files, directories, self._roots()):
            self._pending[path] = None

    def _has_grown(self, path: str) -> bool:
        position = self._read_positions.get(path)
        try:
            return Path(path).stat().st_size != (position.offset if position else 0)
        except OSError:
            return False

    async def _find_all(self) -> None:
        """Find every file that has changed. On the first read of a config dir, ended sessions are skipped."""
        roots = self._roots()
        new = [root for root in roots if str(root) not in self._read_positions]
        for path, status, end in await asyncio.to_thread(list_transcripts, self._files, roots):
            position = self._read_positions.get(path)
            is_first_read = position is None and any(Path(path).is_relative_to(root) for root in new)
            if is_first_read and not self._is_open(path, status):
                self._set_position(ReadPosition(path, end, inode=status.st_ino))
            elif position is None or position.offset != status.st_size:
                self._pending[path] = None
        for root in new:
            self._set_position(ReadPosition(str(root), at=self._clock()))

    def _set_position(self, position: ReadPosition) -> None:
        self._read_positions[position.path] = position
        self._unsaved.add(position.path)

    def _is_open(self, path: str, status: os.stat_result) -> bool:
        if self._registry.find_client(self._files.session_of(path)) is not None:
            return True
        return self._clock() - round(status.st_mtime * SECOND) < RECENTLY_WRITTEN

    # --- reading ---

    async def _load_positions(self) -> None:
        stored = await asyncio.to_thread(self._store.positions, self._reader)
        loaded = {path: ReadPosition(path, position.offset, position.at) for path, position in stored.items()}
        self._read_positions = loaded | self._read_positions

    async def _run(self) -> None:
        await self._load_positions()
        while True:
            try:
                await self.submit_backlog_until(self._clock() + SECOND)
                await self._read_pending()
                self.failure = None
                await self._pause()
            except Exception as error:  # the positions are unchanged: the next round reads again
                self.failure = str(error)
                log.exception("transcripts_read_failed")
                await asyncio.sleep(RETRY_SECONDS)

    async def _pause(self) -> None:
        """Wait until there is something to read. Save positions if that takes a while."""
        if not self._unsaved:
            await self._wake.wait()
        elif not self._wake.is_set():
            try:
                async with asyncio.timeout(SAVE_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                await self._save_positions()
        self._wake.clear()

    async def _read_pending(self) -> None:
        if self._find_all_needed:
            self._find_all_needed = False
            await self._find_all()
        if self._new_directories:
            await self._find_in_new_directories()
        while self._pending:
            await self._read_next(next(iter(self._pending)))
        self._caught_up.set()

    async def _read_next(self, path: str) -> None:
        """Read a chunk of a pending file. A change that is reported meanwhile makes the file pending again."""
        del self._pending[path]
        try:
            more = await self._read(path)
        except BaseException:
            self._pending[path] = None
            raise
        if more:
            self._pending[path] = None

    async def _read(self, path: str) -> bool:
        """Read and submit a chunk of a file. Returns whether there is more to read now."""
        if self._awaits_hook(path):
            asyncio.get_running_loop().call_later(HOOK_CHECK_SECONDS, self._paths_changed, {path})
            return False
        before = self._read_positions.get(path) or ReadPosition(path)
        chunk = await self._read_chunk(path)
        if chunk is None:
            return False
        try:
            await self._submit_lines([(at, path, raw, line) for at, raw, line in chunk.lines])
        except BaseException:
            self._read_positions[path] = before
            raise
        return chunk.has_more and chunk.offset != before.offset

    def _awaits_hook(self, path: str) -> bool:
        """Whether the session of a file is new, and its first hook may still connect it with a known agent."""
        session = self._files.session_of(path)
        is_new = bool(session) and path not in self._read_positions and self._agents.find_by_session(session) is None
        now, longest = self._clock(), self._longest_wait() if is_new else 0.0
        if not longest:
            self._waiting_since.pop(path, None)
            return False
        return now - self._waiting_since.setdefault(path, now) < longest * SECOND

    def _longest_wait(self) -> float:
        """How long a new session waits for its first hook: longer if an agent has no session yet."""
        if next(self._agents.awaited(self._envelopes.client), None) is not None:
            return FIRST_HOOK_SECONDS
        is_new_file = self._hooks_name_process and self._caught_up.is_set() and not self._registry.exists()
        return PROCESS_HOOK_SECONDS if is_new_file else 0.0

    async def _read_chunk(self, path: str) -> Chunk | None:
        """Read the next chunk of a file and advance its position. None if it may not or cannot be read."""
        real = resolve_below(path, self._roots())
        if real is None:
            self._report_outside(path)
            return None
        try:
            position = self._read_positions.get(path) or ReadPosition(path)
            chunk = await asyncio.to_thread(read_chunk, self._files, real, position, self._clock())
        except OSError:
            return None
        self._set_position(ReadPosition(path, chunk.offset, chunk.at, chunk.inode))
        return chunk

    async def _save_positions(self) -> None:
        """Save the positions, unless lines of the backlog are not submitted yet."""
        if self._backlog or not self._unsaved:
            return
        unsaved = set(self._unsaved)
        positions = {
            path: Position(self._read_positions[path].offset, self._read_positions[path].at) for path in unsaved
        }
        await asyncio.to_thread(self._store.save_positions, self._reader, positions)
        self._unsaved -= unsaved

    # --- submitting ---

    async def _submit_lines(self, lines: Sequence[TimedLine]) -> None:
        """Submit the lines that are new, in their order."""
        agents: dict[str, Agent | None] = {}
        submissions = []
        for at, path, raw, line in lines:
            if line.session_id not in agents:
                agents[line.session_id] = self._agents.find_by_session(line.session_id)
            envelope = await self._envelopes.line(at, raw, line, self._registry.find_client(line.session_id))
            agent = agents[line.session_id]
            if not self._is_worth_storing(path, line, envelope, agent):
                continue
            if agent is None:
                agents[line.session_id] = await self._submit_line(envelope, line.session_id)
            else:
                submissions.append(self._submit_line(envelope, line.session_id))
                agents[line.session_id] = evolve(agent, decode(envelope)).agent
        await asyncio.gather(*submissions)

    async def _submit_line(self, envelope: Envelope, session_id: str) -> Agent:
        agent = await self._submit(envelope, None)
        if agent.pid is None and agent.last_hook_at == 0 and agent.ended_at is None:
            self._without_client[session_id] = (agent.id, max(envelope.fired_at, agent.last_active_at))
        return agent

    def _is_worth_storing(self, path: str, line: Line, envelope: Envelope, agent: Agent | None) -> bool:
        if agent is None:
            return line.subagent_id is None and any(isinstance(fact, _PROVE_SESSION) for fact in line.facts)
        if is_older_than_recent_turns(agent, envelope.fired_at):
            return False
        if line.anomaly is not None:
            return True
        if self._has_used_more(path, line, agent):
            return True
        if is_repetition(line.facts) or all(isinstance(fact, facts.TurnClosed) for fact in line.facts):
            return is_new(agent, decode(envelope))
        return True

    def _has_used_more(self, path: str, line: Line, agent: Agent) -> bool:
        """Whether context usage has changed enough to be stored."""
        tokens = measured_tokens(line.facts)
        if tokens is None:
            return False
        changed = abs(tokens - self._tokens.get(path, 0)) >= USAGE_STEP * (agent.context_window or 200_000)
        if changed or not is_repetition(line.facts):
            self._tokens[path] = tokens
        return changed

    # --- sessions without a client ---

    async def _end_absent_sessions(self) -> None:
        """End sessions that are only known from a transcript and that no client has open."""
        now, max_silence = self._clock(), ABSENT_FROM_REGISTRY if self._registry.exists() else RECENTLY_WRITTEN
        for session_id, (agent_id, at) in list(self._without_client.items()):
            if self._registry.find_client(session_id) is not None:
                del self._without_client[session_id]
            elif now - at >= max_silence:
                del self._without_client[session_id]
                await self._submit(self._envelopes.client_vanished(at), agent_id)
