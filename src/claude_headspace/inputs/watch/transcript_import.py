"""Import existing transcripts, file by file (`headspace import`).

Imported events are not announced. Sessions that no client has open end at the time of their last line. An import can be
interrupted and repeated: how far each file was read is stored, and a known line is recognised by its own id.

The course of tool calls and the work of sub-agents is left out.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec

from claude_headspace.errors import BadRequest
from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.inputs.watch.files import resolve_below
from claude_headspace.inputs.watch.transcript_files import (
    Chunk,
    ReadPosition,
    read_chunk,
)
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Envelope, Observations
from claude_headspace.kernel.novelty import is_older_than_recent_turns, is_repetition
from claude_headspace.ports import Clock, Position, PositionStore

Submit = Callable[[Envelope, str | None], Awaitable[tuple[Agent, bool]]]
"""Submits an envelope without announcing it; returns the agent afterwards, and whether the event was known."""


class ImportableFile(msgspec.Struct, frozen=True):
    """A transcript, and how much of it was imported, in bytes."""

    path: str
    size: int
    done: int


class ImportResult(msgspec.Struct, frozen=True):
    """The result of importing a file."""

    path: str
    events: int
    """Lines that were stored."""
    known: int
    """Lines that were stored before."""
    agents: list[str]


class TranscriptImport:
    """Imports transcripts."""

    def __init__(
        self,
        host: str,
        clock: Clock,
        config_dirs: Callable[[], Sequence[Path]],
        bookmarks: PositionStore,
        submit: Submit,
        sealer: EnvelopeBuilder,
        client_of: Callable[[str], Observations | None],
    ) -> None:
        self._reader = f"import:{host}"
        self._clock = clock
        self._config_dirs = config_dirs
        self._store = bookmarks
        self._submit = submit
        self._envelopes = sealer
        self._layout = sealer.client.transcripts
        self._client_of = client_of

    async def files(self) -> list[ImportableFile]:
        """The transcripts of sessions, the oldest first."""
        return await asyncio.to_thread(self._files)

    def _files(self) -> list[ImportableFile]:
        known = self._store.positions(self._reader)
        found = self._layout.find(self._roots())
        sessions = [(path, stat) for path, stat in found if not self._layout.is_subagent(path)]
        return [
            ImportableFile(path, stat.st_size, min(known[path].offset, stat.st_size) if path in known else 0)
            for path, stat in sessions
        ]

    def _roots(self) -> list[Path]:
        return [place / self._layout.directory for place in self._config_dirs()]

    async def import_file(self, path: str) -> ImportResult:
        """Import one file, from where reading stopped."""
        real = resolve_below(path, self._roots())
        if real is None or not any(self._layout.is_transcript(path, root) for root in self._roots()):
            raise BadRequest(
                "no_transcript",
                f"{path[:500]} is no transcript below a known config dir.",
                "Install the hooks in its config dir, or name that in the setting `config_dirs`.",
            )
        known = (await asyncio.to_thread(self._store.positions, self._reader)).get(path, Position(0, 0))
        tally, reading = _Tally(), ReadPosition(path, known.offset, known.at)
        while True:
            piece = await self._read_chunk(real, reading)
            await self._submit_lines(piece, tally)
            moved, reading = piece.offset != reading.offset, ReadPosition(path, piece.offset, piece.at, piece.inode)
            position = {path: Position(reading.offset, reading.at)}
            await asyncio.to_thread(self._store.save_positions, self._reader, position)
            if not (piece.has_more and moved):
                break
        await self._end_sessions(tally, reading)
        return ImportResult(path, tally.events, tally.known, sorted({agent.id for agent in tally.agents.values()}))

    async def _read_chunk(self, real: str, reading: ReadPosition) -> Chunk:
        try:
            return await asyncio.to_thread(read_chunk, self._layout, real, reading, self._clock())
        except OSError as error:
            raise BadRequest(
                "unreadable", f"{real[:500]} cannot be read: {error}.", "Check its permissions."
            ) from error

    async def _submit_lines(self, piece: Chunk, tally: "_Tally") -> None:
        """Submit lines. The first line of a session goes first, so that all others find its agent."""
        waiting: list[tuple[str, Envelope]] = []
        for at, raw, line in piece.lines:
            agent = tally.agents.get(line.session_id)
            if is_repetition(line.facts) or (agent is not None and is_older_than_recent_turns(agent, at)):
                continue
            envelope = await self._envelopes.line(at, raw, line)
            if agent is None:
                tally.add(line.session_id, *await self._submit(envelope, None))
            else:
                waiting.append((line.session_id, envelope))
        told = await asyncio.gather(*(self._submit(envelope, None) for _, envelope in waiting))
        for (session_id, _), outcome in zip(waiting, told, strict=True):
            tally.add(session_id, *outcome)

    async def _end_sessions(self, tally: "_Tally", reading: ReadPosition) -> None:
        """End sessions that no client has open."""
        for session_id, agent in tally.agents.items():
            if agent.ended_at is None and agent.pid is None and self._client_of(session_id) is None:
                await self._submit(self._envelopes.gone(max(reading.at, agent.last_active_at)), agent.id)


class _Tally:
    def __init__(self) -> None:
        self.events = 0
        self.known = 0
        self.agents: dict[str, Agent] = {}

    def add(self, session_id: str, agent: Agent, was_known: bool) -> None:
        self.agents[session_id] = agent
        self.known += was_known
        self.events += not was_known
