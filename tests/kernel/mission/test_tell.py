"""When Claude Code is told something with the answer to a hook."""

import pytest

from claude_headspace.kernel.agent import Agent, Subagent
from claude_headspace.kernel.decode import decode
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.mission.notice import NoticeKind
from claude_headspace.kernel.mission.nouns import Mission, News
from claude_headspace.kernel.mission.tell import notice_for, wanted
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
    agent = new_agent(mode=mode, news=NEWS)
    notice = notice_for(agent, event("UserPromptSubmit", prompt="Hello"))
    assert notice is not None
    assert (notice.kind, notice.missions) == (NoticeKind.NEWS, ("m1", "m2"))
    assert "There are 12." in notice.text
    assert "It is in load()." in notice.text
    assert notice_for(agent, event("Stop")) is None
    assert notice_for(new_agent(), event("UserPromptSubmit", prompt="Hello")) is None


def test_a_background_agent_is_told_of_no_workers() -> None:
    """Nobody reads along there: task notifications do not apply."""
    agent = new_agent(mode="background", news=NEWS)
    assert notice_for(agent, event("UserPromptSubmit", prompt="Hello")) is None
    assert wanted(agent) == ()


def test_a_background_agent_is_reminded_before_it_ends() -> None:
    """Once, if it has not reported; other modes are not."""
    notice = notice_for(worker(), event("Stop", last_assistant_message="Done.", background_tasks=[]))
    assert notice is not None
    assert notice.kind is NoticeKind.REMINDER
    assert "headspace report" in notice.text
    for silent in (worker(reminded_at=START), worker(report="All good.")):
        assert notice_for(silent, event("Stop")) is None
    mission = new_agent(mode="mission", mission=Mission(id="m1", started_at=START))
    assert notice_for(mission, event("Stop")) is None


def test_a_turn_that_a_hook_kept_on_is_not_kept_on_again() -> None:
    """`stop_hook_active` is respected, so there is no loop."""
    assert notice_for(worker(), event("Stop", stop_hook_active=True)) is None
    assert notice_for(worker(), event("Stop", stop_hook_active=True, background_tasks=[])) is None


def test_a_pause_is_no_end() -> None:
    """While sub-agents work the turn goes on by itself; a shell in the background does not keep it."""
    assert notice_for(worker(), event("Stop", background_tasks=running(subagent_id="s"))) is None
    assert notice_for(worker(), event("Stop", background_tasks=running(shell_id="b"))) is not None
    agent = worker()
    agent.subagents = (Subagent(id="s", started_at=START),)
    assert notice_for(agent, event("Stop")) is None


def test_hooks_are_asked_for_only_while_something_is_to_be_told() -> None:
    """An agent without news and missions makes no hook wait; nor does one that ended."""
    assert wanted(new_agent()) == ()
    assert wanted(new_agent(news=NEWS)) == ("UserPromptSubmit",)
    assert wanted(new_agent(news=NEWS, ended_at=START)) == ()
    assert wanted(worker()) == ("Stop",)
