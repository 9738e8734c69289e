"""Tool calls, their dialogs, and sub-agents.

A dialog that does not name its tool call is joined with the oldest open call of the same thread, tool and input. One
call never has two waits at a time. The dialog of a call that may be granted opens when it is seen, or when the call has
not ended for a while. A dialog with a request id is open until the client reports its end, or the end of
its call or thread.
"""

from collections.abc import Callable

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent, FinishedCall, Subagent, ToolCall, Wait
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.evolve.background import background_started
from claude_headspace.kernel.evolve.change import (
    DUPLICATE_WINDOW,
    MAX_CALLS,
    Change,
    add_turn,
    close_waits,
    end_call,
    end_thread,
    find_subagent,
    known_subagent,
    move_command,
    new_wait,
    open_command_of,
    open_wait,
    replace,
    stop_subagent,
    store_subagent,
    store_wait,
)
from claude_headspace.kernel.evolve.turns import is_of_ended_turn, record_work
from claude_headspace.kernel.facts import Meta
from claude_headspace.kernel.state_machine import Actor, Intent
from claude_headspace.kernel.wait.request import Ask

REPORT_DELAY: Micros = 8 * SECOND
"""A report within this time of a dialog is about that dialog: notifications come after six seconds, registry entries
immediately. A later report is about another dialog."""

HOOK_DELAY: Micros = SECOND
"""On a busy machine the hook of a dialog starts after its registry entry, up to this much."""

REPORTED_KINDS = ("permission", "question")
"""The kinds under which notification and registry report dialogs of tool calls, without naming the call."""

NEXT_STEP: Micros = 3 * SECOND // 2
"""Calls of one step start together. A call that starts this much later is a later step: earlier dialogs ended."""

ENDS_ITS_STEP = ("plan",)
"""Dialogs of calls that are the last of their step. Any later call is a later step, however soon it starts."""

ASSUMED_AFTER: Micros = SECOND
"""A call that is granted has ended after this time. Otherwise the client shows its dialog."""

PLAN_APPROVED = "Plan approved"
"""The turn of the user who approves a plan. The client reports no words for it."""


def thread_ended_at(agent: Agent, meta: Meta) -> Micros:
    """The time until which everything that the event's thread started has ended."""
    if meta.subagent_id is None:
        return max(agent.idle_at, agent.step_ended_at)
    sub = find_subagent(agent, meta.subagent_id)
    return agent.background_listed_at - 1 if sub is None else max(sub.stopped_at, sub.step_ended_at)


def record_thread_work(change: Change, meta: Meta) -> None:
    """Record a sign of work of the event's thread: the main thread or a sub-agent."""
    if meta.subagent_id is None:
        record_work(change, meta)
    else:
        _record_subagent_work(change, meta, meta.subagent_id)


def _record_subagent_work(change: Change, meta: Meta, subagent_id: str) -> None:
    sub = known_subagent(change.agent, subagent_id, meta.at)
    seen = replace(
        sub,
        type=sub.type or meta.subagent_type or "",
        started_at=min(sub.started_at or meta.at, meta.at),
        last_active_at=max(sub.last_active_at, meta.at),
    )
    store_subagent(change, seen)


# --- calls ------------------------------------------------------------------------------------------------------------


def tool_started(change: Change, meta: Meta, fact: facts.ToolStarted) -> None:
    """A tool call starts. A tool that asks opens a wait; a later step closes the waits of earlier steps."""
    agent = change.agent
    record_thread_work(change, meta)
    if meta.at <= thread_ended_at(agent, meta):
        return
    _record_call_start(change, meta, fact)
    if agent.waits:
        _close_stale_waits(change, meta, fact.call_id)
    has_ended = any(call.id == fact.call_id and call.at > meta.at for call in agent.finished_calls)
    if has_ended or any(call.id == fact.call_id for call in agent.calls):
        return
    call = ToolCall(
        id=fact.call_id,
        tool=fact.tool,
        digest=fact.digest,
        summary=fact.summary,
        started_at=meta.at,
        subagent_id=meta.subagent_id,
        presents_plan=fact.ask is not None and fact.ask.kind == "plan",
    )
    agent.calls = (*agent.calls[1 - MAX_CALLS :], call)
    change.why = f"started {fact.tool}"
    if agent.waits or fact.ask is not None:
        _join_or_open_dialog(change, meta, fact, call)


def _record_call_start(change: Change, meta: Meta, fact: facts.ToolStarted) -> None:
    agent = change.agent
    if meta.subagent_id is None:
        if meta.at >= agent.call_started_at:
            agent.last_tool = fact.tool
        agent.call_started_at = max(agent.call_started_at, meta.at)
    elif (sub := find_subagent(agent, meta.subagent_id)) is not None:
        store_subagent(change, replace(sub, call_started_at=max(sub.call_started_at, meta.at)))


