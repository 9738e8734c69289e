"""Tool calls, the dialogs that belong to them, and sub-agents: what each thread has open.

The client's dialogs do not name their call (`PermissionRequest` has no id), so they join the oldest open call of the
same thread, tool and input. One call never has two waits.
"""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent, FinishedCall, Subagent, ToolCall, Wait
from claude_headspace.kernel.decode import ASKING_TOOLS
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.evolve.background import background_started
from claude_headspace.kernel.evolve.change import (
    REMEMBERED_CALLS,
    Change,
    close_waits,
    end_call,
    end_thread,
    find_subagent,
    keep_subagent,
    keep_wait,
    met_subagent,
    open_command_of,
    open_wait,
    replace,
    say,
    stop_subagent,
)
from claude_headspace.kernel.evolve.turns import work
from claude_headspace.kernel.facts import Ask, Meta
from claude_headspace.kernel.state_machine import Actor, Intent

NEXT_STEP: Micros = 3 * SECOND // 2
"""Calls of one step begin together; one that begins this much later is of a later step: the earlier dialog is over."""


def is_over(agent: Agent, meta: Meta) -> bool:
    """Whether whatever the event's thread began at that moment has ended since."""
    if meta.subagent_id is None:
        return meta.at <= max(agent.settled_at, agent.step_at)
    sub = find_subagent(agent, meta.subagent_id)
    return meta.at < agent.listed_at if sub is None else meta.at <= max(sub.stopped_at, sub.step_at)


def progress(change: Change, meta: Meta) -> None:
    """The event's thread works."""
    if meta.subagent_id is None:
        work(change, meta)
    else:
        _see_subagent(change, meta, meta.subagent_id)


def _see_subagent(change: Change, meta: Meta, subagent_id: str) -> None:
    sub = met_subagent(change.agent, subagent_id, meta.at)
    seen = replace(
        sub,
        type=sub.type or meta.subagent_type or "",
        started_at=min(sub.started_at or meta.at, meta.at),
        last_active_at=max(sub.last_active_at, meta.at),
    )
    keep_subagent(change, seen)


# --- calls ------------------------------------------------------------------------------------------------------------


def tool_started(change: Change, meta: Meta, fact: facts.ToolStarted) -> None:
    """A call opens; a tool that asks opens a wait with it, and a later step closes the waits of an earlier one."""
    agent = change.agent
    if is_over(agent, meta):
        return
    progress(change, meta)
    _close_stale_waits(change, meta, fact.call_id)
    if _is_known(agent, meta, fact.call_id):
        return
    call = ToolCall(
        id=fact.call_id,
        tool=fact.tool,
        digest=fact.digest,
        summary=fact.summary,
        started_at=meta.at,
        subagent_id=meta.subagent_id,
    )
    agent.calls = (*agent.calls[1 - REMEMBERED_CALLS :], call)
    change.why = f"started {fact.tool}"
    _explain_dialog(change, meta, fact, call)


def _is_known(agent: Agent, meta: Meta, call_id: str) -> bool:
    """Whether the call is open, or was over after this start of it."""
    if any(call.id == call_id for call in agent.calls):
        return True
    return any(call.id == call_id and call.at > meta.at for call in agent.finished_calls)


def _close_stale_waits(change: Change, meta: Meta, call_id: str) -> None:
    """A later step has begun, or a dialog that no call explains was followed by progress: that wait is over."""
    agent = change.agent
    if not agent.waits:
        return
    started = {call.id: call.started_at for call in agent.calls}

    def stale(wait: Wait) -> bool:
        if wait.subagent_id != meta.subagent_id or wait.asked_in_text or wait.call_id == call_id:
            return False
        begun = started.get(wait.call_id or "", wait.opened_at)
        return meta.at > begun + NEXT_STEP

    if close_waits(change, stale, "the agent went on"):
        change.inferred = True


def _explain_dialog(change: Change, meta: Meta, fact: facts.ToolStarted, call: ToolCall) -> None:
    """A dialog that was seen before its call belongs to it now; else a tool that asks opens one."""
    pending = _dialog_without_call(change.agent, meta, fact.tool, fact.digest)
    if pending is not None and (pending.digest is not None or fact.ask is not None):
        known = replace(pending, call_id=call.id, digest=fact.digest, tool=fact.tool, subagent_id=meta.subagent_id)
        keep_wait(change, _asked(known, fact.ask, meta.at, fact.summary) if fact.ask else known)
        if pending.digest is None and fact.ask is not None:
            _say_asked(change, fact.ask, fact.tool)
    elif fact.ask is not None and meta.at > change.agent.undisturbed_at:
        change.why = f"{fact.tool} waits for an answer"
        _open_dialog(change, meta, fact.ask, call)


