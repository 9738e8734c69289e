"""Prompts and the ends of turns: when a command begins, goes on and is over.

The newest sign of work and the newest end decide, by the time they were fired. A late one finds the command that it
belongs to and changes nothing else.
"""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent, Command, Heard, Outcome, Trigger, Wait
from claude_headspace.kernel.envelope import SECOND, Micros, Origin
from claude_headspace.kernel.evolve.background import background_ended, take_list
from claude_headspace.kernel.evolve.change import (
    COMMAND_PREVIEW,
    DOUBLED,
    REMEMBERED,
    Change,
    begin_command,
    close_command,
    close_waits,
    command_at,
    correct,
    end_thread,
    find_subagent,
    keep_command,
    mark,
    move,
    newest_first,
    open_command_of,
    open_wait,
    remember_command,
    replace,
    say,
    spoke_later,
    stop_subagent,
    told_before,
)
from claude_headspace.kernel.facts import Meta
from claude_headspace.kernel.intent import detect_intent
from claude_headspace.kernel.state_machine import Actor, CommandState, Intent
from claude_headspace.kernel.wait_request import Ask

OVERTAKEN: Micros = 5 * SECOND
"""A prompt without an id that comes this soon after a tool was overtaken by it."""


def work(change: Change, meta: Meta) -> None:
    """The main thread shows a sign of work; one of something that is over only shows that what was before is over."""
    agent = change.agent
    agent.busy_at = max(agent.busy_at, meta.at)
    close_questions(change, meta.at)
    if meta.at <= agent.settled_at:
        return
    agent.error = None
    _notice_queued_turn(change, meta)
    command = open_command_of(agent) or begin_command(change, Trigger.UNANNOUNCED, "", meta.at, meta.prompt_id)
    if command.prompt_id is None and meta.prompt_id is not None:
        keep_command(change, replace(command, prompt_id=meta.prompt_id))
    if command.state is CommandState.COMMANDED:
        move(change, Actor.AGENT, Intent.PROGRESS)


def close_questions(change: Change, at: Micros) -> None:
    """A question asked in text is over when the agent goes on, be it answered or not."""
    if change.agent.waits:
        close_waits(change, lambda wait: wait.asked_in_text and wait.opened_at < at, "the agent went on")


# --- prompts ----------------------------------------------------------------------------------------------------------


def prompt(change: Change, meta: Meta, fact: facts.PromptSubmitted) -> None:
    """A prompt begins a command, answers a question or queues behind the turn that runs."""
    agent = change.agent
    if fact.finished_task is not None:
        _task_came_back(change, meta, fact.finished_task)
    elif (known := told_before(change, Actor.USER, fact.text)) is not None:
        _told_again(change, meta, known)
    elif (waited := _queued_as(agent, meta, fact.text)) is not None:
        take_up(change, meta, waited)
    elif meta.at <= agent.settled_at or _belongs_to_the_past(agent.command, meta):
        _late_prompt(change, meta, fact.text)
    else:
        _new_prompt(change, meta, fact.text)


def _told_again(change: Change, meta: Meta, known: Heard) -> None:
    """The same prompt once more: a hook registered in two places, or what the transcript had told already."""
    if known.from_transcript is (meta.origin is Origin.TRANSCRIPT):
        change.anomalies.append("prompt told twice")
    else:
        change.why = "a prompt was submitted"
        work(change, meta)


def _queued_as(agent: Agent, meta: Meta, text: str) -> list[Heard] | None:
    """The queued prompts, if this is one of them: 2.1.197 announces it only when it is taken up, as its own turn."""
    command, wanted = open_command_of(agent), mark(text)
    if meta.prompt_id is None or (command is not None and _is_turn_of(agent, command, meta.prompt_id)):
        return None
    if any(entry.mark == wanted and entry.at < meta.at for entry in agent.queued):
        return list(agent.queued)
    if command is None or command.trigger is not Trigger.QUEUED or command.prompt_id is not None:
        return None
    return [] if command.text == text[:COMMAND_PREVIEW] else None