def _close_stale_waits(change: Change, meta: Meta, call_id: str) -> None:
    """Close waits of earlier steps, and dialogs without a call that were followed by work."""
    started = {call.id: call.started_at for call in change.agent.calls}

    def is_stale(wait: Wait) -> bool:
        if wait.subagent_id != meta.subagent_id or wait.asked_in_text or wait.call_id == call_id or wait.request_id:
            return False
        started_at = started.get(wait.call_id or "", wait.opened_at)
        return meta.at > started_at + _next_step(wait.kind)

    if close_waits(change, is_stale, "the agent continued"):
        change.inferred = True


def _next_step(kind: str) -> Micros:
    """How much later than a dialog's call another call must start to be of a later step."""
    return 0 if kind in ENDS_ITS_STEP else NEXT_STEP


def _is_stale(agent: Agent, subagent_id: str | None, started_at: Micros, next_step: Micros = NEXT_STEP) -> bool:
    """Whether a dialog ended although its call has not: a later step started, or the client was seen busy."""
    sub = find_subagent(agent, subagent_id) if subagent_id is not None else None
    newest_start_at = sub.call_started_at if sub is not None else agent.call_started_at if subagent_id is None else 0
    return newest_start_at > started_at + next_step or started_at <= agent.dialogs_closed_at


def _join_or_open_dialog(change: Change, meta: Meta, fact: facts.ToolStarted, call: ToolCall) -> None:
    """Join a dialog that was reported before its call, or open a wait if the tool asks."""
    pending = _dialog_before_call(change.agent, meta, fact)
    if pending is not None:
        known = replace(pending, call_id=call.id, digest=fact.digest, tool=fact.tool, subagent_id=meta.subagent_id)
        store_wait(change, _with_ask(known, fact.ask, fact.summary) if fact.ask else known)
        if pending.digest is None and fact.ask is not None:
            _add_question_turn(change, fact.ask, fact.tool)
    elif fact.ask is not None and not _is_stale(change.agent, meta.subagent_id, meta.at, _next_step(fact.ask.kind)):
        change.why = f"{fact.tool} waits for an answer"
        _open_dialog(change, meta, fact.ask, call)


def _dialog_before_call(agent: Agent, meta: Meta, fact: facts.ToolStarted) -> Wait | None:
    """The dialog of this call, if it was reported first and is not joined with a later call of the same input."""
    wanted = (fact.tool, meta.subagent_id)
    later = {call.id for call in agent.calls if call.started_at > meta.at}
    for wait in agent.waits:
        has_input = wait.digest in (None, fact.digest)
        if (wait.tool, wait.subagent_id) == wanted and has_input and wait.opened_at >= meta.at:
            if wait.call_id not in later:
                return wait
        elif fact.ask is not None and _may_be_same_dialog(wait, meta):
            return wait
    return None


def _may_be_same_dialog(wait: Wait, meta: Meta) -> bool:
    """Whether a wait that is known only from a notification or the registry can be the dialog of this event."""
    if wait.asked_in_text or wait.call_id is not None or wait.digest is not None:
        return False
    return wait.kind in REPORTED_KINDS and -HOOK_DELAY < wait.opened_at - meta.at < REPORT_DELAY


def _with_ask(wait: Wait, ask: Ask, summary: str) -> Wait:
    return replace(
        wait, kind=ask.kind, text=ask.text or wait.text, questions=ask.questions or wait.questions, summary=summary
    )


def _open_dialog(change: Change, meta: Meta, ask: Ask, call: ToolCall | facts.PermissionAsked, **more: object) -> None:
    open_wait(
        change,
        ask,
        meta.at,
        tool=call.tool,
        summary=call.summary,
        call_id=call.id if isinstance(call, ToolCall) else call.call_id or None,
        digest=call.digest or None,
        subagent_id=meta.subagent_id,
        **more,
    )
    _add_question_turn(change, ask, call.tool)


def _add_question_turn(change: Change, ask: Ask, tool: str) -> None:
    """Add the question of a tool as a turn of the agent. A permission is a question of the client and not a turn."""
    command = open_command_of(change.agent)
    if ask.kind in ("question", "plan") and command is not None:
        add_turn(change, command, Actor.AGENT, Intent.QUESTION, ask.text, reason=f"{tool} asks")


# --- dialogs of calls -------------------------------------------------------------------------------------------------


