"""Which mode and which mission a client has."""

import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Observations
from claude_headspace.kernel.mission.assignment import assign
from claude_headspace.kernel.mission.model import Mission
from tests.kernel.story import START, Story, envelope, new_agent

WORKER = new_agent(id="worker", mode="background", mission=Mission(id="m1", started_at=START))


def assigned(
    observations: Observations, agent: Agent, parent: Agent | None, *, trusted: bool, name: str = "Stop"
) -> tuple[str | None, str | None]:
    """The mode and mission id that a hook with these declarations is assigned."""
    given = {"source": "startup"} if name == "SessionStart" else {}
    return assign(decode(envelope(name, 1, given, observations=observations)), agent, parent, trusted=trusted)


def test_mode_and_mission_come_from_the_environment() -> None:
    """An unknown mode is ignored."""
    given = Observations(declared_mode="mission", declared_mission_id="m7")
    assert assigned(given, new_agent(), None, trusted=True) == ("mission", "m7")
    assert assigned(Observations(declared_mode="party"), new_agent(), None, trusted=True)[0] is None


def test_a_worker_without_a_named_mission_has_its_own() -> None:
    """In the modes mission and background every agent has a mission; an interactive one has none."""
    agent = new_agent()
    assert assigned(Observations(declared_mode="background"), agent, None, trusted=True)[1] == agent.id
    assert assigned(Observations(declared_mode="interactive"), agent, None, trusted=True)[1] is None
    assert assigned(Observations(), agent, None, trusted=True) == (None, None)


def test_untrusted_hooks_assign_nothing() -> None:
    """A hook without the token neither creates nor releases a worker."""
    found = assigned(
        Observations(declared_mode="interactive", declared_mission_id="m1"), new_agent(), None, trusted=False
    )
    assert found == (None, None)


@pytest.mark.parametrize(("trusted", "mode"), [(True, "interactive"), (False, None)])
def test_a_new_client_in_the_pane_of_a_worker_is_interactive(trusted: bool, mode: str | None) -> None:
    """A person who starts Claude Code where a worker ran is not that worker."""
    story = Story(WORKER)
    story.starts()
    assert assigned(Observations(), story.agent, None, trusted=trusted, name="SessionStart")[0] == mode
    assert assigned(Observations(), WORKER, None, trusted=trusted, name="SessionStart")[0] is None, "its first one"
    assert assigned(Observations(), story.agent, None, trusted=trusted)[0] is None


def test_a_child_of_a_worker_has_its_mode() -> None:
    """Whatever mode it declares. Otherwise a worker could write to people through another client."""
    for given in (
        Observations(declared_mode="interactive"),
        Observations(),
        Observations(declared_mode="mission", declared_mission_id="m1"),
    ):
        found = assigned(given, new_agent(), WORKER, trusted=True)
        assert found == ("background", None)


def test_a_worker_may_start_another_worker() -> None:
    """A child that declares another mission works on that one."""
    found = assigned(Observations(declared_mode="mission", declared_mission_id="m2"), new_agent(), WORKER, trusted=True)
    assert found == ("background", "m2")


def test_a_child_of_a_conversation_can_be_its_worker() -> None:
    """A tool of an interactive agent starts a client in background mode."""
    parent = new_agent(id="parent")
    found = assigned(Observations(declared_mode="background"), new_agent(id="child"), parent, trusted=True)
    assert found == ("background", "child")
