"""Pending prompts: the queue of an agent, as it follows from the log."""

import pytest

from claude_headspace.kernel import acts
from claude_headspace.kernel.act_events import decode_act, wrap_act
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.evolve import evolve
from claude_headspace.kernel.pending_prompts import MAX_PENDING
from claude_headspace.kernel.react import react
from claude_headspace.kernel.views.agent import agent_view
from tests.kernel.story import new_agent, time_at


def after(*done: acts.Act, agent: Agent | None = None) -> Agent:
    """An agent after acts, one per second, as they are read from the log."""
    agent = agent or new_agent()
    for second, each in enumerate(done, 10):
        agent = evolve(agent, decode_act(wrap_act(each, f"e{second}", "host", time_at(second)))).agent
    return agent


def scheduled(prompt_id: str = "p1", summary: str = "Run the tests.") -> acts.PromptScheduled:
    """A prompt that waits."""
    return acts.PromptScheduled(prompt_id=prompt_id, text=f"{summary} secret", summary=summary, by="ann", via="cli")


def shown(agent: Agent) -> list[tuple[str, str, str]]:
    """The queue as every surface shows it."""
    return [(each.id, each.status, each.reason) for each in agent_view(agent).pending_prompts]


def test_prompts_wait_in_the_order_in_which_they_were_scheduled() -> None:
    """The queue shows who scheduled what and when, without the complete text."""
    agent = after(scheduled("p1"), scheduled("p2"), scheduled("p1"))
    assert shown(agent) == [("p1", "waiting", ""), ("p2", "waiting", "")]
    first = agent_view(agent).pending_prompts[0]
    assert (first.summary, first.by, first.via) == ("Run the tests.", "ann", "cli")


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (acts.PromptDelayed(prompt_id="p1", reason="A draft."), [("p1", "waiting", "A draft.")]),
        (acts.TextTyped(prompt_id="p1", text="x"), [("p1", "sending", "")]),
        (acts.TextTyped(text="x"), [("p1", "waiting", "")]),
        (acts.PromptFinished(prompt_id="p1"), []),
        (acts.PromptFinished(prompt_id="p1", reason="Not confirmed."), [("p1", "failed", "Not confirmed.")]),
        (acts.PromptCancelled(prompt_id="p1"), []),
        (acts.PromptCancelled(prompt_id="other"), [("p1", "waiting", "")]),
    ],
)
def test_each_act_moves_its_prompt(act: acts.Act, expected: list[tuple[str, str, str]]) -> None:
    """A prompt is delayed, typed, confirmed, given up or cancelled. Other prompts stay."""
    assert shown(after(scheduled(), act)) == expected


def test_a_typed_prompt_has_no_obstacle_any_more() -> None:
    """The reason why it waited does not stay when it is sent."""
    agent = after(scheduled(), acts.PromptDelayed(prompt_id="p1", reason="A draft."), acts.TextTyped(prompt_id="p1"))
    assert shown(agent) == [("p1", "sending", "")]


def test_the_queue_of_an_ended_agent_can_be_emptied() -> None:
    """What was not sent is still visible, and a person can remove it."""
    agent = after(scheduled("p1"), scheduled("p2"), acts.AgentClosed(reason="closed"))
    agent = after(acts.PromptFinished(prompt_id="p1", reason="It ended."), agent=agent)
    assert shown(agent) == [("p1", "failed", "It ended."), ("p2", "waiting", "")]
    assert shown(after(acts.PromptCancelled(prompt_id="p1"), agent=agent)) == [("p2", "waiting", "")]


def test_the_queue_is_limited() -> None:
    """However many prompts are in the log, an agent stays small."""
    agent = after(*(scheduled(f"p{number}") for number in range(MAX_PENDING + 5)))
    assert len(agent.pending_prompts) == MAX_PENDING


def test_a_changed_queue_is_published() -> None:
    """Every surface that follows the stream shows it."""
    agent = new_agent()
    change = evolve(agent, decode_act(wrap_act(scheduled(), "e1", "host", time_at(1))))
    (message,) = react(agent, change)
    changes = message.data["changes"]
    assert isinstance(changes, dict)
    assert [each.id for each in changes["pending_prompts"]] == ["p1"]
