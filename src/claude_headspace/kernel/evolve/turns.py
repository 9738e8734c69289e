"""Prompts and the ends of turns: when a command starts, continues and ends.

The newest sign of work and the newest end decide, by the time they fired. A late prompt or end only completes the
record of its own command.
"""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent, AgentState, Command, Outcome, RecentTurn, Trigger, Wait
from claude_headspace.kernel.envelope import SECOND, Micros, Origin
from claude_headspace.kernel.evolve.background import apply_task_list, background_ended
from claude_headspace.kernel.evolve.change import (
    COMMAND_PREVIEW,
    DUPLICATE_WINDOW,
    MAX_RECENT,
    Change,
    add_past_command,
    add_turn,
    close_command,
    close_waits,
    command_at,
    commands_newest_first,
    correct_turn,
    end_thread,
    find_recorded_turn,
    find_subagent,
    fingerprint,
    has_later_text,
    move_command,
    open_command_of,
    open_wait,
    replace,
    start_command,
    stop_subagent,
    store_command,
)
from claude_headspace.kernel.facts import Meta
from claude_headspace.kernel.intent import detect_intent
from claude_headspace.kernel.state_machine import Actor, CommandState, Intent
from claude_headspace.kernel.wait.request import Ask

PROMPT_DELAY: Micros = 5 * SECOND
"""A tool's hook can arrive before the hook of its prompt, up to this much."""


def record_work(change: Change, meta: Meta) -> None:
    """Record a sign of work of the main thread. A late event of finished work only proves that earlier work ended."""
    agent = change.agent
    agent.busy_at = max(agent.busy_at, meta.at)
    if agent.waits:
        close_questions(change, meta.at)
    if meta.at <= agent.idle_at:
        return
    agent.error = None
    if agent.queued_prompts:
        _detect_queued_turn(change, meta)
    command = agent.command
    if command is None or command.state is CommandState.COMPLETE:
        command = start_command(change, Trigger.UNANNOUNCED, "", meta.at, meta.prompt_id)
    if command.prompt_id is None and meta.prompt_id is not None:
        store_command(change, replace(command, prompt_id=meta.prompt_id))
    if command.state is CommandState.COMMANDED:
        move_command(change, Actor.AGENT, Intent.PROGRESS)


def is_of_ended_turn(change: Change, meta: Meta) -> bool:
    """Whether an event that fired later belongs to a turn whose end the client reported, and no other turn runs.

    If the agent was shown as ended, the client lives on, and so may the turn.
    """
    agent = change.agent
    if not agent.busy_at <= agent.turn_ended_at < meta.at or change.before[0] is AgentState.ENDED:
        return False
    return any(_is_turn_of(agent, command, meta.prompt_id) for command in commands_newest_first(agent))


def close_questions(change: Change, at: Micros) -> None:
    """Close questions in text: the agent continued, answered or not. The prompt that answered may arrive later."""
    if close_waits(change, lambda wait: wait.asked_in_text and wait.opened_at < at, "the agent continued"):
        change.agent.question_closed_at = at


# --- prompts ----------------------------------------------------------------------------------------------------------


def prompt_submitted(change: Change, meta: Meta, fact: facts.PromptSubmitted) -> None:
    """A prompt starts a command, answers a question, or is queued behind the running turn."""
    agent = change.agent
    if fact.finished_task is not None:
        _task_finished(change, meta, fact.finished_task)
    elif (known := find_recorded_turn(change, Actor.USER, fact.text)) is not None:
        _repeated_prompt(change, meta, known)
    elif (waited := _matching_queue(agent, meta, fact.text)) is not None:
        start_queued_turn(change, meta, waited)
    elif meta.at <= agent.idle_at or _is_before_command(agent.command, meta):
        _late_prompt(change, meta, fact.text)
    else:
        _new_prompt(change, meta, fact.text, joins_turn=fact.joins_turn)


def _repeated_prompt(change: Change, meta: Meta, known: RecentTurn) -> None:
    """The same prompt again: a hook registered twice, or the transcript was read first."""
    if known.from_transcript is (meta.origin is Origin.TRANSCRIPT):
        change.anomalies.append("duplicate prompt")
    else:
        change.why = "a prompt was submitted"
        record_work(change, meta)