def _dialog_without_call(agent: Agent, meta: Meta, tool: str, digest: str) -> Wait | None:
    """A dialog that was seen before the call that it belongs to. Notification and registry do not even tell whose."""
    return next(
        (
            wait
            for wait in agent.waits
            if wait.call_id is None
            and not wait.asked_in_text
            and (wait.digest is None or (wait.tool, wait.digest, wait.subagent_id) == (tool, digest, meta.subagent_id))
        ),
        None,
    )


def _asked(wait: Wait, ask: Ask, at: Micros, summary: str) -> Wait:
    return replace(
        wait,
        kind=ask.kind,
        text=ask.text or wait.text,
        questions=ask.questions or wait.questions,
        summary=summary,
        opened_at=min(wait.opened_at, at),
    )


def _open_dialog(change: Change, meta: Meta, ask: Ask, call: ToolCall | facts.PermissionAsked, **more: object) -> None:
    open_wait(
        change,
        ask,
        meta.at,
        tool=call.tool,
        summary=call.summary,
        call_id=call.id if isinstance(call, ToolCall) else None,
        digest=call.digest,
        subagent_id=meta.subagent_id,
        **more,
    )
    _say_asked(change, ask, call.tool)


def _say_asked(change: Change, ask: Ask, tool: str) -> None:
    """What a tool asks is said by the agent; a permission is the client's own question."""
    command = open_command_of(change.agent)
    if ask.kind in ("question", "plan") and command is not None:
        say(change, command, Actor.AGENT, Intent.QUESTION, ask.text, reason=f"{tool} asks")


# --- dialogs of calls -------------------------------------------------------------------------------------------------


def permission_asked(change: Change, meta: Meta, fact: facts.PermissionAsked) -> None:
    """A dialog opens for a call: one wait, joined with what is known of that call."""
    agent = change.agent
    if is_over(agent, meta):
        return
    progress(change, meta)
    if meta.at <= agent.undisturbed_at or _was_answered(agent, meta, fact):
        return
    asks = "needs permission" if fact.ask.kind == "permission" else "waits for an answer"
    change.why = f"{fact.tool} {asks}"
    call = _call_that_asks(agent, meta, fact)
    joined = next((wait for wait in agent.waits if call is not None and wait.call_id == call.id), None)
    joined = joined or _dialog_without_call(agent, meta, fact.tool, fact.digest)
    if joined is None:
        _open_dialog(change, meta, fact.ask, call or fact, suggestions=fact.suggestions)
        return
    keep_wait(change, _explained(joined, meta, fact, call))
    if joined.digest is None:
        _say_asked(change, fact.ask, fact.tool)


def _explained(wait: Wait, meta: Meta, fact: facts.PermissionAsked, call: ToolCall | None) -> Wait:
    return replace(
        _asked(wait, fact.ask, meta.at, fact.summary),
        tool=fact.tool,
        digest=wait.digest or fact.digest,
        call_id=call.id if call else wait.call_id,
        subagent_id=meta.subagent_id,
        suggestions=fact.suggestions,
    )


def _call_that_asks(agent: Agent, meta: Meta, fact: facts.PermissionAsked) -> ToolCall | None:
    """The oldest open call of that thread, tool and input that has no dialog yet; the dialog does not name it."""
    waiting = {wait.call_id for wait in agent.waits if wait.kind == "permission"}
    alike = [call for call in agent.calls if _asks_for(call, meta, fact)]
    return next((call for call in alike if call.id not in waiting), alike[0] if alike else None)


def _was_answered(agent: Agent, meta: Meta, fact: facts.PermissionAsked) -> bool:
    """Whether the call that asked has finished since."""
    return any(call.at > meta.at and _asks_for(call, meta, fact) for call in agent.finished_calls)


def _asks_for(call: ToolCall | FinishedCall, meta: Meta, fact: facts.PermissionAsked) -> bool:
    """Whether the dialog can be that call's. Answers change the input of a tool that asks: there the tool must do."""
    return (
        call.tool == fact.tool
        and call.subagent_id == meta.subagent_id
        and (call.digest == fact.digest or fact.tool in ASKING_TOOLS)
    )


# --- the ends of calls ------------------------------------------------------------------------------------------------


def tool_finished(change: Change, meta: Meta, fact: facts.ToolFinished) -> None:
    """A call is over; it may have started something in the background, or brought the human's answer."""
    change.why = f"{fact.tool} finished"
    over = _finished(change.agent, meta, fact.call_id, fact.tool, fact.digest)
    finish(change, meta, over, "answered" if fact.answer else "the tool ran", fact.answer)
    if fact.background_task is not None:
        background_started(change, fact.background_task, meta.at)
    if fact.background_subagent is not None:
        keep_subagent(change, replace(met_subagent(change.agent, fact.background_subagent, meta.at), background=True))


