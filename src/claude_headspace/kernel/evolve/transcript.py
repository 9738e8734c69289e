"""Transcript lines: messages with exact times, queued prompts, and the ends of turns.

Most messages are known from hooks when their line is read: then only the exact time is used. A new message is added to
the command that ran at its time.
"""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent, Command, Outcome, RecentTurn, Trigger
from claude_headspace.kernel.evolve.change import (
    COMMAND_PREVIEW,
    DUPLICATE_WINDOW,
    MAX_RECENT,
    SOURCE_TOLERANCE,
    Change,
    add_turn,
    close_waits,
    command_at,
    commands_newest_first,
    correct_turn,
    end_call,
    find_recorded_turn,
    fingerprint,
    has_later_text,
    is_compatible,
    open_command_of,
    replace,
    store_command,
)
from claude_headspace.kernel.evolve.reported_ends import confirm_end
from claude_headspace.kernel.evolve.tools import closes_with, finished_call
from claude_headspace.kernel.evolve.turns import (
    ask_at_end,
    prompt_submitted,
    queue_prompt,
    record_work,
    start_queued_turn,
    turn_interrupted,
    turn_stopped,
)
from claude_headspace.kernel.facts import Meta
from claude_headspace.kernel.intent import detect_intent
from claude_headspace.kernel.state_machine import Actor, CommandState, Intent

MAX_FINAL_TEXT = 2_000
"""How much of the final text of a turn is kept until it is closed. Its end decides the intent."""


def _find_untimed(agent: Agent, meta: Meta, actor: Actor, text: str) -> RecentTurn | None:
    """The oldest recorded turn with this text and without an exact time: of the same prompt id, or close in time.

    A busy client can write the line of a prompt with the id of the next prompt: then only the time counts.
    """
    wanted = fingerprint(text)
    for entry in agent.recent_turns:
        if entry.fingerprint == wanted and entry.actor is actor and not entry.from_transcript:
            is_named = entry.prompt_id is not None and entry.prompt_id == meta.prompt_id
            tolerance = SOURCE_TOLERANCE if is_compatible(entry.prompt_id, meta.prompt_id) else DUPLICATE_WINDOW
            if is_named or abs(entry.at - meta.at) < tolerance:
                return entry
    return None


# --- the user ---------------------------------------------------------------------------------------------------------


def user_wrote(change: Change, meta: Meta, fact: facts.UserWrote) -> None:
    """A message of the user. A recorded turn gets its exact time; otherwise its hook was missed."""
    if meta.subagent_id is not None:
        return
    if fact.queued and (waited := _find_queued(change.agent, meta, fact.text)) is not None:
        _queued_prompt_started(change, meta, replace(waited, text=fact.text[:COMMAND_PREVIEW]))
    elif (known := _find_untimed(change.agent, meta, Actor.USER, fact.text)) is not None:
        correct_turn(change, known, at=meta.at, from_transcript=True)
    elif find_recorded_turn(change, Actor.USER, fact.text) is None:
        prompt_submitted(change, meta, facts.PromptSubmitted(fact.text, joins_turn=fact.joins_turn))


def _find_queued(agent: Agent, meta: Meta, text: str) -> RecentTurn | None:
    """The newest recorded turn with this text that can have been queued until now."""
    wanted = fingerprint(text)
    said = [entry for entry in agent.recent_turns if entry.fingerprint == wanted and entry.actor is Actor.USER]
    return next((entry for entry in reversed(said) if entry.at <= meta.at + SOURCE_TOLERANCE), None)


def _queued_prompt_started(change: Change, meta: Meta, waited: RecentTurn) -> None:
    """A queued prompt starts its turn, unless that was detected already."""
    agent, command = change.agent, open_command_of(change.agent)
    if any(entry.turn_id == waited.turn_id for entry in agent.queued_prompts):
        start_queued_turn(change, meta, list(agent.queued_prompts))
    elif command is not None and command.id == waited.command_id and meta.at > agent.idle_at:
        if command.prompt_id is None:
            store_command(change, replace(command, prompt_id=meta.prompt_id))
        record_work(change, meta)
    elif command is None and meta.at > agent.idle_at:
        start_queued_turn(change, meta, [waited])
    else:
        _set_queued_trigger(change, waited)


def _set_queued_trigger(change: Change, waited: RecentTurn) -> None:
    begun = next((command for command in commands_newest_first(change.agent) if command.id == waited.command_id), None)
    if begun is not None and begun.trigger is Trigger.PROMPT and waited.intent is Intent.COMMAND:
        store_command(change, replace(begun, trigger=Trigger.QUEUED))


def prompt_queued(change: Change, meta: Meta, fact: facts.PromptQueued) -> None:
    """A prompt or the result of background work is queued until the turn ends."""
    agent = change.agent
    if fact.finished_task is not None:
        if fact.finished_task not in agent.delivered_results:
            agent.pending_results = (*agent.pending_results[1 - MAX_RECENT :], fact.finished_task)
        return
    if (known := _find_hook_turn(agent, meta, fact.text)) is not None:
        # A busy client writes this line when the hooks of the prompt are over: it was typed before the first of them.
        correct_turn(change, known, at=min(known.at, meta.at), from_transcript=True)
        return
    command = command_at(agent, meta.at)
    if command is None or find_recorded_turn(change, Actor.USER, fact.text) is not None:
        return
    if meta.at > agent.idle_at and command is open_command_of(agent):
        queue_prompt(change, replace(meta, prompt_id=command.prompt_id or ""), command, fact.text)
    elif meta.at <= (command.ended_at or meta.at):
        add_turn(change, command, Actor.USER, Intent.ANSWER, fact.text)