def _matching_queue(agent: Agent, meta: Meta, text: str) -> list[RecentTurn] | None:
    """The queued prompts, if this is one of them: Claude Code 2.1.197 fires the hook only when its turn starts."""
    command, wanted = open_command_of(agent), fingerprint(text)
    if meta.prompt_id is None or (command is not None and _is_turn_of(agent, command, meta.prompt_id)):
        return None
    if any(entry.fingerprint == wanted and entry.at < meta.at for entry in agent.queued_prompts):
        return list(agent.queued_prompts)
    if command is None or command.trigger is not Trigger.QUEUED or command.prompt_id is not None:
        return None
    return [] if command.text == text[:COMMAND_PREVIEW] else None


def start_queued_turn(change: Change, meta: Meta, waited: list[RecentTurn]) -> None:
    """The turn of queued prompts starts; the previous turn ended. An empty list: its start was inferred already."""
    agent, command = change.agent, open_command_of(change.agent)
    change.why = "a queued prompt was submitted"
    if not waited and command is not None:
        store_command(change, replace(command, prompt_id=meta.prompt_id))
    elif waited:
        end_thread(change, None, meta.at, "another turn began")
        close_command(change, meta.at, Outcome.COMPLETED)
        _start_queued_command(change, waited, meta.at, meta.prompt_id)
    agent.queued_prompts = ()
    record_work(change, meta)


def _is_before_command(command: Command | None, meta: Meta) -> bool:
    return command is not None and bool(command.text) and meta.at < command.started_at


def _new_prompt(change: Change, meta: Meta, text: str, *, joins_turn: bool) -> None:
    agent = change.agent
    change.why = "a prompt was submitted"
    command = open_command_of(agent)
    asked = [wait for wait in agent.waits if wait.subagent_id is None and wait.opened_at < meta.at]
    answers = _is_late_answer(agent, meta) or (bool(asked) and not _dismisses_dialogs(agent, command, meta, asked))
    agent.question_closed_at = 0
    close_waits(change, asked.__contains__, "answered by a prompt" if answers else "dismissed")
    if command is not None and _was_opened_by_its_tool(command, meta):
        _set_prompt(change, command, meta, text)
    elif command is not None and _is_typed_during_turn(agent, command, meta, answers=answers):
        (add_to_turn if joins_turn else queue_prompt)(change, meta, command, text)
    else:
        _end_previous_turn(change, meta)
        if command is not None and answers:
            add_turn(change, command, Actor.USER, Intent.ANSWER, text)
            _add_turn_id(agent, meta.prompt_id)
        else:
            close_command(change, meta.at, Outcome.SUPERSEDED)
            begun = start_command(change, _trigger(meta, text), text, meta.at, meta.prompt_id)
            add_turn(change, begun, Actor.USER, Intent.COMMAND, text)
    record_work(change, meta)


def _is_late_answer(agent: Agent, meta: Meta) -> bool:
    """Whether the prompt answers a question in text that a sign of its own turn, such as `busy`, has closed already."""
    return abs(meta.at - agent.question_closed_at) < PROMPT_DELAY


def _dismisses_dialogs(agent: Agent, command: Command | None, meta: Meta, asked: list[Wait]) -> bool:
    """Whether a prompt proves that dialogs were dismissed: it starts another turn, which an open dialog prevents."""
    if command is None or meta.prompt_id is None or command.prompt_id is None:
        return False
    return not any(wait.asked_in_text for wait in asked) and not _is_turn_of(agent, command, meta.prompt_id)


def _end_previous_turn(change: Change, meta: Meta) -> None:
    """End what the previous turn left open. A turn starts only when nothing is open or queued."""
    end_thread(change, None, meta.at, "another turn began")
    change.agent.queued_prompts = ()


def _was_opened_by_its_tool(command: Command, meta: Meta) -> bool:
    """Whether the command was started by a tool whose hook arrived before the hook of the prompt."""
    if command.trigger is not Trigger.UNANNOUNCED:
        return False
    if meta.prompt_id and command.prompt_id:
        return meta.prompt_id == command.prompt_id
    return meta.at - command.started_at < PROMPT_DELAY


