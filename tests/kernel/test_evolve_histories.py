"""What holds for every history: lost, doubled, late and interleaved hooks never raise, and never break the rules.

And where nothing is lost, the order of arrival does not matter: what is open at the end is the same.
"""

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
import pytest

from claude_headspace.kernel.facts import Event
from tests.kernel.histories import believable
from tests.kernel.story import Story


def outlook(story: Story) -> dict[str, object]:
    agent = story.agent
    return {
        "state": agent.state.value,
        "waiting_for": agent.waiting_for,
        "calls": sorted(story.open_calls),
        "waits": sorted(story.open_waits),
        "subagents": sorted(sub.id for sub in agent.working_subagents),
        "ended": agent.ended_at,
    }


@settings(max_examples=2000, suppress_health_check=list(HealthCheck), deadline=None)
@given(believable(), st.randoms())
def test_order(history: list[Event], chance) -> None:
    a = Story()
    for e in history: a.take(e)
    b = Story()
    shuffled = list(history)
    chance.shuffle(shuffled)
    for e in shuffled: b.take(e)
    assert outlook(a) == outlook(b)
