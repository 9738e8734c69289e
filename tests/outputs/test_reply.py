"""The reply to an event received over HTTP."""

import json

import msgspec
import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.correlate import Strategy, create_agent
from claude_headspace.kernel.envelope import SECOND, Envelope
from claude_headspace.kernel.evolve import evolve
from claude_headspace.kernel.views.agent import agent_view
from claude_headspace.outputs.reply import compose_reply
from claude_headspace.testing import START, hook


def after(*envelopes: Envelope) -> Agent:
    """The agent after these events."""
    agent = create_agent("agent-1", envelopes[0], decode(envelopes[0]))
    for envelope in envelopes:
        agent = evolve(agent, decode(envelope)).agent
    return agent


PROMPT = hook("UserPromptSubmit", START + SECOND, prompt="Go.")
ASK = hook("PreToolUse", START + 2 * SECOND, tool_name="ExitPlanMode", tool_use_id="a", tool_input={"plan": "1. Go."})


@pytest.mark.parametrize(
    ("agent", "state", "waiting_for", "headspace"),
    [
        (after(hook("SessionStart")), "idle", None, "IDLE"),
        (after(hook("SessionStart"), PROMPT), "working", None, "PROCESSING"),
        (after(hook("SessionStart"), PROMPT, ASK), "waiting", "plan", "AWAITING_INPUT"),
        (after(hook("SessionStart"), hook("SessionEnd", START + SECOND, reason="other")), "ended", None, "COMPLETE"),
    ],
)
def test_a_reply_has_the_state(agent: Agent, state: str, waiting_for: str | None, headspace: str) -> None:
    """Status, agent and state in every dialect, the same as in the agent view."""
    reply = compose_reply(agent, Strategy.MEMORY, duplicate=False)
    shown = agent_view(agent)
    assert json.loads(msgspec.json.encode(reply)) == {
        "status": "ok",
        "agent_id": "agent-1",
        "agent": agent.name,
        "state": state,
        "waiting_for": waiting_for,
        "session_id": "session-1",
        "correlation": "memory",
        "dialects": json.loads(msgspec.json.encode(shown.dialects)),
    }
    assert reply.dialects is not None
    assert reply.dialects.headspace == headspace
    assert (reply.state, reply.waiting_for) == (shown.state, shown.waiting_for)


@pytest.mark.parametrize("strategy", Strategy)
def test_a_reply_has_the_correlation_strategy(strategy: Strategy) -> None:
    """By the name of the strategy."""
    reply = msgspec.json.encode(compose_reply(after(hook("SessionStart")), strategy, duplicate=False))
    assert json.loads(reply)["correlation"] == strategy.value


def test_a_duplicate_has_its_own_status() -> None:
    """Everything else is the same as in the first reply."""
    agent = after(hook("SessionStart"))
    first, second = (compose_reply(agent, Strategy.NEW, duplicate=duplicate) for duplicate in (False, True))
    assert (first.status, second.status) == ("ok", "duplicate")
    assert msgspec.structs.replace(second, status="ok") == first


def test_an_agent_without_a_session_has_a_reply() -> None:
    """Before its first session an agent is starting."""
    start = hook("SessionStart")
    reply = compose_reply(create_agent("agent-1", start, decode(start)), Strategy.NEW, duplicate=False)
    assert (reply.state, reply.session_id) == (AgentState.STARTING, None)


def test_a_reply_has_no_field_that_claude_code_acts_on() -> None:
    """Decisions are only in Claude Code's own part of the reply."""
    obeyed = {"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"}
    reply = json.loads(msgspec.json.encode(compose_reply(after(hook("SessionStart")), Strategy.NEW, duplicate=False)))
    assert not obeyed & reply.keys()