def _is_typed_during_turn(agent: Agent, command: Command, meta: Meta, *, answers: bool) -> bool:
    """Whether the prompt was typed during the running turn: it has its id. Without ids: no question was open."""
    if meta.prompt_id is None:
        return not answers
    if command.prompt_id is None:
        return not answers and command.trigger is not Trigger.QUEUED
    return _is_turn_of(agent, command, meta.prompt_id)


def _trigger(meta: Meta, text: str) -> Trigger:
    """What started the command. Only a transcript shows `!` commands."""
    return Trigger.SHELL if meta.origin is Origin.TRANSCRIPT and text.startswith("! ") else Trigger.PROMPT


def _set_prompt(change: Change, command: Command, meta: Meta, text: str) -> None:
    """Give a command that another event started its prompt."""
    better = replace(
        command,
        trigger=_trigger(meta, text),
        text=text[:COMMAND_PREVIEW],
        prompt_id=command.prompt_id or meta.prompt_id,
        started_at=min(command.started_at, meta.at),
    )
    store_command(change, better)
    add_turn(change, better, Actor.USER, Intent.COMMAND, text)


def add_to_turn(change: Change, _meta: Meta, command: Command, text: str) -> RecentTurn | None:
    """A prompt that became part of the running turn."""
    return add_turn(change, command, Actor.USER, Intent.ANSWER, text)


def queue_prompt(change: Change, meta: Meta, command: Command, text: str) -> None:
    """A prompt typed while the agent works. It becomes part of the turn, or the next turn."""
    agent, entry = change.agent, add_to_turn(change, meta, command, text)
    if entry is not None and meta.prompt_id is not None:
        agent.queued_prompts = (*agent.queued_prompts[1 - MAX_RECENT :], replace(entry, text=text[:COMMAND_PREVIEW]))


def _late_prompt(change: Change, meta: Meta, text: str) -> None:
    """A prompt whose turn has ended already: complete the record of its command."""
    agent = change.agent
    if meta.origin is Origin.HOOK:
        change.anomalies.append("late prompt")
    record_work(change, meta)
    for command in commands_newest_first(agent):
        if _is_turn_of(agent, command, meta.prompt_id) and command.trigger is not Trigger.UNANNOUNCED:
            if command.text != text[:COMMAND_PREVIEW]:
                add_turn(change, command, Actor.USER, Intent.ANSWER, text)
            return
        if _lacks_prompt(agent, command, meta):
            _set_prompt(change, command, meta, text)
            return
    _add_past_command(change, meta, text)


def _add_past_command(change: Change, meta: Meta, text: str) -> None:
    """Add an ended command of which only the late prompt is known, in its place by time."""
    agent = change.agent
    is_newest = agent.command is None or (open_command_of(agent) is None and agent.command.started_at < meta.at)
    past = Command(
        id=f"{meta.event_id}-c0",
        agent_id=agent.id,
        session_id=agent.session.id if agent.session else "",
        state=CommandState.COMPLETE,
        trigger=_trigger(meta, text),
        started_at=meta.at,
        text=text[:COMMAND_PREVIEW],
        prompt_id=meta.prompt_id,
        ended_at=max(meta.at, agent.idle_at) if is_newest else meta.at,
        outcome=Outcome.INTERRUPTED if is_newest else Outcome.SUPERSEDED,
    )
    if not is_newest:
        add_past_command(change, past)
    else:
        if agent.command is not None:
            add_past_command(change, agent.command)
        agent.command, agent.turn_ids = past, ()
    store_command(change, past)
    add_turn(change, past, Actor.USER, Intent.COMMAND, text)


def _lacks_prompt(agent: Agent, command: Command, meta: Meta) -> bool:
    """Whether an unannounced command can be the one that a late prompt started."""
    if command.trigger is not Trigger.UNANNOUNCED:
        return False
    if meta.prompt_id and command.prompt_id:
        return meta.prompt_id == command.prompt_id
    return meta.at <= (command.ended_at or agent.idle_at)


def _is_turn_of(agent: Agent, command: Command, prompt_id: str | None) -> bool:
    if prompt_id is None:
        return False
    return prompt_id == command.prompt_id or (command is agent.command and prompt_id in agent.turn_ids)


def _add_turn_id(agent: Agent, prompt_id: str | None) -> None:
    if prompt_id is not None:
        agent.turn_ids = (*agent.turn_ids[1 - MAX_RECENT :], prompt_id)


