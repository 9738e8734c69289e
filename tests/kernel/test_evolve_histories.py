"""What holds for every history: lost, doubled, late and interleaved hooks never raise, and never break the rules.

And where nothing is lost, the order of arrival does not matter: what is open at the end is the same. The histories are
drawn from `histories`, which also says what cannot be understood in any order.
"""

import copy
from collections.abc import Iterable
from itertools import count
from random import Random
from typing import get_args

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_headspace.kernel import facts
from claude_headspace.kernel.act_events import REMOTE_STEPS
from claude_headspace.kernel.acts import ACTS, Act, AgentRegistered
from claude_headspace.kernel.agent import AgentState
from claude_headspace.kernel.envelope import Observations, Origin
from claude_headspace.kernel.evolve import HANDLERS
from claude_headspace.kernel.facts import Event, Fact, Meta
from claude_headspace.kernel.state import state_of
from claude_headspace.kernel.state_machine import TRANSITIONS, CommandState
from claude_headspace.kernel.wait.request import Ask
from tests.kernel.histories import believable
from tests.kernel.story import Story, time_at

# The quick tests draw the same histories every time; the long ones look for new ones.
quick = settings(
    max_examples=600,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
long = settings(quick, max_examples=8_000, derandomize=False)

_ids = count(1)

CHANCE = st.integers(0, 2**32 - 1).map(Random)


# --- what is compared, and what always holds --------------------------------------------------------------------------


def reachable() -> set[tuple[CommandState, CommandState]]:
    """From where to where a command may get within one event; one that is complete stays so."""
    steps = {(state, to_state) for (state, _, _), to_state in TRANSITIONS.items()}
    pairs = steps | {(state, state) for state in CommandState}
    for _ in CommandState:
        pairs |= {(a, d) for a, b in pairs for c, d in steps if b is c}
    return pairs


REACHABLE = reachable()


def outlook(story: Story) -> dict[str, object]:
    """What is open at the end of a story."""
    agent = story.agent
    return {
        "board": story.board,
        "calls": sorted(story.open_calls),
        "waits": sorted(story.open_waits),
        "subagents": sorted(sub.id for sub in agent.running_subagents),
        "ended": agent.ended_at is not None,
    }


def tell(events: Iterable[Event]) -> Story:
    """Tell a story event by event, and check after each what must always hold."""
    story = Story()
    for event in events:
        before, snapshot = story.agent, copy.copy(story.agent)
        commands, waits = dict(story.commands), dict(story.waits)
        change = story.apply(event)
        assert before == snapshot, "the agent that was given is not changed"
        check_agent(story)
        for command in change.commands.values():
            was = commands[command.id].state if command.id in commands else CommandState.IDLE
            assert (was, command.state) in REACHABLE
        for wait in change.waits.values():
            assert wait.id not in waits or waits[wait.id].closed_at is None, "a wait that is over stays over"
    assert len(story.turn_rows) == sum(len(change.turns) for change in story.changes), "every turn has its own id"
    return story


def check_agent(story: Story) -> None:
    """The state follows from the parts, and the parts fit each other."""
    agent = story.agent
    assert (agent.state, agent.waiting_for) == state_of(agent)
    if agent.state is AgentState.ENDED:
        assert (agent.calls, agent.waits, agent.running_subagents) == ((), (), ())
    still_open = {wait.id for wait in story.waits.values() if wait.closed_at is None}
    assert still_open == {wait.id for wait in agent.waits}
    asking = [wait.call_id for wait in agent.waits if wait.call_id is not None]
    assert len(asking) == len(set(asking)), "one call never has two waits"


# --- ways in which hooks go astray ------------------------------------------------------------------------------------


def doubled(event: Event) -> Event:
    """The same hook, fired by another registration of it two milliseconds later."""
    meta = event.meta
    return msgspec.structs.replace(
        event, meta=msgspec.structs.replace(meta, event_id=f"{meta.event_id}-again", at=meta.at + 2_000)
    )


def lossy(events: list[Event], chance: Random) -> list[Event]:
    """Some hooks are lost, some come twice, some much too late."""
    told = [event for event in events if chance.random() > 0.15]
    told += [doubled(event) for event in told if chance.random() < 0.1]
    return sorted(told, key=lambda event: event.meta.at + (chance.random() < 0.2) * chance.random() * 30_000_000)


SEEN: list[tuple[Fact, Origin]] = [
    (facts.ClientReported("idle"), Origin.REGISTRY),
    (facts.ClientReported("busy"), Origin.REGISTRY),
    (facts.ClientReported("shell"), Origin.REGISTRY),
    (facts.ClientReported("waiting", Ask("permission")), Origin.REGISTRY),
    (facts.ClientReported("waiting", Ask("dialog")), Origin.REGISTRY),
    (facts.TurnInterrupted(), Origin.TRANSCRIPT),
    (facts.TurnClosed(), Origin.TRANSCRIPT),
    (facts.TurnClosed(1), Origin.TRANSCRIPT),
    (facts.AgentWrote("All tests pass now."), Origin.TRANSCRIPT),
    (facts.AgentWrote("Shall I delete the old files?", final=True), Origin.TRANSCRIPT),
    (facts.UserWrote("Please do prompt-1"), Origin.TRANSCRIPT),
    (facts.UserWrote("and then prompt-1", queued=True), Origin.TRANSCRIPT),
    (facts.UserWrote("Something new"), Origin.TRANSCRIPT),
    (facts.PromptQueued("and then prompt-1"), Origin.TRANSCRIPT),
    (facts.PromptUnqueued(""), Origin.TRANSCRIPT),
    (facts.ToolRejected("call-1"), Origin.TRANSCRIPT),
    (facts.UsageMeasured(tokens=1000), Origin.TRANSCRIPT),
    (facts.Several((facts.AgentWrote("Let me look."), facts.UsageMeasured(tokens=10))), Origin.TRANSCRIPT),
    (facts.ClientVanished(4711), Origin.PROCESS),
]


def seen(seconds: float, chance: Random) -> Event:
    """Something that another source tells."""
    fact, origin = chance.choice(SEEN)
    at = time_at(seconds)
    meta = Meta(event_id=f"seen-{next(_ids)}", name="seen", origin=origin, at=at, received_at=at)
    return Event(meta, fact, Observations())


def among_other_sources(events: list[Event], chance: Random) -> list[Event]:
    """Registry, transcript and process table tell things in between, true or not."""
    told = list(events)
    for _ in range(len(events) // 3):
        told.insert(chance.randrange(len(told) + 1), seen(chance.random() * 60, chance))
    return told


# --- the rules --------------------------------------------------------------------------------------------------------


def nothing_breaks(history: list[Event], chance: Random) -> None:
    """Check the rules for a history with losses, and with other sources in between."""
    tell(history)
    tell(among_other_sources(lossy(history, chance), chance))


def order_does_not_matter(history: list[Event], chance: Random) -> None:
    """Compare a history told in order with the same in any order."""
    shuffled = chance.sample(history, len(history))
    assert outlook(tell(shuffled)) == outlook(tell(history))


def test_every_fact_has_a_handler() -> None:
    """Every type of fact has a handler. Acts are facts, except those that are converted when they are decoded."""
    converted = {AgentRegistered, *REMOTE_STEPS}
    assert set(HANDLERS) == set(get_args(Fact)) - {Act} | set(ACTS.values()) - converted


@quick
@given(believable(), CHANCE)
def test_any_history_keeps_the_rules(history: list[Event], chance: Random) -> None:
    """Lost, duplicated, late or contradictory events: evolve never raises, and the rules hold after every event."""
    nothing_breaks(history, chance)


@pytest.mark.full
@long
@given(believable(most=6), CHANCE)
def test_long_histories_keep_the_rules(history: list[Event], chance: Random) -> None:
    """The same with many more and longer histories."""
    nothing_breaks(history, chance)


@quick
@given(believable(in_any_order=True), CHANCE)
def test_a_complete_history_ends_the_same_in_any_order(history: list[Event], chance: Random) -> None:
    """State, open calls, waits and sub-agents follow from what happened, not from what arrived first."""
    order_does_not_matter(history, chance)


@pytest.mark.full
@long
@given(believable(in_any_order=True, most=6), CHANCE)
def test_long_histories_end_the_same_in_any_order(history: list[Event], chance: Random) -> None:
    """The same with many more and longer histories."""
    order_does_not_matter(history, chance)


@quick
@given(believable())
def test_a_duplicated_history_is_one(history: list[Event]) -> None:
    """Hooks registered in two places fire twice: no turn, command or wait is duplicated."""
    once, twice = tell(history), tell(told for event in history for told in (event, doubled(event)))
    assert outlook(twice) == outlook(once)
    assert twice.turns == once.turns
    assert [command.outcome for command in twice.commands.values()] == [
        command.outcome for command in once.commands.values()
    ]
    assert len(twice.waits) == len(once.waits)


@quick
@given(believable())
def test_a_redelivered_history_changes_nothing(history: list[Event]) -> None:
    """The same events again leave the board unchanged."""
    story = tell(history)
    before = outlook(story)
    for event in history:
        meta = msgspec.structs.replace(event.meta, event_id=f"{event.meta.event_id}-again")
        story.apply(msgspec.structs.replace(event, meta=meta))
    assert outlook(story) == before


@quick
@given(believable(), believable(), CHANCE)
def test_agents_do_not_disturb_each_other(one: list[Event], other: list[Event], chance: Random) -> None:
    """Two agents whose hooks arrive interleaved end as each would alone."""
    stories = Story(), Story()
    left = [list(one), list(other)]
    while any(left):
        turn = chance.choice([index for index in (0, 1) if left[index]])
        stories[turn].apply(left[turn].pop(0))
    assert [outlook(story) for story in stories] == [outlook(tell(one)), outlook(tell(other))]


@quick
@given(believable(), believable(), CHANCE)
def test_two_clients_in_one_agent_break_nothing(one: list[Event], other: list[Event], chance: Random) -> None:
    """Even hooks of two clients that were taken for one agent leave the rules intact."""
    renamed = [
        msgspec.structs.replace(
            event, meta=msgspec.structs.replace(event.meta, session_id=f"x-{event.meta.session_id}")
        )
        for event in other
    ]
    tell(sorted([*one, *renamed], key=lambda event: event.meta.at))
    tell(chance.sample([*one, *renamed], len(one) + len(renamed)))
