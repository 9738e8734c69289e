"""What outlives the turn: the client's list decides, and what came back is over."""

import pytest

from tests.kernel.story import Story, in_subagent, running, task_notification


@pytest.fixture
def story() -> Story:
    """A client that works on a prompt."""
    told = Story()
    told.starts()
    told.prompted()
    return told


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


def test_what_the_list_lacks_is_over(story: Story) -> None:
    """The list of a Stop is complete, for shells and sub-agents."""
    story.called("t1", "sleep 60", tool_response={"backgroundTaskId": "b1"})
    story.hook("SubagentStart", **in_subagent())
    story.stops("Done with it.", background_tasks=[])
    assert (shells(story), story.agent.working_subagents, story.board) == ([], (), ("idle", None))


def test_the_list_tells_of_what_was_missed(story: Story) -> None:
    """A daemon that started late learns from the next Stop what runs."""
    story.stops("They run.", background_tasks=running("sub-1", "b1"))
    assert shells(story) == ["b1"]
    assert [(sub.id, sub.type) for sub in story.agent.working_subagents] == [("sub-1", "Explore")]
    assert story.board == ("working", None)


def test_what_began_before_the_newest_list_and_is_not_on_it_stays_over(story: Story) -> None:
    """A late start does not bring back what the list has ended, nor does an older list."""
    story.stops("Done with it.", at=9, background_tasks=[])
    story.called("t1", "sleep 60", at=4, tool_response={"backgroundTaskId": "b1"})
    story.hook("SubagentStart", at=4, **in_subagent())
    story.stops("They run.", at=6, background_tasks=running("sub-2", "b2"))
    assert (shells(story), story.agent.working_subagents, story.board) == ([], (), ("idle", None))


@pytest.mark.parametrize("kind", ["sub-1", "b1"])
def test_what_came_back_before_it_was_known_stays_over(story: Story, kind: str) -> None:
    """A notification that overtakes the start is remembered, whatever it was of."""
    story.prompted(task_notification(kind), "p2", at=9)
    story.hook("SubagentStart", at=4, **in_subagent("sub-1"))
    story.called("t1", "sleep 60", at=4, tool_response={"backgroundTaskId": "b1"})
    assert (kind in shells(story), kind in [sub.id for sub in story.agent.working_subagents]) == (False, False)


def test_a_new_client_has_nothing_in_its_background(story: Story) -> None:
    """What ran in the background of the old process is not shown any more; `/clear` keeps it."""
    story.stops("It runs.", background_tasks=running(shell_id="b1"))
    story.hook("SessionEnd", reason="clear")
    story.hook("SessionStart", source="clear", session_id="session-2")
    assert shells(story) == ["b1"]
    story.hook("SessionStart", source="resume", session_id="session-2")
    assert shells(story) == []
