"""The result of one event for one agent: the changed agent, and the rows to write.

The operations that the handlers of `evolve` are composed of: add a turn, move the command, open and close waits, end
calls. Each operation keeps the rules of its type, so that a handler cannot break them:
- A command moves only along the table of `state_machine`; a refused move changes nothing.
- A message becomes one turn, whichever source reports it.
- What has ended, by the time of the event, is not opened again.
"""

import hashlib
from collections.abc import Callable
from functools import lru_cache

import msgspec

from claude_headspace.kernel.agent import (
    UNANSWERED,
    Agent,
    AgentState,
    Answered,
    Command,
    FinishedCall,
    Outcome,
    RecentTurn,
    Session,
    Subagent,
    Trigger,
    Turn,
    Wait,
)
from claude_headspace.kernel.envelope import SECOND, Micros, Origin
from claude_headspace.kernel.facts import Meta, RemoteActionStep
from claude_headspace.kernel.state_machine import Actor, CommandState, Intent, validate_transition
from claude_headspace.kernel.usage import Bucket
from claude_headspace.kernel.wait.grants import MAX_GRANTS, Grant
from claude_headspace.kernel.wait.request import Ask

DUPLICATE_WINDOW: Micros = SECOND
"""Equal events within this time are one event: a hook that is registered twice fires twice."""
SOURCE_TOLERANCE: Micros = 5 * SECOND
"""Hook and transcript report the same message with times that differ by less than this."""

MAX_RECENT = 8
"""How many recent turns, sessions and queued prompts an agent keeps."""
MAX_CALLS = 32
"""How many calls, sub-agents and background tasks an agent keeps."""
MAX_PAST_COMMANDS = 2
COMMAND_PREVIEW = 240

replace = msgspec.structs.replace


class TurnPatch(msgspec.Struct, frozen=True, kw_only=True):
    """A correction of a turn that is stored already."""

    id: str
    agent_id: str
    project_id: str
    command_id: str
    intent: Intent
    at: Micros
    timestamp_source: str


class Change(msgspec.Struct):
    """The result of one event. `agent` is the copy that is being changed; the lists are rows to write."""

    agent: Agent
    meta: Meta
    sessions: list[Session] = []
    commands: dict[str, Command] = {}
    turns: list[Turn] = []
    patches: list[TurnPatch] = []
    waits: dict[str, Wait] = {}
    usage: dict[str, Bucket] = {}
    remote_action: RemoteActionStep | None = None
    anomalies: list[str] = []
    why: str = ""
    inferred: bool = False
    has_new_evidence: bool = False
    """Whether the evidence changes even if the state stays the same."""
    state_changed: bool = False
    before: tuple[AgentState, str | None] = (AgentState.STARTING, None)


# --- commands ---------------------------------------------------------------------------------------------------------


def open_command_of(agent: Agent) -> Command | None:
    """The current command, if it is not complete."""
    command = agent.command
    return None if command is None or command.state is CommandState.COMPLETE else command


def start_command(change: Change, trigger: Trigger, text: str, at: Micros, prompt_id: str | None) -> Command:
    """Start a command. The previous one becomes a past command."""
    agent = change.agent
    if agent.command is not None:
        add_past_command(change, agent.command)
    agent.turn_ids = ()
    command = Command(
        id=f"{change.meta.event_id}-c{len(change.commands)}",
        agent_id=agent.id,
        session_id=agent.session.id if agent.session else "",
        state=validate_transition(CommandState.IDLE, Actor.USER, Intent.COMMAND).to_state,
        trigger=trigger,
        started_at=at,
        text=text[:COMMAND_PREVIEW],
        prompt_id=prompt_id,
    )
    agent.command = change.commands[command.id] = command
    return command


def commands_newest_first(agent: Agent) -> tuple[Command, ...]:
    """The current command and the past commands that are kept."""
    return (*([agent.command] if agent.command else []), *reversed(agent.past_commands))


def command_at(agent: Agent, at: Micros) -> Command | None:
    """The newest command that started at or before a time, among those that are kept."""
    begun = [command for command in commands_newest_first(agent) if command.started_at <= at]
    return max(begun, key=lambda command: command.started_at, default=None)


def add_past_command(change: Change, command: Command) -> None:
    """Keep a command for events about it that arrive late."""
    change.agent.past_commands = (*change.agent.past_commands[1 - MAX_PAST_COMMANDS :], command)


def store_command(change: Change, command: Command) -> None:
    """Store a new value of the current command or of a past one."""
    agent = change.agent
    change.commands[command.id] = command
    if agent.command is not None and agent.command.id == command.id:
        agent.command = command
    else:
        agent.past_commands = tuple(command if past.id == command.id else past for past in agent.past_commands)


def move_command(change: Change, actor: Actor, intent: Intent) -> None:
    """Move the current command along the table of transitions. No-op if the table refuses."""
    command = change.agent.command
    if command is not None:
        result = validate_transition(command.state, actor, intent)
        if result.to_state is not command.state:
            store_command(change, replace(command, state=result.to_state))


