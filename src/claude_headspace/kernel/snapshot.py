"""Where the replay of an agent begins when its older events are gone: the agent, and the rows it may still change.

An agent carries all that is needed to understand the next event. What later events may still change beside it are the
rows of what it carries: its session, its commands, its open waits and the turns it remembers. Those are kept with it;
all other rows of the pruned events go.
"""

from collections.abc import Iterable, Mapping
from typing import TypeVar

import msgspec

from claude_headspace.kernel.agent import Agent, Command, Session, Turn, Wait
from claude_headspace.kernel.correlate import Identity
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.evolve.change import Change

_Row = TypeVar("_Row")


class Snapshot(msgspec.Struct, kw_only=True):
    """An agent after its event `seq`, which was received at `at`."""

    agent: Agent
    seq: int
    at: Micros
    sessions: dict[str, Session] = {}
    commands: dict[str, Command] = {}
    turns: dict[str, Turn] = {}
    waits: dict[str, Wait] = {}
    identities: tuple[Identity, ...] = ()


class SnapshotBuilder:
    """Takes changes of one agent, and gives the snapshot after them."""

    def __init__(self, before: Snapshot | None = None) -> None:
        self.agent = before.agent if before else None
        self.sessions = dict(before.sessions) if before else {}
        self.commands = dict(before.commands) if before else {}
        self.turns = dict(before.turns) if before else {}
        self.waits = dict(before.waits) if before else {}

    def add(self, change: Change) -> None:
        """One more change."""
        self.agent = change.agent
        self.sessions.update({session.id: session for session in change.sessions})
        self.commands.update(change.commands)
        self.turns.update({turn.id: turn for turn in change.turns})
        self.waits.update(change.waits)
        for patch in change.patches:
            better = {name: getattr(patch, name) for name in ("command_id", "intent", "at", "timestamp_source")}
            if patch.id in self.turns:
                self.turns[patch.id] = msgspec.structs.replace(self.turns[patch.id], **better)

    def snapshot(self, seq: int, at: Micros, identities: Iterable[Identity]) -> Snapshot:
        """The agent as it is now, with the rows that it may still change."""
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
            identities=tuple(identities),
        )


def _only(rows: Mapping[str, _Row], ids: Iterable[str]) -> dict[str, _Row]:
    return {key: rows[key] for key in dict.fromkeys(ids) if key in rows}
