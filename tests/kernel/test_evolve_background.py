"""Background work: the client's list decides what runs, and a delivered result ends a task."""

from typing import Any

import pytest

from claude_headspace.kernel.envelope import Origin
from claude_headspace.kernel.facts import ClientReported, PromptQueued, PromptUnqueued, SubagentDescribed
from tests.kernel.story import Story, in_subagent, running, task_notification, time_at


@pytest.fixture
def story() -> Story:
    """A client that works on a prompt."""
    started = Story()
    started.starts()
    started.prompted()
    return started


def shells(story: Story) -> list[str]:
    """The background tasks that run."""
    return [task.id for task in story.agent.running_background]


def test_a_shell_runs_until_it_comes_back(story: Story) -> None:
    """Launched by a call, listed by a Stop, ended by its notification."""
    story.called("t1", "sleep 60", tool_response={"backgroundTaskId": "b1"})
    assert shells(story) == ["b1"]
    story.stops("It runs.", background_tasks=running(shell_id="b1"))
    assert shells(story) == ["b1"]
    story.prompted(task_notification("b1"), "p2")
    assert shells(story) == []


def test_a_task_missing_from_the_list_has_ended(story: Story) -> None:
    """The list of a Stop is complete, for shells and sub-agents."""
    story.called("t1", "sleep 60", tool_response={"backgroundTaskId": "b1"})
    story.hook("SubagentStart", **in_subagent())
    story.stops("Done with it.", background_tasks=[])
    assert (shells(story), story.agent.running_subagents, story.board) == ([], (), ("idle", None))


def test_the_list_shows_missed_tasks(story: Story) -> None:
    """A daemon that started late sees in the next Stop what runs."""
    story.stops("They run.", background_tasks=running("sub-1", "b1"))
    assert shells(story) == ["b1"]
    assert [(sub.id, sub.type) for sub in story.agent.running_subagents] == [("sub-1", "Explore")]
    assert story.board == ("working", None)


def test_a_late_start_does_not_revive_a_task_that_the_list_ended(story: Story) -> None:
    """Neither does an older list."""
    story.stops("Done with it.", at=9, background_tasks=[])
    story.called("t1", "sleep 60", at=4, tool_response={"backgroundTaskId": "b1"})
    story.hook("SubagentStart", at=4, **in_subagent())
    story.stops("They run.", at=6, background_tasks=running("sub-2", "b2"))
    assert (shells(story), story.agent.running_subagents, story.board) == ([], (), ("idle", None))


@pytest.mark.parametrize("kind", ["sub-1", "b1"])
def test_a_result_that_arrives_before_the_start_ends_the_task(story: Story, kind: str) -> None:
    """For shells and sub-agents."""
    story.prompted(task_notification(kind), "p2", at=9)
    story.hook("SubagentStart", at=4, **in_subagent("sub-1"))
    story.called("t1", "sleep 60", at=4, tool_response={"backgroundTaskId": "b1"})
    assert (kind in shells(story), kind in [sub.id for sub in story.agent.running_subagents]) == (False, False)


def test_a_new_client_has_no_background_work(story: Story) -> None:
    """Background work of the old process is removed; `/clear` keeps it."""
    story.stops("It runs.", background_tasks=running(shell_id="b1"))
    story.hook("SessionEnd", reason="clear")
    story.hook("SessionStart", source="clear", session_id="session-2")
    assert shells(story) == ["b1"]
    story.hook("SessionStart", source="resume", session_id="session-2")
    assert shells(story) == []


def news(task_id: str) -> PromptQueued:
    """A finished task waits for the turn to end."""
    return PromptQueued(task_notification(task_id), task_id)