def close_command(change: Change, at: Micros, outcome: Outcome, intent: Intent = Intent.END_OF_TASK) -> None:
    """End the current command."""
    move_command(change, Actor.AGENT, Intent.PROGRESS)
    if (command := open_command_of(change.agent)) is not None:
        result = validate_transition(command.state, Actor.AGENT, intent)
        store_command(change, replace(command, state=result.to_state, ended_at=at, outcome=outcome))


# --- turns ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def fingerprint(text: str) -> str:
    """A hash that recognises a text when another source reports it."""
    return hashlib.blake2b(text.strip().encode("utf-8", "replace"), digest_size=8).hexdigest()


def add_turn(
    change: Change, command: Command, actor: Actor, intent: Intent, text: str, *, reason: str = ""
) -> RecentTurn | None:
    """Add a turn. A message that is recorded already only gets a better intent, which its end may show."""
    if not text.strip():
        return None
    if (known := find_recorded_turn(change, actor, text)) is not None:
        if known.from_transcript and intent not in (known.intent, Intent.PROGRESS):
            correct_turn(change, known, intent=intent)
        return None
    return _new_turn(change, command, actor, intent, text, reason)


def _new_turn(change: Change, command: Command, actor: Actor, intent: Intent, text: str, reason: str) -> RecentTurn:
    agent, meta = change.agent, change.meta
    from_transcript = meta.origin is Origin.TRANSCRIPT
    entry = RecentTurn(
        turn_id=f"{meta.event_id}-t{len(change.turns)}",
        command_id=command.id,
        actor=actor,
        intent=intent,
        fingerprint=fingerprint(text),
        at=meta.at,
        prompt_id=meta.prompt_id,
        from_transcript=from_transcript,
    )
    agent.recent_turns = (*agent.recent_turns[1 - MAX_RECENT :], entry)
    change.turns.append(
        Turn(
            id=entry.turn_id,
            agent_id=agent.id,
            project_id=agent.project.id,
            command_id=command.id,
            actor=actor,
            intent=intent,
            text=text.replace("\0", "\ufffd"),
            at=meta.at,
            timestamp_source=_source(from_transcript),
            reason=reason,
        )
    )
    return entry


def find_recorded_turn(change: Change, actor: Actor, text: str) -> RecentTurn | None:
    """The recorded turn of the same message: the final text of the turn that is being closed, or a recent one."""
    meta, wanted = change.meta, fingerprint(text)
    from_transcript = meta.origin is Origin.TRANSCRIPT
    final = change.agent.final_text_turn_id
    for entry in sorted(change.agent.recent_turns, key=lambda each: each.turn_id != final):
        if entry.fingerprint == wanted and entry.actor is actor and is_compatible(entry.prompt_id, meta.prompt_id):
            is_same_source = entry.from_transcript is from_transcript
            if is_same_source and _is_of_earlier_turn(change.agent, entry, meta):
                continue
            tolerance = DUPLICATE_WINDOW if is_same_source else SOURCE_TOLERANCE
            if abs(entry.at - meta.at) < tolerance or entry.turn_id == final:
                return entry
    return None


def _is_of_earlier_turn(agent: Agent, entry: RecentTurn, meta: Meta) -> bool:
    """Whether a turn ended or a command started between a recorded message and this event. Equal ids are one turn."""
    if entry.prompt_id is not None and entry.prompt_id == meta.prompt_id:
        return False
    started_at = agent.command.started_at if agent.command else 0
    return any(entry.at < boundary < meta.at for boundary in (agent.turn_ended_at, started_at))


def has_later_text(agent: Agent, command: Command, at: Micros) -> bool:
    """Whether the agent wrote more in the same command after a time."""
    return any(
        entry.actor is Actor.AGENT and entry.command_id == command.id and entry.at > at for entry in agent.recent_turns
    )


def is_compatible(one: str | None, other: str | None) -> bool:
    """Whether two ids of a client's turn can be the same: equal, or one of them unknown."""
    return one is None or other is None or one == other


def correct_turn(change: Change, entry: RecentTurn, **known: object) -> None:
    """Correct the command, intent or time of a recorded turn."""
    agent = change.agent
    newest = next((turn for turn in agent.recent_turns if turn.turn_id == entry.turn_id), entry)
    better: RecentTurn = replace(newest, **known)
    agent.recent_turns = tuple(better if turn.turn_id == entry.turn_id else turn for turn in agent.recent_turns)
    change.patches.append(
        TurnPatch(
            id=better.turn_id,
            agent_id=agent.id,
            project_id=agent.project.id,
            command_id=better.command_id,
            intent=better.intent,
            at=better.at,
            timestamp_source=_source(better.from_transcript),
        )
    )


def _source(from_transcript: bool) -> str:
    return "jsonl" if from_transcript else "server"


# --- waits ------------------------------------------------------------------------------------------------------------


