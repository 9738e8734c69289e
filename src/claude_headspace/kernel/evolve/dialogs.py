"""Dialogs without a tool call (notifications, MCP elicitations), and answers given through Headspace.

An answer through Headspace does not close the wait: the dialog may be answered in the terminal at the same time. The
wait records the answer, and closes when the client continues.
"""

from claude_headspace.kernel import acts, facts
from claude_headspace.kernel.agent import Answered, FinishedCall, Wait
from claude_headspace.kernel.evolve.change import (
    DUPLICATE_WINDOW,
    Change,
    close_waits,
    open_wait,
    replace,
    stop_subagent,
    store_wait,
)
from claude_headspace.kernel.evolve.tools import finish_call, open_expected_dialogs, record_thread_work, thread_ended_at
from claude_headspace.kernel.evolve.turns import record_idle
from claude_headspace.kernel.facts import Meta
from claude_headspace.kernel.wait.request import Ask


def attention_requested(change: Change, meta: Meta, fact: facts.AttentionRequested) -> None:
    """A notification of the client: a dialog is open, or the client has been idle for a minute."""
    if fact.kind == "idle_prompt" and meta.subagent_id is None:
        change.inferred, change.why = True, "the client reported idle"
        record_idle(change, meta.at, "the client is idle")
    elif fact.ask is not None:
        dialog_seen(change, meta, fact.ask, f"the client asks for attention: {fact.message}")


def teammate_stopped(change: Change, meta: Meta, fact: facts.TeammateStopped) -> None:
    """A teammate has nothing to do. It is the sub-agent with that id or name, or otherwise the client itself."""
    names = {meta.subagent_id, fact.name} - {None, ""}
    known = [sub for sub in change.agent.subagents if names & {sub.id, sub.type}]
    for sub in (each for each in known if each.is_running):
        change.why = f"the teammate {fact.name} is idle"
        stop_subagent(change, sub, meta.at)
    if not known and not fact.is_sub_agent and meta.subagent_id is None:
        change.why = "the teammate is idle"
        record_idle(change, meta.at, change.why)


def dialog_seen(change: Change, meta: Meta, ask: Ask, why: str) -> None:
    """A dialog is open: an expected one, or one of which nothing else is known.

    No-op if a wait is open or the dialog has ended since.

    The source does not name the thread or the dialog, so later work of any thread proves that the dialog ended, and so
    does an answer that the client applied later.
    """
    agent = change.agent
    if open_expected_dialogs(change, lambda wait: _is_seen(wait, meta), why):
        return
    worked_at = max((agent.busy_at, *(max(sub.last_seen_at, sub.stopped_at) for sub in agent.subagents)))
    if not agent.waits and meta.at >= worked_at and meta.at > max(thread_ended_at(agent, meta), agent.answer_taken_at):
        change.why = why
        open_wait(change, ask, meta.at, subagent_id=meta.subagent_id)


def _is_seen(expected: Wait, meta: Meta) -> bool:
    """Whether an expected dialog can be the one that the client shows."""
    return expected.subagent_id == meta.subagent_id and expected.opened_at <= meta.at


def elicitation_asked(change: Change, meta: Meta, fact: facts.ElicitationAsked) -> None:
    """An MCP server asks. One wait, also if reported twice or reported by a notification first."""
    agent = change.agent
    record_thread_work(change, meta)
    is_answered = any(call.id == fact.id and call.at > meta.at for call in agent.finished_calls)
    if is_answered or meta.at <= thread_ended_at(agent, meta):
        return
    change.why = "an MCP server asks"
    close_waits(
        change,
        lambda wait: wait.call_id == fact.id and wait.opened_at <= meta.at - DUPLICATE_WINDOW,
        "the server asked again",
    )
    known = next((wait for wait in agent.waits if _is_elicitation(wait, fact.id)), None)
    if known is None:
        open_wait(change, fact.ask, meta.at, call_id=fact.id, subagent_id=meta.subagent_id)
    else:
        store_wait(change, replace(known, text=fact.ask.text or known.text, form=fact.ask.form, call_id=fact.id))


def _is_elicitation(wait: Wait, elicitation_id: str) -> bool:
    return wait.call_id == elicitation_id or (wait.call_id is None and wait.kind == "elicitation")


def elicitation_answered(change: Change, meta: Meta, fact: facts.ElicitationAnswered) -> None:
    """An MCP server got its answer: close its wait."""
    change.why = "the MCP server has its answer"
    over = FinishedCall(id=fact.id, tool="", digest="", at=meta.at, subagent_id=meta.subagent_id)
    finish_call(change, meta, over, fact.action or "answered")


# --- answers through Headspace ----------------------------------------------------------------------------------------


def wait_held(change: Change, _meta: Meta, fact: acts.WaitHeld) -> None:
    """The client accepts an answer through Headspace until a time."""
    if (wait := _open_wait(change, fact.wait_id)) is not None:
        offered = fact.suggestions or wait.suggestions
        store_wait(change, replace(wait, held_until=fact.until, suggestions=offered, obstacle=""))


def wait_answered(change: Change, meta: Meta, fact: acts.WaitAnswered) -> None:
    """Record an answer. The first answer counts."""
    if (wait := _open_wait(change, fact.wait_id)) is not None and wait.answered is None:
        answered = Answered(fact.words, fact.by, fact.via, meta.at, meta.event_id, fact.grants)
        store_wait(change, replace(wait, answered=answered))


def wait_taken(change: Change, meta: Meta, fact: acts.WaitTaken) -> None:
    """The client applied the answer. Needed for a dialog that was answered before the registry showed it."""
    wait = _open_wait(change, fact.wait_id)
    if wait is not None and wait.answered is not None:
        change.inferred, change.why = True, "the client received the answer"
        close_waits(change, lambda each: each.id == fact.wait_id, "answered")
        change.agent.answer_taken_at = max(change.agent.answer_taken_at, meta.at)


def wait_released(change: Change, _meta: Meta, fact: acts.WaitReleased) -> None:
    """The client did not receive an answer, or only the terminal can answer from now on."""
    if (wait := _open_wait(change, fact.wait_id)) is None:
        return
    lost = replace(wait.answered, problem=fact.reason) if fact.undelivered and wait.answered is not None else None
    undelivered, obstacle = lost or wait.undelivered, "" if fact.undelivered else fact.reason
    store_wait(change, replace(wait, held_until=fact.until, answered=None, undelivered=undelivered, obstacle=obstacle))


def _open_wait(change: Change, wait_id: str) -> Wait | None:
    return next((wait for wait in change.agent.waits if wait.id == wait_id), None)