def take_up(change: Change, meta: Meta, waited: list[Heard]) -> None:
    """Queued prompts begin their turn: the one before is over. Nothing waited: it was understood that they run."""
    agent, command = change.agent, open_command_of(change.agent)
    change.why = "a queued prompt was taken up"
    if not waited and command is not None:
        keep_command(change, replace(command, prompt_id=meta.prompt_id))
    elif waited:
        end_thread(change, None, meta.at, "another turn began")
        close_command(change, meta.at, Outcome.COMPLETED)
        _begin_queued(change, waited, meta.at, meta.prompt_id)
    agent.queued = ()
    work(change, meta)


def _belongs_to_the_past(command: Command | None, meta: Meta) -> bool:
    return command is not None and bool(command.text) and meta.at < command.started_at


def _new_prompt(change: Change, meta: Meta, text: str) -> None:
    agent = change.agent
    change.why = "a prompt was submitted"
    command = open_command_of(agent)
    asked = [wait for wait in agent.waits if wait.subagent_id is None and wait.opened_at < meta.at]
    answers = bool(asked) and not _dismisses(agent, command, meta, asked)
    close_waits(change, asked.__contains__, "answered by a prompt" if answers else "dismissed")
    if command is not None and _was_overtaken(command, meta):
        _give_words(change, command, meta, text)
    elif command is not None and _is_queued(agent, command, meta, answers=answers):
        queue(change, meta, command, text)
    else:
        _end_turn_before(change, meta)
        if command is not None and answers:
            say(change, command, Actor.USER, Intent.ANSWER, text)
            _note_turn(agent, meta.prompt_id)
        else:
            close_command(change, meta.at, Outcome.SUPERSEDED)
            begun = begin_command(change, _trigger(meta, text), text, meta.at, meta.prompt_id)
            say(change, begun, Actor.USER, Intent.COMMAND, text)
    work(change, meta)


def _dismisses(agent: Agent, command: Command | None, meta: Meta, asked: list[Wait]) -> bool:
    """Whether a prompt shows that dialogs were dismissed: it is another turn's, and none is typed while one is open."""
    if command is None or meta.prompt_id is None or command.prompt_id is None:
        return False
    return not any(wait.asked_in_text for wait in asked) and not _is_turn_of(agent, command, meta.prompt_id)


def _end_turn_before(change: Change, meta: Meta) -> None:
    """A turn begins only when nothing of the one before is open, and nothing queued behind it."""
    end_thread(change, None, meta.at, "another turn began")
    change.agent.queued = ()


def _was_overtaken(command: Command, meta: Meta) -> bool:
    """Whether the command was opened by a tool whose hook came before the prompt's own."""
    if command.trigger is not Trigger.UNANNOUNCED:
        return False
    if meta.prompt_id and command.prompt_id:
        return meta.prompt_id == command.prompt_id
    return meta.at - command.started_at < OVERTAKEN


def _is_queued(agent: Agent, command: Command, meta: Meta, *, answers: bool) -> bool:
    """Whether it was typed while the turn runs: then it has that turn's id. Without ids only a question tells."""
    if meta.prompt_id is None:
        return not answers
    if command.prompt_id is None:
        return not answers and command.trigger is not Trigger.QUEUED
    return _is_turn_of(agent, command, meta.prompt_id)


def _trigger(meta: Meta, text: str) -> Trigger:
    """What began the command: only a transcript has `!` commands."""
    return Trigger.SHELL if meta.origin is Origin.TRANSCRIPT and text.startswith("! ") else Trigger.PROMPT


def _give_words(change: Change, command: Command, meta: Meta, text: str) -> None:
    """A command that was begun by something else turns out to be this prompt's."""
    better = replace(
        command,
        trigger=_trigger(meta, text),
        text=text[:COMMAND_PREVIEW],
        prompt_id=command.prompt_id or meta.prompt_id,
        started_at=min(command.started_at, meta.at),
    )
    keep_command(change, better)
    say(change, better, Actor.USER, Intent.COMMAND, text)


def queue(change: Change, meta: Meta, command: Command, text: str) -> None:
    """A prompt typed while the agent works: it is taken into the turn, or becomes the next one."""
    agent, entry = change.agent, say(change, command, Actor.USER, Intent.ANSWER, text)
    if entry is not None and meta.prompt_id is not None:
        agent.queued = (*agent.queued[1 - REMEMBERED :], replace(entry, text=text[:COMMAND_PREVIEW]))