def open_wait(change: Change, ask: Ask, at: Micros, **details: object) -> None:
    """Open a wait. The command then awaits input."""
    store_wait(change, new_wait(change, ask, at, **details))
    move_command(change, Actor.AGENT, Intent.QUESTION)


def new_wait(change: Change, ask: Ask, at: Micros, **details: object) -> Wait:
    """A wait that is not open yet. It has the id of this event, which contains the request."""
    return Wait(
        id=f"{change.meta.event_id}-w{len(change.waits)}",
        agent_id=change.agent.id,
        kind=ask.kind,
        text=ask.text,
        questions=ask.questions,
        form=ask.form,
        opened_at=at,
        **details,  # type: ignore[arg-type]  # keyword fields of Wait
    )


def store_wait(change: Change, wait: Wait) -> None:
    """Store a new value of an open wait. Waits are sorted by the time they opened."""
    change.waits[wait.id] = wait
    others = (other for other in change.agent.waits if other.id != wait.id)
    change.agent.waits = tuple(sorted((*others, wait), key=lambda each: each.opened_at))


def close_waits(change: Change, which: Callable[[Wait], bool], resolution: str) -> bool:
    """Close the waits that `which` selects. When none is left, the command continues. Whether any was closed."""
    agent = change.agent
    closing = [wait for wait in agent.waits if which(wait)]
    if not closing:
        return False
    for wait in closing:
        change.waits[wait.id] = replace(
            wait, closed_at=change.meta.at, resolution=_resolved(wait, resolution), held_until=0
        )
        if wait.answered is not None and wait.answered.grants and resolution not in UNANSWERED:
            _record_grants(agent, wait.answered)
    agent.waits = tuple(wait for wait in agent.waits if wait not in closing)
    if not agent.waits:
        move_command(change, Actor.USER, Intent.ANSWER)
    return True


def _record_grants(agent: Agent, answered: Answered) -> None:
    """Record what the client was granted with an answer that it applied."""
    given = (
        Grant(each.kind, each.words, each.destination, answered.by, answered.via, answered.at)
        for each in answered.grants
    )
    agent.grants = (*agent.grants, *given)[-MAX_GRANTS:]


def _resolved(wait: Wait, resolution: str) -> str:
    """The resolution: the answer given through Headspace, unless the dialog was dismissed in the terminal."""
    if wait.answered is None or resolution in UNANSWERED:
        return resolution
    return f"{wait.answered.words} by {wait.answered.by}"


# --- calls and sub-agents ---------------------------------------------------------------------------------------------


def end_call(change: Change, over: FinishedCall) -> None:
    """Remove an open call and add it to the finished calls."""
    agent = change.agent
    finished, count = agent.finished_calls, len(agent.calls)
    agent.calls = tuple(call for call in agent.calls if call.id != over.id or call.started_at > over.at)
    if len(agent.calls) == count:
        finished = tuple(call for call in finished if call.id != over.id)
    agent.finished_calls = (*finished[1 - MAX_CALLS :], over)


def end_thread(change: Change, subagent_id: str | None, at: Micros, resolution: str) -> None:
    """End all calls and dialogs of a thread that were open at `at`. A question in text stays open."""
    agent = change.agent
    if agent.calls:
        agent.calls = tuple(call for call in agent.calls if call.subagent_id != subagent_id or call.started_at > at)
    if agent.finished_calls:
        kept = (call for call in agent.finished_calls if call.subagent_id != subagent_id or call.at > at)
        agent.finished_calls = tuple(kept)
    if agent.waits:
        close_waits(
            change,
            lambda wait: wait.subagent_id == subagent_id and wait.opened_at <= at and not wait.asked_in_text,
            resolution,
        )
    if subagent_id is None:
        agent.step_ended_at = max(agent.step_ended_at, at)


def find_subagent(agent: Agent, subagent_id: str) -> Subagent | None:
    """The sub-agent with that id, running or ended."""
    return next((sub for sub in agent.subagents if sub.id == subagent_id), None)


def known_subagent(agent: Agent, subagent_id: str, at: Micros) -> Subagent:
    """The sub-agent with that id, or a new one. It has ended if it was last seen before the list of running tasks."""
    sub = find_subagent(agent, subagent_id) or Subagent(id=subagent_id, started_at=at)
    if max(at, sub.last_seen_at) < agent.background_listed_at:
        return replace(sub, stopped_at=max(sub.stopped_at, agent.background_listed_at))
    return sub


def store_subagent(change: Change, sub: Subagent) -> None:
    """Store a new value of a sub-agent. Above the limit, the oldest ended one is removed."""
    agent = change.agent
    others = [other for other in agent.subagents if other.id != sub.id]
    if len(others) >= MAX_CALLS:
        others.remove(next((other for other in others if not other.is_running), others[0]))
    agent.subagents = (*others, sub)


def stop_subagent(change: Change, sub: Subagent, at: Micros) -> None:
    """End a sub-agent with its open calls and dialogs."""
    store_subagent(change, replace(sub, stopped_at=max(sub.stopped_at, at)))
    end_thread(change, sub.id, at, "the sub-agent ended")
