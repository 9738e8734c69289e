"""Dialogs that no tool call explains: notifications and MCP elicitations."""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import FinishedCall
from claude_headspace.kernel.evolve.change import Change, keep_wait, open_wait, replace
from claude_headspace.kernel.evolve.tools import finish, is_over, progress
from claude_headspace.kernel.evolve.turns import quiet
from claude_headspace.kernel.facts import Ask, Meta


def attention(change: Change, meta: Meta, fact: facts.AttentionCalled) -> None:
    """The client calls: a dialog is open that no other event may have told, or it has been idle for a minute."""
    if fact.kind == "idle_prompt":
        change.inferred, change.why = True, "the client reminds that it is idle"
        quiet(change, meta.at, "the client is idle")
    elif fact.ask is not None:
        dialog_seen(change, meta, fact.ask, f"the client asks for attention: {fact.message}")


def dialog_seen(change: Change, meta: Meta, ask: Ask, why: str) -> None:
    """Something waits, and only that is known: never a second wait beside one that is open, nor one that is over."""
    agent = change.agent
    if not agent.waits and meta.at >= agent.busy_at and not is_over(agent, meta):
        change.why = why
        open_wait(change, ask, meta.at, subagent_id=meta.subagent_id)


def elicitation_asked(change: Change, meta: Meta, fact: facts.ElicitationAsked) -> None:
    """An MCP server asks: one wait, also when a notification told of it first."""
    agent = change.agent
    answered = any(call.id == fact.id and call.at > meta.at for call in agent.finished_calls)
    if answered or is_over(agent, meta):
        return
    progress(change, meta)
    change.why = "an MCP server asks"
    if any(wait.call_id == fact.id for wait in agent.waits):
        return
    seen = next((wait for wait in agent.waits if wait.kind == "elicitation" and wait.call_id is None), None)
    if seen is None:
        open_wait(change, fact.ask, meta.at, call_id=fact.id, subagent_id=meta.subagent_id)
    else:
        opened_at = min(seen.opened_at, meta.at)
        keep_wait(change, replace(seen, text=fact.ask.text or seen.text, call_id=fact.id, opened_at=opened_at))


def elicitation_answered(change: Change, meta: Meta, fact: facts.ElicitationAnswered) -> None:
    """An MCP server has its answer: that wait is over."""
    change.why = "the MCP server has its answer"
    over = FinishedCall(id=fact.id, tool="", digest="", at=meta.at, subagent_id=meta.subagent_id)
    finish(change, meta, over, fact.action or "answered")