def _find_hook_turn(agent: Agent, meta: Meta, text: str) -> RecentTurn | None:
    """The turn that a hook recorded for the same prompt, when it was typed or when its turn started."""
    wanted = fingerprint(text)
    return next(
        (
            entry
            for entry in agent.recent_turns
            if entry.fingerprint == wanted
            and entry.actor is Actor.USER
            and not entry.from_transcript
            and entry.at > meta.at - SOURCE_TOLERANCE
        ),
        None,
    )


def prompt_unqueued(change: Change, meta: Meta, fact: facts.PromptUnqueued) -> None:
    """Remove a queued prompt: the running turn included it, or the user withdrew it."""
    agent, wanted = change.agent, fingerprint(fact.text)
    agent.pending_results = tuple(task for task in agent.pending_results if fact.text and task != fact.finished_task)
    agent.queued_prompts = tuple(
        entry
        for entry in agent.queued_prompts
        if entry.at > meta.at + SOURCE_TOLERANCE or (fact.text and entry.fingerprint != wanted)
    )


def tool_rejected(change: Change, meta: Meta, fact: facts.ToolRejected) -> None:
    """The user rejected a call. The turn continues only if the user gave feedback; a sub-agent continues."""
    over = finished_call(change.agent, meta, fact.call_id, "", "")
    end_call(change, over)
    close_waits(change, lambda wait: closes_with(wait, over, meta), "rejected")
    if meta.subagent_id is None and not fact.feedback:
        turn_interrupted(change, meta, facts.TurnInterrupted())
    elif meta.subagent_id is None and (command := command_at(change.agent, meta.at)) is not None:
        add_turn(change, command, Actor.USER, Intent.ANSWER, fact.feedback)
    change.why = f"{over.tool or 'a call'} was rejected by the user"


# --- the agent --------------------------------------------------------------------------------------------------------


def agent_wrote(change: Change, meta: Meta, fact: facts.AgentWrote) -> None:
    """A message of the agent. A recorded turn gets its exact time."""
    agent = change.agent
    if meta.subagent_id is not None:
        return
    if (known := _find_untimed(agent, meta, Actor.AGENT, fact.text)) is not None:
        correct_turn(change, known, at=meta.at, from_transcript=True)
        return
    if agent.command is None and meta.at > agent.idle_at:
        record_work(change, meta)
    if (command := command_at(agent, meta.at)) is not None:
        _add_agent_text(change, meta, fact, command)
    if fact.final and agent.reported_end is not None:
        confirm_end(change, meta)


def _add_agent_text(change: Change, meta: Meta, fact: facts.AgentWrote, command: Command) -> None:
    """Add a message to its command. A final text proves that a command that seemed interrupted was completed."""
    agent, ends_later = change.agent, _is_end_expected(change.agent, command, meta)
    is_last = fact.final and not ends_later and not has_later_text(agent, command, meta.at)
    intent = detect_intent(fact.text).intent if is_last else Intent.PROGRESS
    said = add_turn(change, command, Actor.AGENT, intent, fact.text)
    if fact.final and ends_later and said is not None:
        agent.final_text, agent.final_text_turn_id = fact.text[-MAX_FINAL_TEXT:], said.turn_id
    elif fact.final and command.outcome in (Outcome.SUPERSEDED, Outcome.INTERRUPTED):
        store_command(change, replace(command, outcome=Outcome.COMPLETED, ended_at=meta.at))


def _is_end_expected(agent: Agent, command: Command, meta: Meta) -> bool:
    """Whether no end after this text was reported: its command is open, or was only observed to stop.

    A message has one line for each text. Only its last text decides, which the report of its end has.
    """
    if meta.at <= agent.turn_ended_at:
        return False
    if command.state is not CommandState.COMPLETE:
        return True
    return (
        command is agent.command and command.outcome is Outcome.INTERRUPTED and agent.turn_ended_at < command.started_at
    )


def turn_closed(change: Change, meta: Meta, fact: facts.TurnClosed) -> None:
    """The client closed a turn. If no end was reported, it ended with its final text."""
    agent = change.agent
    words, agent.final_text = agent.final_text, ""
    end_was_reported = not words and agent.busy_at <= agent.turn_ended_at + 1
    if meta.at <= agent.turn_ended_at or end_was_reported:
        if fact.end is not None and fact.end.ask is not None:
            ask_at_end(change, meta, fact.end.ask)
        return
    if meta.at <= agent.busy_at:
        _late_close(change, meta)
    elif fact.end is not None:
        turn_stopped(change, meta, fact.end)
    elif fact.pending == 0 or agent.running_subagents:
        turn_stopped(change, meta, facts.TurnStopped(words, _running(agent, with_subagents=fact.pending > 0)))


def _running(agent: Agent, *, with_subagents: bool) -> tuple[facts.Task, ...]:
    """The tasks that continue after the turn: shells, which the line does not list, and pending sub-agents."""
    subagents = agent.running_subagents if with_subagents else ()
    return (
        *(facts.Task(id=sub.id, kind="subagent", subagent_type=sub.type) for sub in subagents),
        *(facts.Task(id=task.id, kind=task.kind, description=task.description) for task in agent.running_background),
    )


def _late_close(change: Change, meta: Meta) -> None:
    """The turn was closed before newer work: its command was completed."""
    command = command_at(change.agent, meta.at)
    if command is not None and command.outcome is Outcome.SUPERSEDED:
        store_command(change, replace(command, outcome=Outcome.COMPLETED, ended_at=meta.at))
