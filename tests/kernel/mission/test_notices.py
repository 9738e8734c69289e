"""Notices about missions in the reply to a hook."""

import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.agent import Agent, Subagent
from claude_headspace.kernel.claude_os.session_notice import NO_NOTICE
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.mission.model import Mission, WorkerReport
from claude_headspace.kernel.mission.notices import hooks_with_notice, mission_notice
from tests.kernel.story import START, envelope, new_agent, running

NEWS = (
    WorkerReport(mission_id="m1", goal="Count the tests", text="There are 12.", at=START),
    WorkerReport(mission_id="m2", goal="Find the bug", text="It is in load().", at=START),
)


def event(name: str, **payload: object) -> Event:
    """A hook of the agent."""
    return decode(envelope(name, 1, payload))


def worker(**known: object) -> Agent:
    """An agent in background mode."""
    mission = Mission(id="m1", started_at=START, **known)  # type: ignore[arg-type]
    return new_agent(mode="background", mission=mission)


@pytest.mark.parametrize("mode", ["interactive", "mission", "headless"])
def test_a_conversation_gets_the_results_of_its_workers_with_its_next_prompt(mode: str) -> None:
    """All results with one prompt, and with no other hook."""
    agent = new_agent(mode=mode, worker_reports=NEWS)
    notice = mission_notice("SYS", agent, event("UserPromptSubmit", prompt="Hello"))
    assert (notice.mission_ids, notice.blocks_turn_end) == (("m1", "m2"), False)
    assert "There are 12." in notice.texts[0]
    assert "It is in load()." in notice.texts[0]
    assert mission_notice("SYS", agent, event("Stop")) == NO_NOTICE
    assert mission_notice("SYS", new_agent(), event("UserPromptSubmit", prompt="Hello")) == NO_NOTICE


def test_a_background_agent_gets_no_results() -> None:
    """Task notifications do not apply in this mode."""
    agent = new_agent(mode="background", worker_reports=NEWS)
    assert mission_notice("SYS", agent, event("UserPromptSubmit", prompt="Hello")) == NO_NOTICE
    assert hooks_with_notice(agent) == ()


def test_a_background_agent_is_reminded_before_it_ends() -> None:
    """Once, if it has not reported. Other modes are not reminded."""
    notice = mission_notice("SYS", worker(), event("Stop", last_assistant_message="Done.", background_tasks=[]))
    assert (notice.requests_report, notice.blocks_turn_end) == (True, True)
    assert "headspace report" in notice.texts[0]
    for silent in (worker(reminded_at=START), worker(report="All good.")):
        assert mission_notice("SYS", silent, event("Stop")) == NO_NOTICE
    mission = new_agent(mode="mission", mission=Mission(id="m1", started_at=START))
    assert mission_notice("SYS", mission, event("Stop")) == NO_NOTICE


def test_a_blocked_turn_is_not_blocked_again() -> None:
    """`stop_hook_active` is respected, so there is no loop."""
    assert mission_notice("SYS", worker(), event("Stop", stop_hook_active=True)) == NO_NOTICE
    assert mission_notice("SYS", worker(), event("Stop", stop_hook_active=True, background_tasks=[])) == NO_NOTICE


def test_a_turn_with_running_subagents_is_not_blocked() -> None:
    """It continues by itself. A background shell does not count."""
    assert mission_notice("SYS", worker(), event("Stop", background_tasks=running(subagent_id="s"))) == NO_NOTICE
    assert mission_notice("SYS", worker(), event("Stop", background_tasks=running(shell_id="b"))) != NO_NOTICE
    agent = worker()
    agent.subagents = (Subagent(id="s", started_at=START),)
    assert mission_notice("SYS", agent, event("Stop")) == NO_NOTICE


def test_hooks_wait_only_while_there_is_a_notice() -> None:
    """An agent without results and missions, or one that ended, makes no hook wait."""
    assert hooks_with_notice(new_agent()) == ()
    assert hooks_with_notice(new_agent(worker_reports=NEWS)) == (HookKind.PROMPT,)
    assert hooks_with_notice(new_agent(worker_reports=NEWS, ended_at=START)) == ()
    assert hooks_with_notice(worker()) == (HookKind.TURN_END,)
