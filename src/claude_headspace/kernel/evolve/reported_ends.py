"""Ends of turns that a client reports without saying how they ended.

The hook of such a client also fires when the user interrupted the turn or the API failed. The agent stays `working`
until the transcript shows which it was, some milliseconds before or after the hook:

| the transcript shows | the turn |
|---|---|
| a reply after the last call | is complete |
| an interrupt or an error | ended with it; the report adds nothing |
| a new prompt, or nothing for a while | counts as complete |
"""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent, ReportedEnd
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.evolve.change import Change, replace
from claude_headspace.kernel.evolve.turns import turn_stopped
from claude_headspace.kernel.facts import Meta

MAX_MESSAGE = 2_000
"""How much of the words of a turn is kept until its end is confirmed."""

UNCONFIRMED_AFTER: Micros = 5 * SECOND
"""The transcript shows the end of a turn within a tenth of a second. After this time it will not."""


def turn_end_reported(change: Change, meta: Meta, fact: facts.TurnEndReported) -> None:
    """The client reports the end of a turn. Complete if the transcript has shown the final text."""
    agent = change.agent
    if meta.at <= max(agent.idle_at, agent.turn_ended_at) or _is_known(agent, meta):
        return
    agent.reported_end = ReportedEnd(meta.at, fact.message[-MAX_MESSAGE:])
    if agent.is_in_turn:
        change.why, change.has_new_evidence = "the end of the turn was reported, but not how it ended", True
    confirm_end(change, meta)


def _is_known(agent: Agent, meta: Meta) -> bool:
    return agent.reported_end is not None and agent.reported_end.at >= meta.at


def confirm_end(change: Change, meta: Meta) -> None:
    """End the turn if its end was reported and its final text is known."""
    agent = change.agent
    if agent.reported_end is not None and _has_final_text(agent, agent.reported_end.at):
        _accept(change, meta, agent.final_text)


def _has_final_text(agent: Agent, end: Micros) -> bool:
    """Whether the newest text of the turn was written after its last call and before its reported end."""
    if not agent.final_text or not agent.is_in_turn:
        return False
    written = (turn.at for turn in agent.recent_turns if turn.turn_id == agent.final_text_turn_id)
    last_call_at = max(agent.call_started_at, agent.call_ended_at)
    return any(last_call_at < at <= end for at in written)


def settle_before(change: Change, meta: Meta, fact: facts.Fact) -> None:
    """A prompt after a reported end: the turn had ended. The transcript, which is late, has its final text."""
    parts = fact.facts if isinstance(fact, facts.Several) else (fact,)
    is_prompt = any(isinstance(part, facts.PromptSubmitted | facts.UserWrote) for part in parts)
    end = change.agent.reported_end
    if is_prompt and end is not None and meta.at > end.at:
        _assume(change, meta, "")


def turn_end_assumed(change: Change, meta: Meta, _fact: facts.TurnEndAssumed) -> None:
    """No transcript showed how the turn ended."""
    end = change.agent.reported_end
    if end is not None and meta.at >= end.at:
        change.inferred = True
        _assume(change, meta, end.message)


def _assume(change: Change, meta: Meta, message: str) -> None:
    end = change.agent.reported_end
    if end is None:
        return
    if change.agent.busy_at <= end.at and change.agent.is_in_turn:
        _accept(change, meta, message)
    else:
        change.agent.reported_end = None


def _accept(change: Change, meta: Meta, message: str) -> None:
    """The turn ended when the client reported it."""
    agent = change.agent
    end, agent.reported_end = agent.reported_end, None
    if end is not None and agent.busy_at <= end.at:
        turn_stopped(change, replace(meta, at=end.at), facts.TurnStopped(message, ()))