def tool_failed(change: Change, meta: Meta, fact: facts.ToolFailed) -> None:
    """A call failed: it is over, and the agent goes on."""
    change.why = f"{fact.tool} failed: {fact.error}"
    finish(change, meta, _finished(change.agent, meta, fact.call_id, fact.tool, fact.digest), "the tool failed")


def tool_refused(change: Change, meta: Meta, fact: facts.ToolRefused) -> None:
    """A call was refused without asking anybody: it is over, and the agent goes on."""
    change.why = f"{fact.tool} was refused: {fact.reason}"
    finish(change, meta, _finished(change.agent, meta, fact.call_id, fact.tool, fact.digest), "refused")


def _finished(agent: Agent, meta: Meta, call_id: str | None, tool: str, digest: str) -> FinishedCall:
    """The call that ended. Without an id it is the oldest open one of that tool, if possible with that input."""
    if call_id is not None:
        known = next((call for call in agent.calls if call.id == call_id), None)
    else:
        mine = [call for call in agent.calls if call.subagent_id == meta.subagent_id and tool in ("", call.tool)]
        known = next((call for call in mine if call.digest == digest), mine[0] if mine else None)
    if known is None:
        name = call_id or f"{tool}:{digest}"
        return FinishedCall(id=name, tool=tool, digest=digest, at=meta.at, subagent_id=meta.subagent_id)
    return FinishedCall(
        id=known.id, tool=known.tool, digest=known.digest, at=meta.at, subagent_id=known.subagent_id
    )


def finish(change: Change, meta: Meta, over: FinishedCall, resolution: str, answer: str = "") -> None:
    """A call is over; its wait closes with it, those of calls beside it stay."""
    agent = change.agent
    _note_tool_end(agent, meta)
    end_call(change, over)
    if not is_over(agent, meta):
        progress(change, meta)
    if not agent.waits:
        return
    asked = close_waits(change, lambda wait: _ends_with(wait, over, meta), resolution)
    command = open_command_of(agent)
    if asked and answer and command is not None:
        say(change, command, Actor.USER, Intent.ANSWER, answer)


def _note_tool_end(agent: Agent, meta: Meta) -> None:
    if meta.subagent_id is None:
        agent.tool_finished_at = max(agent.tool_finished_at, meta.at)


def _ends_with(wait: Wait, over: FinishedCall, meta: Meta) -> bool:
    """Whether the wait is the call's; a dialog without a call ends with its input's, or with any progress if none."""
    if wait.call_id is not None:
        return wait.call_id == over.id
    if wait.asked_in_text or wait.subagent_id != meta.subagent_id or wait.opened_at >= meta.at:
        return False
    return wait.digest is None or (wait.tool, wait.digest) == (over.tool, over.digest)


def step_finished(change: Change, meta: Meta, fact: facts.StepFinished) -> None:
    """All calls of a step are over, with their dialogs: a rejected call has no other end."""
    agent = change.agent
    change.why = "a step ended"
    _note_tool_end(agent, meta)
    for call_id in fact.call_ids:
        end_call(change, _finished(agent, meta, call_id, "", ""))
    if not is_over(agent, meta):
        progress(change, meta)
    end_thread(change, meta.subagent_id, meta.at, "the step ended")
    if meta.subagent_id is not None and (sub := find_subagent(agent, meta.subagent_id)) is not None:
        keep_subagent(change, replace(sub, step_at=max(sub.step_at, meta.at)))


# --- sub-agents -------------------------------------------------------------------------------------------------------


def subagent_started(change: Change, meta: Meta, _fact: facts.SubagentStarted) -> None:
    """A sub-agent runs: the agent works, whatever its own turn does."""
    if meta.subagent_id is not None:
        change.why = f"the sub-agent {meta.subagent_type or meta.subagent_id} started"
        _see_subagent(change, meta, meta.subagent_id)


def subagent_stopped(change: Change, meta: Meta, _fact: facts.SubagentStopped) -> None:
    """A sub-agent is over, with all that it had open; its parent goes on."""
    if meta.subagent_id is not None:
        change.why = f"the sub-agent {meta.subagent_type or meta.subagent_id} ended"
        unknown = Subagent(id=meta.subagent_id, type=meta.subagent_type or "")
        stop_subagent(change, find_subagent(change.agent, meta.subagent_id) or unknown, meta.at)
