"""When Claude Code is told something with the answer to a hook."""

import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.agent import Agent, Subagent
from claude_headspace.kernel.claude_os.session_notice import NO_CARE
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.mission.model import Mission, News
from claude_headspace.kernel.mission.notices import tell, wanted
from tests.kernel.story import START, envelope, new_agent, running

NEWS = (
    News(mission_id="m1", goal="Count the tests", text="There are 12.", at=START),
    News(mission_id="m2", goal="Find the bug", text="It is in load().", at=START),
)


def event(name: str, **payload: object) -> Event:
    """A hook of the agent."""
    return decode(envelope(name, 1, payload))


def worker(**known: object) -> Agent:
    """An agent in background mode."""
    mission = Mission(id="m1", started_at=START, **known)  # type: ignore[arg-type]
    return new_agent(mode="background", mission=mission)


@pytest.mark.parametrize("mode", ["interactive", "mission", "headless"])
def test_a_conversation_is_told_of_all_its_workers_at_its_next_prompt(mode: str) -> None:
    """With one prompt, and with nothing else."""
    agent = new_agent(mode=mode, worker_reports=NEWS)
    care = tell(agent, event("UserPromptSubmit", prompt="Hello"))
    assert (care.missions, care.holds) == (("m1", "m2"), False)
    assert "There are 12." in care.said[0]
    assert "It is in load()." in care.said[0]
    assert tell(agent, event("Stop")) == NO_CARE
    assert tell(new_agent(), event("UserPromptSubmit", prompt="Hello")) == NO_CARE


def test_a_background_agent_is_told_of_no_workers() -> None:
    """Nobody reads along there: task notifications do not apply."""
    agent = new_agent(mode="background", worker_reports=NEWS)
    assert tell(agent, event("UserPromptSubmit", prompt="Hello")) == NO_CARE
    assert wanted(agent) == ()


def test_a_background_agent_is_reminded_before_it_ends() -> None:
    """Once, if it has not reported; other modes are not."""
    care = tell(worker(), event("Stop", last_assistant_message="Done.", background_tasks=[]))
    assert (care.asked_for_report, care.holds) == (True, True)
    assert "headspace report" in care.said[0]
    for silent in (worker(reminded_at=START), worker(report="All good.")):
        assert tell(silent, event("Stop")) == NO_CARE
    mission = new_agent(mode="mission", mission=Mission(id="m1", started_at=START))
    assert tell(mission, event("Stop")) == NO_CARE


def test_a_turn_that_a_hook_kept_on_is_not_kept_on_again() -> None:
    """`stop_hook_active` is respected, so there is no loop."""
    assert tell(worker(), event("Stop", stop_hook_active=True)) == NO_CARE
    assert tell(worker(), event("Stop", stop_hook_active=True, background_tasks=[])) == NO_CARE


def test_a_pause_is_no_end() -> None:
    """While sub-agents work the turn goes on by itself; a shell in the background does not keep it."""
    assert tell(worker(), event("Stop", background_tasks=running(subagent_id="s"))) == NO_CARE
    assert tell(worker(), event("Stop", background_tasks=running(shell_id="b"))) != NO_CARE
    agent = worker()
    agent.subagents = (Subagent(id="s", started_at=START),)
    assert tell(agent, event("Stop")) == NO_CARE


def test_hooks_are_asked_for_only_while_something_is_to_be_told() -> None:
    """An agent without news and missions makes no hook wait; nor does one that ended."""
    assert wanted(new_agent()) == ()
    assert wanted(new_agent(worker_reports=NEWS)) == (HookKind.PROMPT,)
    assert wanted(new_agent(worker_reports=NEWS, ended_at=START)) == ()
    assert wanted(worker()) == (HookKind.TURN_END,)
