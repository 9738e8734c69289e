"""Import existing sessions, file by file (`headspace import`): from transcripts, or from the database of a client.

Imported events cause no notifications. A session that no client has open ends with its last line. An import can be
interrupted and repeated: the position in each file is stored, and a known line is recognised by its id. Of a session
that only hooks report while it runs, the part that they reported is not imported again.

Tool calls and the work of sub-agents are not imported.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from claude_headspace.errors import BadRequest
from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.inputs.watch.import_sources import import_source
from claude_headspace.inputs.watch.registries import SessionRegistry
from claude_headspace.inputs.watch.transcript_files import Chunk, ReadPosition
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Envelope, Micros
from claude_headspace.kernel.novelty import (
    counts_usage,
    is_older_than_recent_turns,
    is_repetition,
    was_reported_by_hooks,
)
from claude_headspace.ports import Position, PositionStore

Submit = Callable[[Envelope, str | None], Awaitable[tuple[Agent, bool]]]
"""Submits an envelope without announcing it; returns the agent afterwards, and whether the event was known."""


class ImportableFile(msgspec.Struct, frozen=True):
    """A transcript, its size, and how many bytes of it were imported."""

    path: str
    size: int
    done: int
    followed: bool = False
    """Whether the session is known already: its file was followed, or an agent has it."""


class ImportStore(PositionStore, Protocol):
    """Where the import finds positions and sessions."""

    def agent_by_session(self, session_id: str) -> Agent | None:
        """The agent that owns a session of the client."""


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
        config_dirs: Callable[[], Sequence[Path]],
        positions: ImportStore,
        submit: Submit,
        envelopes: EnvelopeBuilder,
        registry: SessionRegistry,
    ) -> None:
        self._source = import_source(envelopes.client, config_dirs)
        self._reader = envelopes.reader("import")
        self._follower = envelopes.reader("tail")
        self._clock = envelopes.clock
        self._store = positions
        self._submit = submit
        self._envelopes = envelopes
        self._registry = registry

    async def list_files(self) -> list[ImportableFile]:
        """The transcripts of sessions, oldest first."""
        return await asyncio.to_thread(self._list_files)

    def _list_files(self) -> list[ImportableFile]:
        known, followed = self._store.positions(self._reader), self._store.positions(self._follower)
        return [
            ImportableFile(
                path, size, min(known[path].offset, size) if path in known else 0, self._is_followed(path, followed)
            )
            for path, size in self._source.list()
        ]

    def _is_followed(self, path: str, followed: Mapping[str, Position]) -> bool:
        """Whether lines of a file were read while it was written, or hooks reported the session."""
        if path in followed and followed[path].at:
            return True
        return self._agent_of(path) is not None

    def _agent_of(self, path: str) -> Agent | None:
        """The agent of a session that is not followed in a file; None if there is none."""
        session_id = self._source.session_of(path)
        return self._store.agent_by_session(session_id) if session_id else None

    def has(self, path: str) -> bool:
        """Whether a path is one of these sessions."""
        return self._source.find(path) is not None

    async def import_file(self, path: str) -> ImportResult:
        """Import one file, from its stored position."""
        real = self._source.find(path)
        if real is None:
            raise unknown_transcript(path)
        stored = (await asyncio.to_thread(self._store.positions, self._reader)).get(path, Position(0, 0))
        tally, position = _Tally(), ReadPosition(path, stored.offset, stored.at)
        reported = await asyncio.to_thread(self._agent_of, path)
        while True:
            chunk = await self._read_chunk(real, position)
            await self._submit_lines(chunk, tally, reported)
            has_moved = chunk.offset != position.offset
            position = ReadPosition(path, chunk.offset, chunk.at, chunk.inode)
            saved = {path: Position(position.offset, position.at)}
            await asyncio.to_thread(self._store.save_positions, self._reader, saved)
            if not (chunk.has_more and has_moved):
                break
        await self._end_sessions(tally, position.at)
        return ImportResult(path, tally.events, tally.known, sorted({agent.id for agent in tally.agents.values()}))

    async def _read_chunk(self, real: str, position: ReadPosition) -> Chunk:
        try:
            return await asyncio.to_thread(self._source.read, real, position, self._clock())
        except OSError as error:
            raise BadRequest(
                "unreadable", f"{real[:500]} cannot be read: {error}.", "Check its permissions."
            ) from error

    async def _submit_lines(self, chunk: Chunk, tally: "_Tally", reported: Agent | None) -> None:
        """Submit lines that hooks have not reported (`reported` is the agent that they reported).

        The first line of a session is stored first, so that the others find its agent.
        """
        later: list[tuple[str, Envelope]] = []
        lines = [each for each in chunk.lines if reported is None or not was_reported_by_hooks(reported, each[0])]
        for at, raw, line in lines:
            agent = tally.agents.get(line.session_id)
            is_unknown = line.anomaly is not None and agent is not None
            is_repeated = is_repetition(line.facts) and not counts_usage(line.facts) and not is_unknown
            if is_repeated or (agent is not None and is_older_than_recent_turns(agent, at)):
                continue
            envelope = await self._envelopes.line(at, raw, line, self._registry.find_client(line.session_id))
            if agent is None:
                tally.add(line.session_id, *await self._submit(envelope, None))
            else:
                later.append((line.session_id, envelope))
        outcomes = await asyncio.gather(*(self._submit(envelope, None) for _, envelope in later))
        for (session_id, _), outcome in zip(later, outcomes, strict=True):
            tally.add(session_id, *outcome)

    async def _end_sessions(self, tally: "_Tally", last_line_at: Micros) -> None:
        """End sessions that no client has open."""
        for session_id, agent in tally.agents.items():
            if agent.ended_at is None and agent.pid is None and self._registry.find_client(session_id) is None:
                await self._submit(self._envelopes.client_vanished(max(last_line_at, agent.last_active_at)), agent.id)


class TranscriptImports:
    """Imports the transcripts of all clients."""

    def __init__(self, imports: Iterable[TranscriptImport]) -> None:
        self._imports = list(imports)

    async def list_files(self) -> list[ImportableFile]:
        """The transcripts of sessions: client by client, the oldest first."""
        return [file for each in self._imports for file in await each.list_files()]

    async def import_file(self, path: str) -> ImportResult:
        """Import one file, from its stored position."""
        found = next((each for each in self._imports if each.has(path)), None)
        if found is None:
            raise unknown_transcript(path)
        return await found.import_file(path)


def unknown_transcript(path: str) -> BadRequest:
    """The error for a path that is not a transcript."""
    return BadRequest(
        "no_transcript",
        f"{path[:500]} is not a transcript in a known config dir.",
        "Install the hooks in its config dir, or add the config dir to the setting `config_dirs`.",
    )


class _Tally:
    """What an import has stored so far."""

    def __init__(self) -> None:
        self.events = 0
        self.known = 0
        self.agents: dict[str, Agent] = {}

    def add(self, session_id: str, agent: Agent, was_known: bool) -> None:
        self.agents[session_id] = agent
        self.known += was_known
        self.events += not was_known
