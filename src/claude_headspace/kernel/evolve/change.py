"""What one event does to one agent: the agent afterwards, and the rows that came of it.

These are the moves that `evolve` composes: say a turn, move the command, open and close waits, end calls. Each keeps
the rules of its noun, so a handler cannot break them:
- a command moves only along the table of `state_machine`; a refused move changes nothing;
- an utterance becomes one turn, whoever tells it;
- what is over (by the time it was fired) is not opened again.
"""

import hashlib
from collections.abc import Callable
from functools import lru_cache

import msgspec

from claude_headspace.kernel.agent import (
    Agent,
    AgentState,
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
from claude_headspace.kernel.facts import ErrandMoved, Meta
from claude_headspace.kernel.state_machine import Actor, CommandState, Intent, validate_transition
from claude_headspace.kernel.wait_request import Ask

DUPLICATE_WINDOW: Micros = SECOND
"""The same thing told twice within this time is one thing (a hook registered in two places fires twice)."""
SOURCE_TOLERANCE: Micros = 5 * SECOND
"""Hook and transcript give an utterance slightly different times."""

MAX_RECENT = 8
"""How many recent turns, sessions and queued prompts an agent carries."""
MAX_CALLS = 32
"""How many calls, sub-agents and background tasks an agent carries."""
MAX_PAST_COMMANDS = 2
COMMAND_PREVIEW = 240

UNANSWERED = ("rejected", "dismissed", "the turn ended", "the client ended")
"""Ways for a dialog to end in which nobody's answer to it was taken up."""

replace = msgspec.structs.replace


class TurnPatch(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that is known better now."""

    id: str
    agent_id: str
    project_id: str
    command_id: str
    intent: Intent
    at: Micros
    timestamp_source: str


class Change(msgspec.Struct):
    """One event's result. `agent` is the copy being changed; the lists are rows to write."""

    agent: Agent
    meta: Meta
    sessions: list[Session] = []
    commands: dict[str, Command] = {}
    turns: list[Turn] = []
    patches: list[TurnPatch] = []
    waits: dict[str, Wait] = {}
    errand: ErrandMoved | None = None
    anomalies: list[str] = []
    why: str = ""
    inferred: bool = False
    has_new_evidence: bool = False
    """Whether the state is believed for another reason from now on, even if it is the same."""
    state_changed: bool = False
    before: tuple[AgentState, str | None] = (AgentState.STARTING, None)


# --- commands ---------------------------------------------------------------------------------------------------------


def open_command_of(agent: Agent) -> Command | None:
    """The command that runs or waits, if any."""
    command = agent.command
    return None if command is None or command.state is CommandState.COMPLETE else command


def start_command(change: Change, trigger: Trigger, text: str, at: Micros, prompt_id: str | None) -> Command:
    """Begin a command; the one before it stays remembered."""
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
    """The command in hand, and those before it that are remembered."""
    return (*([agent.command] if agent.command else []), *reversed(agent.past_commands))


def command_at(agent: Agent, at: Micros) -> Command | None:
    """The command that ran at a moment, as far as it is remembered."""
    begun = [command for command in commands_newest_first(agent) if command.started_at <= at]
    return max(begun, key=lambda command: command.started_at, default=None)


def add_past_command(change: Change, command: Command) -> None:
    """Keep a command beside the current one, for what is still told of it."""
    change.agent.past_commands = (*change.agent.past_commands[1 - MAX_PAST_COMMANDS :], command)


def store_command(change: Change, command: Command) -> None:
    """Store a command's new value, be it the current one or a past one."""
    agent = change.agent
    change.commands[command.id] = command
    if agent.command is not None and agent.command.id == command.id:
        agent.command = command
    else:
        agent.past_commands = tuple(command if past.id == command.id else past for past in agent.past_commands)


def move_command(change: Change, actor: Actor, intent: Intent) -> None:
    """Move the current command along the table; a refusal changes nothing."""
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
    """Recognise a text when another source tells it again."""
    return hashlib.blake2b(text.strip().encode("utf-8", "replace"), digest_size=8).hexdigest()


def add_turn(
    change: Change, command: Command, actor: Actor, intent: Intent, text: str, *, reason: str = ""
) -> RecentTurn | None:
    """Record an utterance; one that was recorded already gets the intent that only its end shows."""
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
    """The turn that this very utterance became: a moment ago, or as the last words of the turn that is closed now."""
    meta, wanted = change.meta, fingerprint(text)
    from_transcript = meta.origin is Origin.TRANSCRIPT
    for entry in change.agent.recent_turns:
        if entry.fingerprint == wanted and entry.actor is actor and is_compatible(entry.prompt_id, meta.prompt_id):
            tolerance = DUPLICATE_WINDOW if entry.from_transcript is from_transcript else SOURCE_TOLERANCE
            if abs(entry.at - meta.at) < tolerance or entry.turn_id == change.agent.final_text_turn_id:
                return entry
    return None


def has_later_text(agent: Agent, command: Command, at: Micros) -> bool:
    """Whether the agent is known to have said more in the same command after a moment."""
    return any(
        entry.actor is Actor.AGENT and entry.command_id == command.id and entry.at > at for entry in agent.recent_turns
    )


def is_compatible(one: str | None, other: str | None) -> bool:
    """Whether two ids of a client's turn do not contradict each other."""
    return one is None or other is None or one == other


def correct_turn(change: Change, entry: RecentTurn, **known: object) -> None:
    """Know a turn better: its command, intent or time."""
    agent = change.agent
    newest = next((told for told in agent.recent_turns if told.turn_id == entry.turn_id), entry)
    better: RecentTurn = replace(newest, **known)
    agent.recent_turns = tuple(better if told.turn_id == entry.turn_id else told for told in agent.recent_turns)
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
    """Begin to need the human, and let the command await it."""
    agent = change.agent
    wait = Wait(
        id=f"{change.meta.event_id}-w{len(change.waits)}",
        agent_id=agent.id,
        kind=ask.kind,
        text=ask.text,
        questions=ask.questions,
        form=ask.form,
        opened_at=at,
        **details,  # type: ignore[arg-type]  # keyword fields of Wait
    )
    store_wait(change, wait)
    move_command(change, Actor.AGENT, Intent.QUESTION)


def store_wait(change: Change, wait: Wait) -> None:
    """Store an open wait's new value; the one that opened last stands last."""
    change.waits[wait.id] = wait
    others = (other for other in change.agent.waits if other.id != wait.id)
    change.agent.waits = tuple(sorted((*others, wait), key=lambda each: each.opened_at))


def close_waits(change: Change, which: Callable[[Wait], bool], resolution: str) -> bool:
    """End the waits that `which` picks; with the last one gone the command goes on."""
    agent = change.agent
    closing = [wait for wait in agent.waits if which(wait)]
    if not closing:
        return False
    for wait in closing:
        change.waits[wait.id] = replace(
            wait, closed_at=change.meta.at, resolution=_resolved(wait, resolution), held_until=0
        )
    agent.waits = tuple(wait for wait in agent.waits if wait not in closing)
    if not agent.waits:
        move_command(change, Actor.USER, Intent.ANSWER)
    return True


def _resolved(wait: Wait, resolution: str) -> str:
    """How a wait ended: by an answer through us, unless it was turned down in the terminal at the same moment."""
    if wait.answered is None or resolution in UNANSWERED:
        return resolution
    return f"{wait.answered.words} by {wait.answered.by}"


# --- calls and sub-agents ---------------------------------------------------------------------------------------------


def end_call(change: Change, over: FinishedCall) -> None:
    """Forget an open call, and remember that it is over."""
    agent = change.agent
    finished, count = agent.finished_calls, len(agent.calls)
    agent.calls = tuple(call for call in agent.calls if call.id != over.id or call.started_at > over.at)
    if len(agent.calls) == count:
        finished = tuple(call for call in finished if call.id != over.id)
    agent.finished_calls = (*finished[1 - MAX_CALLS :], over)


def end_thread(change: Change, subagent_id: str | None, at: Micros, resolution: str) -> None:
    """Everything that a thread had open before `at` is over; a question asked in text stays."""
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
    """The sub-agent of that id, running or remembered."""
    return next((sub for sub in agent.subagents if sub.id == subagent_id), None)


def known_subagent(agent: Agent, subagent_id: str, at: Micros) -> Subagent:
    """The sub-agent of that id; one that was last heard of before the client's list of what runs is over."""
    sub = find_subagent(agent, subagent_id) or Subagent(id=subagent_id, started_at=at)
    if max(at, sub.last_seen_at) < agent.background_listed_at:
        return replace(sub, stopped_at=max(sub.stopped_at, agent.background_listed_at))
    return sub


def store_subagent(change: Change, sub: Subagent) -> None:
    """Store a sub-agent's new value; the oldest of those that ended are forgotten."""
    agent = change.agent
    others = [other for other in agent.subagents if other.id != sub.id]
    if len(others) >= MAX_CALLS:
        others.remove(next((other for other in others if not other.is_running), others[0]))
    agent.subagents = (*others, sub)


def stop_subagent(change: Change, sub: Subagent, at: Micros) -> None:
    """A sub-agent is over, with all that it had open."""
    store_subagent(change, replace(sub, stopped_at=max(sub.stopped_at, at)))
    end_thread(change, sub.id, at, "the sub-agent ended")
