"""The state follows from the rules, and the signals are moved only by the facts that the table lists."""

import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.envelope import Origin
from claude_headspace.kernel.evolve import HANDLERS, evolve
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.state import RULES, SIGNALS, mermaid, state_of
from tests.kernel.story import new_agent
from tests.replay.recordings import VERSIONS, orders, recorded, scenarios


def test_the_last_rule_always_applies() -> None:
    """Every agent has a state."""
    assert state_of(new_agent()) == (AgentState.STARTING, None)
    assert RULES[-1].applies(new_agent())


def test_every_state_has_a_rule() -> None:
    """Names are unique, and no state is unreachable."""
    assert {rule.state for rule in RULES} == set(AgentState)
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_the_signals_are_fields_and_facts() -> None:
    """The table names fields of an agent and facts that have a handler."""
    assert set(SIGNALS) <= set(Agent.__struct_fields__)
    known = {kind.__name__ for kind in HANDLERS}
    assert all(set(signal.facts) <= known for signal in SIGNALS.values())


def test_the_diagram_asks_every_rule_in_order() -> None:
    """One node for each rule, one arrow to its state."""
    drawn = mermaid()
    assert all(f"--> {rule.state}" in drawn for rule in RULES)
    assert drawn.count("-- no -->") == len(RULES) - 1


@pytest.mark.parametrize("version", VERSIONS)
def test_only_the_listed_facts_move_a_signal(version: str) -> None:
    """In all recorded sessions, complete and incomplete, in several orders."""
    for scenario in scenarios():
        for given in orders(recorded(scenario, version)).values():
            agent = new_agent()
            for each in given:
                event = decode(each.envelope)
                after = evolve(agent, event).agent
                moved = {name for name in SIGNALS if getattr(after, name) not in (None, getattr(agent, name))}
                assert moved <= _listed(event), (scenario, event.fact)
                agent = after


def _listed(event: Event) -> set[str]:
    """The signals that an event may move."""
    several = event.fact.facts if isinstance(event.fact, facts.Several) else (event.fact,)
    names = {type(fact).__name__ for fact in several}
    listed = {name for name, signal in SIGNALS.items() if names & set(signal.facts)}
    is_hook = event.meta.origin is Origin.HOOK and not isinstance(event.fact, facts.SessionEnded)
    return listed | ({"last_hook_at"} if is_hook else set())