def permission_asked(change: Change, meta: Meta, fact: facts.PermissionAsked) -> None:
    """A dialog opens for a tool call: one wait, joined with the call if it is known."""
    agent = change.agent
    record_thread_work(change, meta)
    ended_at = thread_ended_at(agent, meta)
    closed_at = ended_at if meta.at <= ended_at else _answered_at(agent, meta, fact)
    if closed_at is not None:
        _close_same_dialog(change, meta, closed_at)
        return
    call = _call_that_asks(agent, meta, fact)
    if not fact.request_id and _is_stale(agent, meta.subagent_id, call.started_at if call is not None else meta.at):
        return
    asks = "needs permission" if fact.ask.kind == "permission" else "waits for an answer"
    change.why = f"{fact.tool} {asks}"
    joined = _dialog_of(agent, meta, fact, call)
    if joined is None and fact.may_be_granted and call is not None:
        _expect_dialog(change, meta, fact, call)
        return
    if joined is None:
        details = {"suggestions": fact.suggestions, "request_id": fact.request_id}
        _open_dialog(change, meta, fact.ask, fact if fact.request_id else call or fact, **details)
        return
    store_wait(change, _with_call(joined, meta, fact, call))
    if joined.digest is None:
        _add_question_turn(change, fact.ask, fact.tool)


def _expect_dialog(change: Change, meta: Meta, fact: facts.PermissionAsked, call: ToolCall) -> None:
    """Remember the dialog of a call until it is certain that the client shows it."""
    if call.dialog is None:
        wait = new_wait(
            change,
            fact.ask,
            meta.at,
            tool=call.tool,
            summary=call.summary,
            call_id=call.id,
            digest=call.digest,
            subagent_id=meta.subagent_id,
        )
        expecting = replace(call, dialog=wait)
        change.agent.calls = tuple(expecting if each.id == call.id else each for each in change.agent.calls)


def open_expected_dialogs(change: Change, which: Callable[[Wait], bool], why: str) -> bool:
    """Open the waits of the announced dialogs that `which` selects. Whether there were any."""
    agent = change.agent
    found = [call.dialog for call in agent.calls if call.dialog is not None and which(call.dialog)]
    if found:
        agent.calls = tuple(replace(call, dialog=None) if call.dialog in found else call for call in agent.calls)
        change.why = why
        for wait in found:
            store_wait(change, wait)
        move_command(change, Actor.AGENT, Intent.QUESTION)
    return bool(found)


def dialog_assumed(change: Change, meta: Meta, _fact: facts.DialogAssumed) -> None:
    """Calls that may be granted have not ended for a while, so the client shows their dialogs."""
    latest, why = meta.at - ASSUMED_AFTER, "a call needs permission"
    change.inferred = open_expected_dialogs(change, lambda wait: wait.opened_at <= latest, why)


def _call_that_asks(agent: Agent, meta: Meta, fact: facts.PermissionAsked) -> ToolCall | None:
    """The named call, or the oldest of the latest step with the same thread, tool and input that has no dialog yet."""
    if fact.call_id:
        return next((call for call in agent.calls if call.id == fact.call_id), None)
    open_calls = [call for call in agent.calls if _is_same_tool(call, meta, fact) and call.started_at <= meta.at]
    same_input = [call for call in open_calls if _has_input(call, fact)]
    if not same_input and not fact.digest:
        same_input = open_calls
    candidates = same_input or [call for call in open_calls if _is_question(fact) and _has_just_started(call, meta)]
    if not candidates:
        return None
    newest = max(call.started_at for call in candidates)
    step = [call for call in candidates if call.started_at > newest - NEXT_STEP]
    waiting = {wait.call_id for wait in agent.waits if wait.kind == "permission"}
    return next((call for call in step if call.id not in waiting), step[0])


def _has_input(call: ToolCall, fact: facts.PermissionAsked) -> bool:
    """Whether a call has the input of a dialog. A client that does not send the input shows its summary."""
    return call.digest == fact.digest if fact.digest else call.summary == fact.summary


def _is_question(fact: facts.PermissionAsked) -> bool:
    """Whether the tool itself asks. Answers are added to its input, so the digest changes."""
    return fact.ask.kind != "permission"


def _is_same_tool(call: ToolCall | FinishedCall, meta: Meta, fact: facts.PermissionAsked) -> bool:
    return call.tool == fact.tool and call.subagent_id == meta.subagent_id


def _has_just_started(call: ToolCall, meta: Meta) -> bool:
    return meta.at - call.started_at < NEXT_STEP


