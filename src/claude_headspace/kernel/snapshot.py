"""Snapshots: where the replay of an agent starts after its older events were pruned.

An agent contains what is needed to process the next event. Later events can also change the rows of its session, its
commands, its open waits and its recent turns: the snapshot contains these rows, and all of its usage. All other rows
of pruned events are deleted.
"""

from collections.abc import Iterable, Mapping
from typing import TypeVar

import msgspec

from claude_headspace.kernel.agent import Agent, Command, Session, Turn, Wait
from claude_headspace.kernel.correlate import Identity
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.evolve.change import Change
from claude_headspace.kernel.usage import Bucket

_Row = TypeVar("_Row")


class Snapshot(msgspec.Struct, kw_only=True):
    """An agent after its event `seq`, which was received at `at`, with its rows."""

    agent: Agent
    seq: int
    at: Micros
    sessions: dict[str, Session] = {}
    commands: dict[str, Command] = {}
    turns: dict[str, Turn] = {}
    waits: dict[str, Wait] = {}
    usage: dict[str, Bucket] = {}
    """All of its usage: it is kept when the events are pruned."""
    identities: tuple[Identity, ...] = ()


class SnapshotBuilder:
    """Builds the snapshot of one agent from its changes."""

    def __init__(self, before: Snapshot | None = None) -> None:
        self.agent = before.agent if before else None
        self.sessions = dict(before.sessions) if before else {}
        self.commands = dict(before.commands) if before else {}
        self.turns = dict(before.turns) if before else {}
        self.waits = dict(before.waits) if before else {}
        self.usage = dict(before.usage) if before else {}

    def add(self, change: Change) -> None:
        """Add a change."""
        self.agent = change.agent
        self.sessions.update({session.id: session for session in change.sessions})
        self.commands.update(change.commands)
        self.turns.update({turn.id: turn for turn in change.turns})
        self.waits.update(change.waits)
        self.usage.update(change.usage)
        for patch in change.patches:
            better = {name: getattr(patch, name) for name in ("command_id", "intent", "at", "timestamp_source")}
            if patch.id in self.turns:
                self.turns[patch.id] = msgspec.structs.replace(self.turns[patch.id], **better)

    def snapshot(self, seq: int, at: Micros, identities: Iterable[Identity]) -> Snapshot:
        """The snapshot after the changes so far."""
        assert self.agent is not None
        agent = self.agent
        commands = (*([agent.command] if agent.command else []), *agent.past_commands)
        sessions = [agent.session.id] if agent.session else []
        turns = [entry.turn_id for entry in (*agent.recent_turns, *agent.queued_prompts)]
        return Snapshot(
            agent=agent,
            seq=seq,
            at=at,
            sessions=_only(self.sessions, [*sessions, *(command.session_id for command in commands)]),
            commands=_only(self.commands, [command.id for command in commands]),
            turns=_only(self.turns, [*turns, agent.final_text_turn_id]),
            waits=_only(self.waits, [wait.id for wait in agent.waits]),
            usage=self.usage,
            identities=tuple(identities),
        )


def _only(rows: Mapping[str, _Row], ids: Iterable[str]) -> dict[str, _Row]:
    return {key: rows[key] for key in dict.fromkeys(ids) if key in rows}
