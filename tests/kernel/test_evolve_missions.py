"""Missions, and the conversations that started them."""

import msgspec
import pytest

from claude_headspace.kernel import acts, facts
from claude_headspace.kernel.claude_os.session_notice import SessionNotice
from claude_headspace.kernel.envelope import Decisions, Origin
from claude_headspace.kernel.mission.model import Mission, MissionOutcome
from claude_headspace.kernel.react import react
from tests.kernel.story import CLIENT, START, Story, new_agent, time_at

SENT = Decisions(mode="background", mission_id="m1")


def worker() -> Story:
    """An agent with a mission."""
    story = Story()
    story.hook("SessionStart", source="startup", decisions=SENT)
    story.hook("UserPromptSubmit", prompt="Count the tests", prompt_id="p1", decisions=SENT)
    return story


def mission_of(story: Story) -> Mission:
    """The mission of the agent."""
    assert story.agent.mission is not None
    return story.agent.mission


def test_a_hook_assigns_mode_and_mission() -> None:
    """The first hook starts the mission; its first prompt is the goal if none was given."""
    story = worker()
    assert (story.agent.mode, mission_of(story).id, mission_of(story).goal) == ("background", "m1", "Count the tests")
    assert mission_of(story).started_at == time_at(1)
    assert mission_of(story).outcome is None


def test_a_child_works_for_the_agent_that_started_it() -> None:
    """A client that an agent's tool started in background mode has that agent as its conversation."""
    story = Story(new_agent(parent_id="parent"))
    story.hook("SessionStart", source="startup", decisions=SENT)
    assert mission_of(story).conversation_id == "parent"


def test_interactive_does_not_change_a_headless_client() -> None:
    """The mode from the registry stays."""
    story = Story(new_agent(mode="headless"))
    story.hook("SessionStart", decisions=Decisions(mode="interactive"))
    assert story.agent.mode == "headless"


def test_the_end_of_the_agent_is_the_end_of_its_mission() -> None:
    """With its last reply. A mission whose last turn was complete has succeeded."""
    story = worker()
    story.stops("There are 12.")
    story.hook("SessionEnd", reason="other")
    mission = mission_of(story)
    assert (mission.outcome, mission.answer) == (MissionOutcome.SUCCEEDED, "There are 12.")
    assert mission.reason == "its client ended (other)"
    assert mission.ended_at == story.agent.ended_at


@pytest.mark.parametrize("reason", ["clear", "resume"])
def test_clear_and_resume_end_nothing(reason: str) -> None:
    """Neither the agent nor its mission."""
    story = worker()
    story.stops()
    story.hook("SessionEnd", reason=reason)
    assert (story.agent.ended_at, story.agent.end_reason, mission_of(story).ended_at) == (None, None, None)


def test_a_client_that_vanishes_in_its_turn_has_failed() -> None:
    """So has one whose turn ended in an error. One without any prompt is abandoned."""
    story = worker()
    story.report(facts.ClientVanished(CLIENT.client_pid), origin=Origin.PROCESS)
    assert (mission_of(story).outcome, story.agent.end_reason) == (MissionOutcome.FAILED, "vanished")
    story = worker()
    story.hook("StopFailure", error="rate_limit", prompt_id="p1")
    story.hook("SessionEnd", reason="other")
    assert mission_of(story).outcome is MissionOutcome.FAILED
    story = Story()
    story.hook("SessionStart", source="startup", decisions=SENT)
    story.hook("SessionEnd", reason="other")
    assert mission_of(story).outcome is MissionOutcome.ABANDONED


def test_a_killed_worker_has_not_succeeded() -> None:
    """Requirement: a killed worker is not reported as succeeded, even after a completed turn. A report counts."""
    killed = facts.ClientVanished(CLIENT.client_pid)
    for reported in (False, True):
        story = worker()
        story.stops("There are 12.")
        if reported:
            story.report(acts.MissionReported(text="12"), origin=Origin.OPERATOR)
        story.report(killed, origin=Origin.PROCESS)
        assert mission_of(story).outcome is (MissionOutcome.SUCCEEDED if reported else MissionOutcome.FAILED)


@pytest.mark.parametrize(("code", "outcome"), [(0, MissionOutcome.SUCCEEDED), (137, MissionOutcome.FAILED)])
def test_the_exit_code_of_a_worker_counts(code: int, outcome: MissionOutcome) -> None:
    """The program that started the worker may report its end before the process table does."""
    story = worker()
    story.stops("There are 12.")
    closed = acts.AgentClosed(reason=f"exited with {code}", pid=CLIENT.client_pid)
    story.report(closed, origin=Origin.OPERATOR)
    assert (mission_of(story).outcome, mission_of(story).reason) == (outcome, f"its client ended (exited with {code})")