def _answered_at(agent: Agent, meta: Meta, fact: facts.PermissionAsked) -> Micros | None:
    """When the call of this late dialog ended, if it did. Questions match by tool alone: answers change their input."""
    if fact.request_id:
        ids = (fact.request_id, fact.call_id)
        return min((call.at for call in agent.finished_calls if call.at > meta.at and call.id in ids), default=None)
    ends = (
        call.at
        for call in agent.finished_calls
        if call.at > meta.at
        and _is_same_tool(call, meta, fact)
        and (fact.digest in ("", call.digest) or _is_question(fact))
    )
    return min(ends, default=None)


def _close_same_dialog(change: Change, meta: Meta, until: Micros) -> None:
    """Close waits that are known only from a notification or the registry and can be this ended dialog."""
    if change.agent.waits:
        close_waits(
            change,
            lambda wait: wait.opened_at < until and _may_be_same_dialog(wait, meta),
            "the tool ran",
        )


def _dialog_of(agent: Agent, meta: Meta, fact: facts.PermissionAsked, call: ToolCall | None) -> Wait | None:
    """The open wait of the same dialog: of the same call, a duplicate, or one that was reported without its call."""
    if fact.request_id:
        return next((wait for wait in agent.waits if wait.request_id == fact.request_id), None)
    wanted = (fact.tool, fact.digest or None, meta.subagent_id)
    for wait in agent.waits:
        if call is not None and wait.call_id == call.id:
            return wait
        if wait.call_id is None and (wait.tool, wait.digest, wait.subagent_id) == wanted:
            if abs(wait.opened_at - meta.at) < DUPLICATE_WINDOW:
                return wait
        elif _may_be_same_dialog(wait, meta):
            return wait
    return None


def _with_call(wait: Wait, meta: Meta, fact: facts.PermissionAsked, call: ToolCall | None) -> Wait:
    return replace(
        _with_ask(wait, fact.ask, fact.summary),
        tool=fact.tool,
        digest=wait.digest or fact.digest or None,
        call_id=call.id if call else wait.call_id,
        subagent_id=meta.subagent_id,
        suggestions=fact.suggestions,
        opened_at=max(wait.opened_at, meta.at),
    )


def dialog_closed(change: Change, meta: Meta, fact: facts.DialogClosed) -> None:
    """A dialog was answered. Its call continues; a late report of the dialog does not open it again."""
    agent = change.agent
    change.why = f"a dialog was closed: {fact.resolution}"
    if fact.request_id:
        over = FinishedCall(id=fact.request_id, tool="", digest="", at=meta.at, subagent_id=meta.subagent_id)
        agent.finished_calls = (*agent.finished_calls[1 - MAX_CALLS :], over)
    record_thread_work(change, meta)
    close_waits(change, lambda wait: _is_dialog(wait, meta, fact), fact.resolution)
    if fact.answer and (command := open_command_of(agent)) is not None:
        add_turn(change, command, Actor.USER, Intent.ANSWER, fact.answer)


def _is_dialog(wait: Wait, meta: Meta, fact: facts.DialogClosed) -> bool:
    if fact.request_id:
        return wait.request_id == fact.request_id
    return wait.call_id == fact.call_id and wait.opened_at <= meta.at


# --- the ends of calls ------------------------------------------------------------------------------------------------


def tool_finished(change: Change, meta: Meta, fact: facts.ToolFinished) -> None:
    """A tool call ended. It may have started background work or contain the answer of a person."""
    ended = finished_call(change.agent, meta, fact.call_id, fact.tool, fact.digest)
    change.why = f"{ended.tool or 'a call'} finished"
    answer = fact.answer or (PLAN_APPROVED if _approves_plan(change.agent, meta, ended) else "")
    finish_call(change, meta, ended, "answered" if fact.answer else "the tool ran", answer)
    if fact.background_task is not None:
        background_started(change, fact.background_task, meta.at)
    if fact.background_subagent is not None:
        store_subagent(
            change, replace(known_subagent(change.agent, fact.background_subagent, meta.at), background=True)
        )


def _approves_plan(agent: Agent, meta: Meta, ended: FinishedCall) -> bool:
    """Whether the call presented a plan. The wait may be over: the client can be seen busy before the call ends."""
    return any(call.presents_plan and call.id == ended.id for call in agent.calls) or any(
        wait.kind == "plan" and closes_with(wait, ended, meta) for wait in agent.waits
    )


def tool_failed(change: Change, meta: Meta, fact: facts.ToolFailed) -> None:
    """A tool call failed. That is not an error of the agent."""
    ended = finished_call(change.agent, meta, fact.call_id, fact.tool, fact.digest)
    change.why = f"{ended.tool or 'a call'} failed: {fact.error}"
    finish_call(change, meta, ended, "the tool failed")


