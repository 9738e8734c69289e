"""The texts about missions."""

from claude_headspace.kernel.mission.messages import MAX_SUMMARY_CHARS, summaries, summary, wake_up, worker_prompt
from claude_headspace.kernel.mission.model import Mission, MissionOutcome, WorkerReport
from tests.kernel.story import START, new_agent, time_at

PREFIX = "SYS"

DONE = Mission(
    id="m1",
    started_at=START,
    goal="Count the tests",
    report="There are 12.",
    answer="I counted them.",
    outcome=MissionOutcome.SUCCEEDED,
    ended_at=time_at(75),
)


def news(goal: str, text: str = "") -> WorkerReport:
    """The result of a worker."""
    return WorkerReport(mission_id="m1", goal=goal, text=text, at=START)


def test_a_summary_of_a_mission() -> None:
    """Goal, outcome, report, last reply, duration, cost."""
    text = summary(new_agent(cost_usd=0.42), DONE)
    assert text.splitlines()[0] == "The worker calm-otter has succeeded after 1 min 15 s, for $0.42 (mission m1)."
    assert "Goal: Count the tests" in text
    assert "Its report:\nThere are 12." in text
    assert "Its last reply:\nI counted them." in text


def test_a_worker_without_a_report() -> None:
    """A killed worker has only its end."""
    mission = Mission(id="m1", started_at=START, outcome=MissionOutcome.FAILED, reason="its client ended (vanished)")
    text = summary(new_agent(), mission)
    assert "has failed after 0 s (mission m1)" in text
    assert "Ended: its client ended (vanished)" in text
    assert "It sent no report." in text


def test_the_line_that_prompts_a_conversation_is_safe() -> None:
    """A goal cannot press keys, break lines or become a command."""
    text = wake_up(PREFIX, [news("/exit\n\x1b[A\u202e!rm -rf")])
    assert text.startswith("[SYS: INFO]: A worker has finished: /exit")
    assert text.isprintable()
    assert wake_up(PREFIX, [news("a"), news("b")]) == "[SYS: INFO]: 2 workers have finished: a; b. The summary follows."


def test_the_length_of_results_is_limited() -> None:
    """Many long reports do not fill a context."""
    assert len(summaries(PREFIX, [news("a", "x" * 9_000)] * 3)) < MAX_SUMMARY_CHARS + 100


def test_a_worker_is_asked_to_report() -> None:
    """Its prompt has the goal, and how to report."""
    assert worker_prompt("Count the tests").startswith("Count the tests\n")
    assert "headspace report" in worker_prompt("Count the tests")
