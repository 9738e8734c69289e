"""What people do through Headspace: register, look, type, close."""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.envelope import Context, Origin
from claude_headspace.kernel.evolve import evolve
from claude_headspace.kernel.evolve.change import Change
from claude_headspace.kernel.facts import Event, Meta
from claude_headspace.kernel.views import dialects
from tests.kernel.story import Story, moment, new_agent, question


def act(agent: Agent, fact: facts.Fact, at: float, cwd: str | None = None) -> Change:
    """What an act makes of an agent."""
    meta = Meta(
        event_id=f"act-{at}",
        name=type(fact).__name__,
        origin=Origin.OPERATOR,
        at=moment(at),
        received_at=moment(at),
        host="host",
        cwd=cwd,
    )
    return evolve(agent, Event(meta, fact, Context()))


def test_a_registered_agent_is_starting() -> None:
    """It has what it was given, and waits for its first hook."""
    fact = facts.AgentRegistered(headspace_id="h", role="reviewer", mode="mission", tmux_session="s", tmux_pane="%1")
    agent = act(new_agent(), fact, 1, "/code").agent
    assert agent.state is AgentState.STARTING
    assert (agent.headspace_id, agent.role, agent.mode, agent.tmux_pane) == ("h", "reviewer", "mission", "%1")
    assert agent.cwd == "/code"


def test_looking_makes_attention_checked() -> None:
    """Fleet says attention until somebody looked; the next wait is news again."""
    story = Story()
    story.prompted()
    story.hook("PreToolUse", at=4, **question("q1"))
    assert (story.agent.is_unseen, dialects(story.agent).fleet) == (True, "attention")
    seen = act(story.agent, facts.AgentSeen(), 5).agent
    assert (seen.is_unseen, dialects(seen).fleet, dialects(seen).plate) == (False, "checked", "awaiting_input")
    assert act(seen, facts.AgentSeen(), 3).agent.seen_at == moment(5)


def test_what_was_typed_changes_nothing() -> None:
    """Only the client's own prompt is a turn, so an utterance is never two."""
    story = Story()
    story.prompted()
    change = act(story.agent, facts.TextTyped("Hello."), 5)
    assert (change.turns, change.commands, change.agent.state) == ([], {}, story.agent.state)


def test_closing_ends_only_the_client_that_was_started() -> None:
    """Another client of the agent goes on; one that never reported ends."""
    assert act(new_agent(), facts.AgentClosed("exited with 0", 7), 5).agent.end_reason == "exited with 0"
    assert act(new_agent(pid=8), facts.AgentClosed("exited with 0", 7), 5).agent.ended_at is None
    assert act(new_agent(pid=7), facts.AgentClosed("exited with 0", 7), 5).agent.state is AgentState.ENDED