def test_pending_results_pause_the_turn(story: Story) -> None:
    """Two sub-agents end almost together: after the turn about the first, the client continues with the second."""
    story.report(news("sub-2"))
    story.stops("The first is done.")
    assert (story.board, story.command.outcome) == (("working", None), None)
    story.prompted(task_notification("sub-2"), "p2")
    story.stops("Both are done.", "p2")
    assert (story.board, story.command.outcome) == (("idle", None), "completed")
    assert [turn[:2] for turn in story.turns[1:]] == [("AGENT", "PROGRESS"), ("AGENT", "COMPLETION")]


def test_a_delivered_result_is_not_pending(story: Story) -> None:
    """Its transcript line is read after the hook that reported it."""
    story.prompted(task_notification("sub-2"), "p2", at=5)
    story.report(news("sub-2"), at=4.9)
    story.stops("All is done.", "p2", at=9)
    assert story.board == ("idle", None)


@pytest.mark.parametrize("text", [task_notification("sub-2"), ""])
def test_an_included_result_is_not_pending(story: Story, text: str) -> None:
    """The running turn includes it, or it was withdrawn."""
    story.report(news("sub-2"))
    story.report(PromptUnqueued(text, "sub-2" if text else None))
    story.stops("All is done.")
    assert story.board == ("idle", None)


def test_an_idle_client_has_no_pending_results(story: Story) -> None:
    """The registry shows that nothing runs."""
    story.report(news("sub-2"))
    story.stops("The first is done.")
    story.report(ClientReported("idle"), origin=Origin.REGISTRY)
    assert (story.board, story.agent.pending_results, story.command.outcome) == (("idle", None), (), "completed")


def test_a_subagent_gets_a_missing_description(story: Story) -> None:
    """Type and purpose come from the client's file; reported values stay, an unknown sub-agent is ignored."""
    story.hook("SubagentStart", **in_subagent())
    story.report(SubagentDescribed("general-purpose", "count lines"), subagent_id="sub-1")
    story.report(SubagentDescribed("general-purpose", "sleep"), subagent_id="sub-2")
    assert [(sub.type, sub.description) for sub in story.agent.running_subagents] == [("Explore", "count lines")]


def test_the_end_of_a_background_subagent_starts_a_turn(story: Story) -> None:
    """Until its result was delivered, or too much time passed."""
    story.hook("SubagentStart", **in_subagent("sub-1"), at=3)
    story.stops("It runs.", background_tasks=running("sub-1"), at=4)
    assert not story.agent.continues_by_itself(time_at(5))
    story.hook("SubagentStop", **in_subagent("sub-1"), at=6)
    assert story.agent.continues_by_itself(time_at(6.5))
    assert not story.agent.continues_by_itself(time_at(60))
    story.prompted(task_notification("sub-1"), "p2", at=7)
    assert not story.agent.continues_by_itself(time_at(7.5))


# --- teammates --------------------------------------------------------------------------------------------------------


def test_an_idle_teammate_inside_the_client_is_not_running(story: Story) -> None:
    """Requirement: "Update teammate's agents.status = 'done'". By its id, or by its name in older clients."""
    for by_id in (True, False):
        story.hook("SubagentStart", agent_id="abo-1", agent_type="bo")
        assert [sub.type for sub in story.agent.running_subagents] == ["bo"]
        known: dict[str, Any] = {"agent_id": "abo-1", "agent_type": "bo"} if by_id else {}
        story.hook("TeammateIdle", teammate_name="bo", team_name="any", **known)
        assert story.agent.running_subagents == ()
        assert story.board == ("working", None), "the turn of the client itself continues"


def test_an_idle_teammate_that_is_the_client_has_ended_its_turn(story: Story) -> None:
    """A teammate in its own terminal reports for itself."""
    story.hook("TeammateIdle", teammate_name="bo", team_name="blue")
    assert story.board == ("idle", None)


def test_an_unknown_teammate_does_not_end_the_turn_of_its_lead(story: Story) -> None:
    """The team of a client that leads one is named after its session."""
    session = story.agent.session
    assert session is not None
    story.hook("TeammateIdle", teammate_name="bo", team_name=f"session-{session.client_id[:8]}")
    assert story.board == ("working", None)