def _task_finished(change: Change, meta: Meta, task_id: str) -> None:
    """The client gives the model the result of background work. No person typed this prompt."""
    agent = change.agent
    change.why = "background work finished"
    background_ended(change, task_id, meta.at)
    agent.pending_results = tuple(task for task in agent.pending_results if task != task_id)
    agent.delivered_results = (*agent.delivered_results[1 - MAX_RECENT :], task_id)
    if meta.at <= agent.idle_at:
        record_work(change, meta)
        return
    if (command := open_command_of(agent)) is None:
        start_command(change, Trigger.NOTIFICATION, "", meta.at, meta.prompt_id)
    elif meta.prompt_id is not None and not _is_turn_of(agent, command, meta.prompt_id):
        _add_turn_id(agent, meta.prompt_id)
        _end_previous_turn(change, meta)
    record_work(change, meta)
    agent.question_closed_at = 0


# --- ends -------------------------------------------------------------------------------------------------------------


def turn_stopped(change: Change, meta: Meta, fact: facts.TurnStopped) -> None:
    """A turn ended. Its command ends too, unless the final text is a question or sub-agents still run.

    If the client does not report the final text, it is that of the transcript.
    """
    message = change.agent.final_text if fact.message is None else fact.message
    if _is_duplicate_end(change, meta, message):
        return
    if not fact.leaves_subagents:
        apply_task_list(change, meta.at, fact.background)
    end_thread(change, None, meta.at, "the turn ended")
    close_questions(change, meta.at)
    if _is_late_end(change, meta):
        _late_end(change, meta, message, Outcome.COMPLETED)
    elif not fact.leaves_subagents and _is_paused(change.agent, fact.background):
        _pause_turn(change, meta, message)
    else:
        _end_turn(change, meta, message, fact.ask)


def turn_failed(change: Change, meta: Meta, fact: facts.TurnFailed) -> None:
    """A turn ended in an API error. The command failed; the error is shown until the agent works again."""
    if _is_duplicate_end(change, meta, fact.message, fact.error):
        return
    end_thread(change, None, meta.at, "the turn failed")
    close_questions(change, meta.at)
    if _is_late_end(change, meta):
        _late_end(change, meta, fact.message, Outcome.FAILED)
        return
    agent = change.agent
    command = _command_that_ended(change, meta, fact.message, Outcome.FAILED)
    _record_turn_end(change, meta, fact.message, fact.error)
    agent.idle_at, agent.error, agent.queued_prompts = max(agent.idle_at, meta.at), fact.error, ()
    change.why = f"the turn ended in an error: {fact.error}"
    if command is not None:
        add_turn(change, command, Actor.AGENT, Intent.END_OF_TASK, fact.message, reason="the API failed")
        close_command(change, meta.at, Outcome.FAILED)


def _is_duplicate_end(change: Change, meta: Meta, message: str, error: str = "") -> bool:
    """Whether the same end was recorded shortly before. After more work, such as another prompt, it is another end."""
    agent = change.agent
    is_recent = abs(meta.at - agent.turn_ended_at) < DUPLICATE_WINDOW
    # A queued prompt that runs next sets `busy_at` to 1 µs after the end.
    has_worked_since = agent.turn_ended_at + 1 < agent.busy_at < meta.at
    if not is_recent or has_worked_since or agent.turn_end_fingerprint != _end_fingerprint(meta, message, error):
        return False
    if meta.origin is Origin.HOOK:
        change.anomalies.append("duplicate end")
    return True


def _end_fingerprint(meta: Meta, message: str, error: str) -> str:
    return f"{meta.prompt_id}:{fingerprint(message)}" + (f":{error}" if error else "")


def _record_turn_end(change: Change, meta: Meta, message: str, error: str = "") -> None:
    agent = change.agent
    agent.turn_ended_at, agent.final_text, agent.question_closed_at = meta.at, "", 0
    agent.turn_end_fingerprint = _end_fingerprint(meta, message, error)


def _is_late_end(change: Change, meta: Meta) -> bool:
    return meta.at <= change.agent.busy_at or meta.at <= change.agent.turn_ended_at