def _late_prompt(change: Change, meta: Meta, text: str) -> None:
    """A prompt whose turn is over already: give its command the words."""
    agent = change.agent
    if meta.origin is Origin.HOOK:
        change.anomalies.append("late prompt")
    work(change, meta)
    for command in newest_first(agent):
        if _is_turn_of(agent, command, meta.prompt_id) and command.trigger is not Trigger.UNANNOUNCED:
            if command.text != text[:COMMAND_PREVIEW]:
                say(change, command, Actor.USER, Intent.ANSWER, text)
            return
        if _lacks_words_of(agent, command, meta):
            _give_words(change, command, meta, text)
            return
    _add_past_command(change, meta, text)


def _add_past_command(change: Change, meta: Meta, text: str) -> None:
    """A command of which only its prompt is known, too late: it stands where it belongs by its time."""
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
        ended_at=max(meta.at, agent.settled_at) if is_newest else meta.at,
        outcome=Outcome.INTERRUPTED if is_newest else Outcome.SUPERSEDED,
    )
    if not is_newest:
        remember_command(change, past)
    else:
        if agent.command is not None:
            remember_command(change, agent.command)
        agent.command, agent.turn_ids = past, ()
    keep_command(change, past)
    say(change, past, Actor.USER, Intent.COMMAND, text)


def _lacks_words_of(agent: Agent, command: Command, meta: Meta) -> bool:
    """Whether an unannounced command may be the one that the late prompt began."""
    if command.trigger is not Trigger.UNANNOUNCED:
        return False
    if meta.prompt_id and command.prompt_id:
        return meta.prompt_id == command.prompt_id
    return meta.at <= (command.ended_at or agent.settled_at)


def _is_turn_of(agent: Agent, command: Command, prompt_id: str | None) -> bool:
    if prompt_id is None:
        return False
    return prompt_id == command.prompt_id or (command is agent.command and prompt_id in agent.turn_ids)


def _note_turn(agent: Agent, prompt_id: str | None) -> None:
    if prompt_id is not None:
        agent.turn_ids = (*agent.turn_ids[1 - REMEMBERED :], prompt_id)


def _task_came_back(change: Change, meta: Meta, task_id: str) -> None:
    """Background work finished and the client tells the model: nobody typed this."""
    agent = change.agent
    change.why = "background work came back"
    background_ended(change, task_id, meta.at)
    agent.returning = tuple(task for task in agent.returning if task != task_id)
    agent.returned = (*agent.returned[1 - REMEMBERED :], task_id)
    if meta.at <= agent.settled_at:
        work(change, meta)
        return
    if (command := open_command_of(agent)) is None:
        begin_command(change, Trigger.NOTIFICATION, "", meta.at, meta.prompt_id)
    elif meta.prompt_id is not None and not _is_turn_of(agent, command, meta.prompt_id):
        _note_turn(agent, meta.prompt_id)
        _end_turn_before(change, meta)
    work(change, meta)


# --- ends -------------------------------------------------------------------------------------------------------------


def stopped(change: Change, meta: Meta, fact: facts.TurnStopped) -> None:
    """A turn is over, and with it the command, unless it asks something or sub-agents still run."""
    message = fact.message or ""
    if _is_told_twice(change, meta, message):
        return
    take_list(change, meta.at, fact.background)
    end_thread(change, None, meta.at, "the turn ended")
    close_questions(change, meta.at)
    if _is_late(change, meta):
        _late_end(change, meta, message, Outcome.COMPLETED)
    elif _is_paused(change.agent, fact.background):
        _pause(change, meta, message)
    else:
        _settle(change, meta, message)


def failed(change: Change, meta: Meta, fact: facts.TurnFailed) -> None:
    """A turn ended in an API error: its command failed, and the agent shows the error until it works again."""
    if _is_told_twice(change, meta, fact.message):
        return
    end_thread(change, None, meta.at, "the turn failed")
    close_questions(change, meta.at)
    if _is_late(change, meta):
        _late_end(change, meta, fact.message, Outcome.FAILED)
        return
    agent = change.agent
    command = _command_that_ended(change, meta, fact.message, Outcome.FAILED)
    _note_end(change, meta, fact.message)
    agent.settled_at, agent.error, agent.queued = max(agent.settled_at, meta.at), fact.error, ()
    change.why = f"the turn ended in an error: {fact.error}"
    if command is not None:
        say(change, command, Actor.AGENT, Intent.END_OF_TASK, fact.message, reason="the API failed")
        close_command(change, meta.at, Outcome.FAILED)