def test_a_report_ends_the_mission_and_not_the_agent() -> None:
    """The report counts immediately. The end of the agent changes only the last reply."""
    story = worker()
    story.report(acts.MissionReported(text="There are 12."), origin=Origin.OPERATOR)
    mission = mission_of(story)
    assert (mission.outcome, mission.report, story.agent.ended_at) == (MissionOutcome.SUCCEEDED, "There are 12.", None)
    story.report(acts.MissionReported(text="No, 13.", outcome="failed"), origin=Origin.OPERATOR)
    assert mission_of(story) == msgspec.structs.replace(mission, report="No, 13.")
    story.hook("SessionEnd", reason="other")
    assert mission_of(story).ended_at == mission.ended_at


def test_a_person_finishes_a_mission() -> None:
    """A registered agent that never started ends with it. Finishing twice changes nothing."""
    story = Story(new_agent(mode="mission", mission=Mission(id="m1", started_at=START)))
    story.report(acts.MissionFinished(outcome="abandoned", text="Not needed."), origin=Origin.OPERATOR)
    mission = mission_of(story)
    assert (mission.outcome, mission.reason) == (MissionOutcome.ABANDONED, "Not needed.")
    assert story.agent.end_reason == "its mission ended"
    story.report(acts.MissionFinished(outcome="succeeded"), origin=Origin.OPERATOR)
    assert mission_of(story) == mission


def test_a_report_without_a_mission_is_an_anomaly() -> None:
    """It changes nothing."""
    story = Story()
    change = story.report(acts.MissionReported(text="Done."), origin=Origin.OPERATOR)
    assert change.anomalies == ["it has no mission"]
    assert story.agent.mission is None


def test_a_reminded_turn_continues() -> None:
    """The reply blocked its end: the agent works until it stops again."""
    story = worker()
    care = SessionNotice(texts=("Report before you end.",), requests_report=True, blocks_turn_end=True)
    story.hook(
        "Stop",
        last_assistant_message="There are 12.",
        prompt_id="p1",
        background_tasks=[],
        decisions=msgspec.structs.replace(SENT, session_notice=care),
    )
    assert story.board == ("working", None)
    assert mission_of(story).reminded_at == time_at(story.now)
    assert story.turns[-1] == ("AGENT", "PROGRESS", "There are 12.")
    assert mission_of(story).answer == "There are 12."
    story.stops("I have reported.", stop_hook_active=True)
    assert story.board == ("idle", None)
    assert mission_of(story).answer == "I have reported."


def test_a_conversation_gets_each_result_once() -> None:
    """With a prompt."""
    story = Story()
    story.starts()
    ended = acts.WorkerEnded(mission_id="m1", goal="Count the tests", text="There are 12.")
    story.report(ended, origin=Origin.OPERATOR)
    story.report(ended, origin=Origin.OPERATOR)
    [news] = story.agent.worker_reports
    assert (news.text, news.woken) == ("There are 12.", False)
    story.report(acts.ConversationPrompted(), origin=Origin.OPERATOR)
    assert [each.woken for each in story.agent.worker_reports] == [True]
    given = Decisions(session_notice=SessionNotice(texts=("There are 12.",), mission_ids=("m1",)))
    story.hook("UserPromptSubmit", prompt="[Headspace] A worker has finished", decisions=given)
    assert story.agent.worker_reports == ()


def test_results_wait_for_an_ended_conversation() -> None:
    """They are stored with the agent, except for a background agent."""
    story = Story()
    story.starts()
    story.hook("SessionEnd", reason="prompt_input_exit")
    story.report(acts.WorkerEnded(mission_id="m1", goal="", text="x"), origin=Origin.OPERATOR)
    assert len(story.agent.worker_reports) == 1
    alone = Story(new_agent(mode="background"))
    alone.report(acts.WorkerEnded(mission_id="m1", goal="", text="x"), origin=Origin.OPERATOR)
    assert alone.agent.worker_reports == ()


def test_another_mission_can_follow_an_ended_one() -> None:
    """A client that is resumed with another mission works on that one."""
    story = worker()
    story.report(acts.MissionReported(text="Done."), origin=Origin.OPERATOR)
    story.hook("SessionStart", source="resume", decisions=msgspec.structs.replace(SENT, mission_id="m2"))
    assert (mission_of(story).id, mission_of(story).outcome) == ("m2", None)


def test_the_stream_publishes_every_change() -> None:
    """Start, answer and end."""
    story = Story()
    before = story.agent
    change = story.hook("SessionStart", source="startup", decisions=SENT)
    [message] = [each for each in react(before, change) if each.type == "mission_changed"]
    assert (message.data["mode"], message.data["mission"].outcome) == ("background", None)  # type: ignore[attr-defined]
    before = story.agent
    assert [each.type for each in react(before, story.calls("t1", decisions=SENT))] == ["state_changed"]