def _is_paused(agent: Agent, listed: tuple[facts.Task, ...] | None) -> bool:
    """Whether the client continues by itself: results are pending, or sub-agents run according to its list."""
    if agent.pending_results:
        return True
    if listed is None:
        return any(sub.is_running for sub in agent.subagents)
    return any(task.kind == "subagent" for task in listed)


def _pause_turn(change: Change, meta: Meta, message: str) -> None:
    """The turn pauses while sub-agents run: the agent is still working."""
    _record_turn_end(change, meta, message)
    pending = "a background result is pending" if change.agent.pending_results else "a sub-agent runs"
    change.has_new_evidence, change.why = True, f"the turn ended while {pending}"
    if (command := open_command_of(change.agent)) is not None:
        add_turn(change, command, Actor.AGENT, Intent.PROGRESS, message)


def _end_turn(change: Change, meta: Meta, message: str, ask: Ask | None = None) -> None:
    """The turn ended. What it asks, or its final text, decides between idle and waiting for an answer."""
    agent = change.agent
    _detect_queued_turn(change, meta)
    command = _command_that_ended(change, meta, message, Outcome.COMPLETED)
    _record_turn_end(change, meta, message)
    agent.idle_at, agent.error = max(agent.idle_at, meta.at), None
    change.why = "the turn ended"
    if command is None:
        return
    detection = detect_intent(message)
    add_turn(change, command, Actor.AGENT, detection.intent, message, reason=detection.reason)
    queued = _next_queued(agent, command, meta)
    if ask is not None:
        close_command(change, meta.at, Outcome.COMPLETED)
        _open_question(change, meta, command, ask)
        return
    if detection.intent is Intent.QUESTION and not queued:
        change.why = f"the turn ended with a question ({detection.reason})"
        open_wait(change, Ask("question", message[-COMMAND_PREVIEW:]), meta.at, asked_in_text=True)
        return
    intent = Intent.COMPLETION if detection.intent is Intent.QUESTION else detection.intent
    close_command(change, meta.at, Outcome.COMPLETED, intent)
    if queued:
        change.inferred, change.has_new_evidence, change.why = True, True, "a queued prompt runs next"
        _start_queued_command(change, queued, meta.at, None)
        agent.busy_at = meta.at + 1


def ask_at_end(change: Change, meta: Meta, ask: Ask) -> None:
    """The client asks something at the end of a turn whose end is known. No-op if other work began since."""
    agent = change.agent
    if agent.command is not None and not agent.waits and meta.at >= agent.busy_at and agent.error is None:
        _open_question(change, meta, agent.command, ask)
        change.has_new_evidence = True


def _open_question(change: Change, meta: Meta, command: Command, ask: Ask) -> None:
    """Open a wait that a prompt answers. The text is a turn of the agent."""
    change.why = f"the turn ended with a {ask.kind} to answer"
    add_turn(change, command, Actor.AGENT, Intent.QUESTION, ask.text, reason=f"a {ask.kind}")
    open_wait(change, ask, meta.at, asked_in_text=True)


def _command_that_ended(change: Change, meta: Meta, message: str, outcome: Outcome) -> Command | None:
    """The command of an ended turn: the open one, one that was closed too early, or an unannounced one."""
    agent, command = change.agent, change.agent.command
    if (running := open_command_of(agent)) is not None:
        return running
    if (
        command is not None
        and command.outcome is Outcome.INTERRUPTED
        and (meta.at <= agent.idle_at or _was_never_seen(command))
    ):
        better = replace(command, outcome=outcome, ended_at=meta.at)
        store_command(change, better)
        return better
    if command is not None and _is_turn_of(agent, command, meta.prompt_id):
        return command
    return start_command(change, Trigger.UNANNOUNCED, "", meta.at, meta.prompt_id) if message else None


def _was_never_seen(command: Command) -> bool:
    """Whether no event of a queued prompt's turn arrived: a client that starts it slowly seems idle."""
    return command.trigger is Trigger.QUEUED and command.prompt_id is None


def _queued_behind(agent: Agent, command: Command) -> list[RecentTurn]:
    """The queued prompts that no tool result included in the turn. The client runs them next, without a hook."""
    return [
        entry for entry in agent.queued_prompts if entry.at > agent.call_ended_at and entry.command_id == command.id
    ]