def _is_told_twice(change: Change, meta: Meta, message: str) -> bool:
    agent = change.agent
    if abs(meta.at - agent.stopped_at) >= DOUBLED or agent.stop_mark != _end_mark(meta, message):
        return False
    change.anomalies.append("end told twice")
    return True


def _end_mark(meta: Meta, message: str) -> str:
    return f"{meta.prompt_id}:{mark(message)}"


def _note_end(change: Change, meta: Meta, message: str) -> None:
    agent = change.agent
    agent.stopped_at, agent.stop_mark, agent.last_words = meta.at, _end_mark(meta, message), ""


def _is_late(change: Change, meta: Meta) -> bool:
    return meta.at <= change.agent.busy_at or meta.at <= change.agent.stopped_at


def _is_paused(agent: Agent, listed: tuple[facts.Task, ...] | None) -> bool:
    """Whether the client will go on by itself: news wait for it, or sub-agents run. Its own list decides that."""
    if agent.returning:
        return True
    if listed is None:
        return any(sub.running for sub in agent.subagents)
    return any(task.kind == "subagent" for task in listed)


def _pause(change: Change, meta: Meta, message: str) -> None:
    """The turn pauses while sub-agents run: the agent still works, the client will go on by itself."""
    _note_end(change, meta, message)
    meanwhile = "background work comes back" if change.agent.returning else "a sub-agent runs"
    change.new_grounds, change.why = True, f"the turn ended while {meanwhile}"
    if (command := open_command_of(change.agent)) is not None:
        say(change, command, Actor.AGENT, Intent.PROGRESS, message)


def _settle(change: Change, meta: Meta, message: str) -> None:
    """The turn is over: what its last words mean decides whether somebody is waited for."""
    agent = change.agent
    _notice_queued_turn(change, meta)
    command = _command_that_ended(change, meta, message, Outcome.COMPLETED)
    _note_end(change, meta, message)
    agent.settled_at, agent.error = max(agent.settled_at, meta.at), None
    change.why = "the turn ended"
    if command is None:
        return
    detection = detect_intent(message)
    say(change, command, Actor.AGENT, detection.intent, message, reason=detection.reason)
    queued = _run_next(agent, command, meta)
    if detection.intent is Intent.QUESTION and not queued:
        change.why = f"the turn ended with a question ({detection.reason})"
        open_wait(change, Ask("question", message[-COMMAND_PREVIEW:]), meta.at, asked_in_text=True)
        return
    intent = Intent.COMPLETION if detection.intent is Intent.QUESTION else detection.intent
    close_command(change, meta.at, Outcome.COMPLETED, intent)
    if queued:
        change.inferred, change.new_grounds, change.why = True, True, "a queued prompt runs next"
        _begin_queued(change, queued, meta.at, None)
        agent.busy_at = meta.at + 1


def _command_that_ended(change: Change, meta: Meta, message: str, outcome: Outcome) -> Command | None:
    """The open command; else the one that was closed too early; else one that nobody announced (a `!` command)."""
    agent, command = change.agent, change.agent.command
    if (running := open_command_of(agent)) is not None:
        return running
    if (
        command is not None
        and command.outcome is Outcome.INTERRUPTED
        and (meta.at <= agent.settled_at or _was_only_expected(command))
    ):
        better = replace(command, outcome=outcome, ended_at=meta.at)
        keep_command(change, better)
        return better
    if command is not None and _is_turn_of(agent, command, meta.prompt_id):
        return command
    return begin_command(change, Trigger.UNANNOUNCED, "", meta.at, meta.prompt_id) if message else None


def _was_only_expected(command: Command) -> bool:
    """Whether nothing was ever heard of a queued prompt's turn: a client that is slow to begin it seemed to rest."""
    return command.trigger is Trigger.QUEUED and command.prompt_id is None


