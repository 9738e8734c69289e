"""Novelty: only observations that change something are new."""

import msgspec
import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.envelope import Observations, Origin
from claude_headspace.kernel.facts import (
    AgentWrote,
    ClientReported,
    Event,
    Fact,
    Meta,
    ToolFinished,
    ToolStarted,
    TurnClosed,
    TurnInterrupted,
    UsageMeasured,
    UserWrote,
)
from claude_headspace.kernel.novelty import is_new, is_older_than_recent_turns
from claude_headspace.kernel.usage import ModelUsage, Tokens
from tests.kernel.story import CLIENT, Story, bash, envelope, time_at


@pytest.fixture
def story() -> Story:
    """A client in the middle of a call."""
    running = Story()
    running.starts(at=1)
    running.prompted("Fix it", at=2)
    running.calls("t1", at=3)
    return running


def observed(fact: Fact, at: float, origin: Origin = Origin.TRANSCRIPT, observations: Observations = CLIENT) -> Event:
    """An event of another source."""
    meta = Meta(event_id="e", name="", origin=origin, at=time_at(at), received_at=time_at(at), session_id="session-1")
    return Event(meta, fact, observations)


@pytest.mark.parametrize(
    "event",
    [
        observed(ToolStarted("t1", "Bash", "", "ls"), 3),
        observed(UsageMeasured(tokens=10), 3),
        observed(ClientReported("busy"), 3.1, Origin.REGISTRY),
    ],
)
def test_repetitions_are_not_new(story: Story, event: Event) -> None:
    """An open call, a busy client, slightly more context."""
    assert not is_new(story.agent, event)


@pytest.mark.parametrize(
    "event",
    [
        observed(ToolFinished("t1", ""), 4),
        observed(TurnInterrupted(), 4),
        observed(AgentWrote("Let me look."), 2.5),
        observed(UserWrote("Fix it"), 2),
        observed(TurnClosed(), 5),
        observed(ClientReported("idle"), 4, Origin.REGISTRY),
        observed(ClientReported("busy"), 3.1, Origin.REGISTRY, Observations(client_pid=99)),
        decode(envelope("PostToolUse", 4, msgspec.json.encode(bash("t1")))),
    ],
)
def test_changes_are_new(story: Story, event: Event) -> None:
    """An end, a message, an exact time, another process."""
    assert is_new(story.agent, event)


def test_the_check_changes_nothing(story: Story) -> None:
    """The agent stays the same."""
    before = msgspec.json.encode(story.agent)
    is_new(story.agent, observed(TurnInterrupted(), 4))
    assert msgspec.json.encode(story.agent) == before


def test_lines_before_all_recent_turns_are_not_new() -> None:
    """If hooks reported the agent at that time; otherwise they can be new."""
    story = Story()
    story.starts(at=1)
    assert not is_older_than_recent_turns(story.agent, time_at(1))
    for number in range(10):
        story.prompted(f"Do {number}", f"p{number}", at=100 * number + 100)
        story.stops(f"I did {number}.", f"p{number}", at=100 * number + 150)
    assert is_older_than_recent_turns(story.agent, time_at(150))
    assert not is_older_than_recent_turns(story.agent, time_at(990))
    assert not is_older_than_recent_turns(story.agent, time_at(-500))


def test_new_tokens_are_new_although_the_cost_is_known(story: Story) -> None:
    """The status line reported the cost before. The same totals again are not new."""
    story.report(UsageMeasured(cost_usd=0.5), origin=Origin.STATUS_LINE, session_id="session-1")
    used = ModelUsage(model="opus", tokens=Tokens(100), cost_usd=0.5)
    event = observed(UsageMeasured(cost_usd=0.5, totals=(used,)), 9)
    assert is_new(story.agent, event)
    story.apply(event)
    assert not is_new(story.agent, event)