def _next_queued(agent: Agent, command: Command, meta: Meta) -> list[RecentTurn]:
    """The queued prompts that the client runs now. Empty for a transcript, which shows each of them."""
    if meta.origin is Origin.TRANSCRIPT:
        return []
    known = (None, meta.prompt_id) if meta.prompt_id is not None else None
    return [entry for entry in _queued_behind(agent, command) if known is None or entry.prompt_id in known]


def _start_queued_command(change: Change, queued: list[RecentTurn], at: Micros, prompt_id: str | None) -> None:
    change.agent.queued_prompts = ()
    command = start_command(change, Trigger.QUEUED, queued[0].text, at, prompt_id)
    move_command(change, Actor.AGENT, Intent.PROGRESS)
    correct_turn(change, queued[0], command_id=command.id, intent=Intent.COMMAND)
    for entry in queued[1:]:
        correct_turn(change, entry, command_id=command.id)


def _detect_queued_turn(change: Change, meta: Meta) -> None:
    """An unknown prompt id while prompts are queued: their turn started, and the end of the previous turn is late."""
    agent = change.agent
    command = open_command_of(agent)
    if meta.prompt_id is None or command is None or command.prompt_id is None:
        return
    queued = _queued_behind(agent, command)
    if queued and not _is_turn_of(agent, command, meta.prompt_id):
        close_command(change, meta.at, Outcome.COMPLETED)
        _start_queued_command(change, queued, meta.at, meta.prompt_id)


def _late_end(change: Change, meta: Meta, message: str, outcome: Outcome) -> None:
    """The late end of a turn that newer work replaced: it only completes the record of its own command."""
    change.anomalies.append("late stop")
    agent = change.agent
    for command in commands_newest_first(agent):
        if _is_turn_of(agent, command, meta.prompt_id) or (meta.prompt_id is None and command.started_at <= meta.at):
            goes_on = command.state is not CommandState.COMPLETE or has_later_text(agent, command, meta.at)
            intent = Intent.PROGRESS if goes_on else detect_intent(message).intent
            add_turn(change, command, Actor.AGENT, intent, message)
            if command.outcome in (Outcome.SUPERSEDED, Outcome.INTERRUPTED):
                store_command(change, replace(command, outcome=outcome, ended_at=meta.at))
            return


def turn_interrupted(change: Change, meta: Meta, _fact: facts.TurnInterrupted) -> None:
    """The user interrupted the turn. Background work continues."""
    agent = change.agent
    change.why = "interrupted by the user"
    if meta.subagent_id is None:
        _interrupt_superseded(change, meta)
        record_idle(change, meta.at, "interrupted")
        agent.turn_ended_at, agent.final_text = max(agent.turn_ended_at, meta.at), ""
    elif (sub := find_subagent(agent, meta.subagent_id)) is not None:
        stop_subagent(change, sub, meta.at)


def _interrupt_superseded(change: Change, meta: Meta) -> None:
    """A command that seemed replaced by the next prompt was interrupted before it."""
    command = command_at(change.agent, meta.at)
    if command is not None and command.outcome is Outcome.SUPERSEDED and meta.at <= (command.ended_at or 0):
        store_command(change, replace(command, outcome=Outcome.INTERRUPTED, ended_at=meta.at))


def record_idle(change: Change, at: Micros, resolution: str, *, in_background_too: bool = False) -> None:
    """The main thread is idle: work and dialogs ended. Errors and questions in text stay."""
    agent = change.agent
    end_thread(change, None, at, resolution)
    agent.compaction_ended_at = max(agent.compaction_ended_at, at)
    if in_background_too:
        agent.background_listed_at = max(agent.background_listed_at, at)
    for sub in agent.running_subagents:
        if sub.last_seen_at < at and (in_background_too or not sub.background):
            stop_subagent(change, sub, at)
    if at > agent.busy_at:
        agent.pending_results = ()
        ran, agent.idle_at = agent.is_in_turn, max(agent.idle_at, at)
        if ran:
            agent.queued_prompts = ()
            end_was_reported = agent.busy_at <= agent.turn_ended_at
            close_command(change, at, Outcome.COMPLETED if end_was_reported else Outcome.INTERRUPTED)