def tool_refused(change: Change, meta: Meta, fact: facts.ToolRefused) -> None:
    """A tool call was refused without a dialog."""
    ended = finished_call(change.agent, meta, fact.call_id, fact.tool, fact.digest)
    change.why = f"{ended.tool or 'a call'} was denied: {fact.reason}"
    finish_call(change, meta, ended, "refused")


def finished_call(agent: Agent, meta: Meta, call_id: str | None, tool: str, digest: str) -> FinishedCall:
    """The call that ended. Without an id: the oldest open call of that tool, preferably with the same input."""
    if call_id is not None:
        found = next((call for call in agent.calls if call.id == call_id), None)
    else:
        own_calls = [call for call in agent.calls if call.subagent_id == meta.subagent_id and tool in ("", call.tool)]
        found = next((call for call in own_calls if call.digest == digest), own_calls[0] if own_calls else None)
    if found is None:
        name = call_id or f"{tool}:{digest}"
        return FinishedCall(id=name, tool=tool, digest=digest, at=meta.at, subagent_id=meta.subagent_id)
    return FinishedCall(id=found.id, tool=found.tool, digest=found.digest, at=meta.at, subagent_id=found.subagent_id)


def finish_call(change: Change, meta: Meta, ended: FinishedCall, resolution: str, answer: str = "") -> None:
    """End a call and its wait. Waits of parallel calls stay open."""
    agent = change.agent
    _record_call_end(agent, meta)
    end_call(change, ended)
    _record_work_until_end(change, meta)
    if agent.waits:
        close_waits(change, lambda wait: closes_with(wait, ended, meta), resolution)
    if answer and (command := open_command_of(agent)) is not None:
        add_turn(change, command, Actor.USER, Intent.ANSWER, answer)


def _record_work_until_end(change: Change, meta: Meta) -> None:
    """The end of a call shows work, unless its turn has ended: clients report calls that run at once late."""
    if meta.subagent_id is not None or not is_of_ended_turn(change, meta):
        record_thread_work(change, meta)


def _record_call_end(agent: Agent, meta: Meta) -> None:
    if meta.subagent_id is None:
        agent.call_ended_at = max(agent.call_ended_at, meta.at)


def closes_with(wait: Wait, ended: FinishedCall, meta: Meta) -> bool:
    """Whether a wait ends with a call. A dialog without a call ends with its input, or with any call if unknown."""
    if wait.asked_in_text or wait.opened_at >= meta.at:
        return False
    if wait.call_id is not None:
        return wait.call_id == ended.id
    if wait.subagent_id != meta.subagent_id:
        return False
    return wait.digest is None or (wait.tool, wait.digest) == (ended.tool, ended.digest)


def step_finished(change: Change, meta: Meta, fact: facts.StepFinished) -> None:
    """All calls of a step ended, with their dialogs. A rejected call has no other end."""
    agent = change.agent
    change.why = "a step ended"
    _record_call_end(agent, meta)
    for call_id in fact.call_ids:
        end_call(change, finished_call(agent, meta, call_id, "", ""))
    _record_work_until_end(change, meta)
    end_thread(change, meta.subagent_id, meta.at, "the step ended")
    if meta.subagent_id is not None and (sub := find_subagent(agent, meta.subagent_id)) is not None:
        store_subagent(change, replace(sub, step_ended_at=max(sub.step_ended_at, meta.at)))


# --- sub-agents -------------------------------------------------------------------------------------------------------


def subagent_started(change: Change, meta: Meta, _fact: facts.SubagentStarted) -> None:
    """A sub-agent started."""
    if meta.subagent_id is not None:
        change.why = f"the sub-agent {meta.subagent_type or meta.subagent_id} started"
        _record_subagent_work(change, meta, meta.subagent_id)


def subagent_described(change: Change, meta: Meta, fact: facts.SubagentDescribed) -> None:
    """Add type and description to a known sub-agent, running or ended."""
    if meta.subagent_id is not None and (sub := find_subagent(change.agent, meta.subagent_id)) is not None:
        known = {"type": sub.type or fact.type, "description": sub.description or fact.description}
        store_subagent(change, replace(sub, **known))


def subagent_stopped(change: Change, meta: Meta, _fact: facts.SubagentStopped) -> None:
    """A sub-agent ended, with its open calls and dialogs."""
    if meta.subagent_id is not None:
        change.why = f"the sub-agent {meta.subagent_type or meta.subagent_id} ended"
        unknown = Subagent(id=meta.subagent_id, type=meta.subagent_type or "")
        stop_subagent(change, find_subagent(change.agent, meta.subagent_id) or unknown, meta.at)