def _queued_behind(agent: Agent, command: Command) -> list[Heard]:
    """The prompts that no tool's end took into the turn: the client runs them next, and announces nothing."""
    return [entry for entry in agent.queued if entry.at > agent.tool_finished_at and entry.command_id == command.id]


def _run_next(agent: Agent, command: Command, meta: Meta) -> list[Heard]:
    """The queued prompts that the client runs now, announced or not. A transcript shows them all by itself."""
    if meta.origin is Origin.TRANSCRIPT:
        return []
    known = (None, meta.prompt_id) if meta.prompt_id is not None else None
    return [entry for entry in _queued_behind(agent, command) if known is None or entry.prompt_id in known]


def _begin_queued(change: Change, queued: list[Heard], at: Micros, prompt_id: str | None) -> None:
    change.agent.queued = ()
    command = begin_command(change, Trigger.QUEUED, queued[0].text, at, prompt_id)
    move(change, Actor.AGENT, Intent.PROGRESS)
    correct(change, queued[0], command_id=command.id, intent=Intent.COMMAND)
    for entry in queued[1:]:
        correct(change, entry, command_id=command.id)


def _notice_queued_turn(change: Change, meta: Meta) -> None:
    """A turn that nothing announced, while prompts are queued: it is theirs, and the end before it is still to come."""
    agent = change.agent
    if not agent.queued or meta.prompt_id is None:
        return
    command = open_command_of(agent)
    if command is None or command.prompt_id is None:
        return
    queued = _queued_behind(agent, command)
    if queued and not _is_turn_of(agent, command, meta.prompt_id):
        close_command(change, meta.at, Outcome.COMPLETED)
        _begin_queued(change, queued, meta.at, meta.prompt_id)


def _late_end(change: Change, meta: Meta, message: str, outcome: Outcome) -> None:
    """An end of something that newer work has replaced: it settles its own command and nothing else."""
    change.anomalies.append("late stop")
    agent = change.agent
    for command in newest_first(agent):
        if _is_turn_of(agent, command, meta.prompt_id) or (meta.prompt_id is None and command.started_at <= meta.at):
            goes_on = command.state is not CommandState.COMPLETE or spoke_later(agent, command, meta.at)
            intent = Intent.PROGRESS if goes_on else detect_intent(message).intent
            say(change, command, Actor.AGENT, intent, message)
            if command.outcome in (Outcome.SUPERSEDED, Outcome.INTERRUPTED):
                keep_command(change, replace(command, outcome=outcome, ended_at=meta.at))
            return


def interrupted(change: Change, meta: Meta, _fact: facts.TurnInterrupted) -> None:
    """The human stopped the turn; what runs in the background goes on."""
    agent = change.agent
    change.why = "interrupted by the user"
    if meta.subagent_id is None:
        _interrupt_superseded(change, meta)
        quiet(change, meta.at, "interrupted")
        agent.stopped_at, agent.last_words = max(agent.stopped_at, meta.at), ""
    elif (sub := find_subagent(agent, meta.subagent_id)) is not None:
        stop_subagent(change, sub, meta.at)


def _interrupt_superseded(change: Change, meta: Meta) -> None:
    """What seemed to be replaced by the next prompt had been interrupted before."""
    command = command_at(change.agent, meta.at)
    if command is not None and command.outcome is Outcome.SUPERSEDED and meta.at <= (command.ended_at or 0):
        keep_command(change, replace(command, outcome=Outcome.INTERRUPTED, ended_at=meta.at))


def quiet(change: Change, at: Micros, resolution: str, *, in_background_too: bool = False) -> None:
    """The main thread is seen to be idle: work and dialogs are over; errors and questions in text stay."""
    agent = change.agent
    end_thread(change, None, at, resolution)
    agent.compacted_at = max(agent.compacted_at, at)
    if in_background_too:
        agent.listed_at = max(agent.listed_at, at)
    for sub in agent.working_subagents:
        if sub.heard_at < at and (in_background_too or not sub.background):
            stop_subagent(change, sub, at)
    if at > agent.busy_at:
        agent.returning = ()
        ran, agent.settled_at = agent.turn_runs, max(agent.settled_at, at)
        if ran:
            agent.queued = ()
            was_told = agent.busy_at <= agent.stopped_at
            close_command(change, at, Outcome.COMPLETED if was_told else Outcome.INTERRUPTED)
