"""What outlives the turn: the client's list decides, and what came back is over."""

import pytest

from claude_headspace.kernel.envelope import Origin
from claude_headspace.kernel.facts import ClientReported, PromptQueued, PromptUnqueued, SubagentDescribed
from tests.kernel.story import Story, in_subagent, moment, running, task_notification


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
    assert (shells(story), story.agent.running_subagents, story.board) == ([], (), ("idle", None))


def test_the_list_tells_of_what_was_missed(story: Story) -> None:
    """A daemon that started late learns from the next Stop what runs."""
    story.stops("They run.", background_tasks=running("sub-1", "b1"))
    assert shells(story) == ["b1"]
    assert [(sub.id, sub.type) for sub in story.agent.running_subagents] == [("sub-1", "Explore")]
    assert story.board == ("working", None)


def test_what_began_before_the_newest_list_and_is_not_on_it_stays_over(story: Story) -> None:
    """A late start does not bring back what the list has ended, nor does an older list."""
    story.stops("Done with it.", at=9, background_tasks=[])
    story.called("t1", "sleep 60", at=4, tool_response={"backgroundTaskId": "b1"})
    story.hook("SubagentStart", at=4, **in_subagent())
    story.stops("They run.", at=6, background_tasks=running("sub-2", "b2"))
    assert (shells(story), story.agent.running_subagents, story.board) == ([], (), ("idle", None))


@pytest.mark.parametrize("kind", ["sub-1", "b1"])
def test_what_came_back_before_it_was_known_stays_over(story: Story, kind: str) -> None:
    """A notification that overtakes the start is remembered, whatever it was of."""
    story.prompted(task_notification(kind), "p2", at=9)
    story.hook("SubagentStart", at=4, **in_subagent("sub-1"))
    story.called("t1", "sleep 60", at=4, tool_response={"backgroundTaskId": "b1"})
    assert (kind in shells(story), kind in [sub.id for sub in story.agent.running_subagents]) == (False, False)


def test_a_new_client_has_nothing_in_its_background(story: Story) -> None:
    """What ran in the background of the old process is not shown any more; `/clear` keeps it."""
    story.stops("It runs.", background_tasks=running(shell_id="b1"))
    story.hook("SessionEnd", reason="clear")
    story.hook("SessionStart", source="clear", session_id="session-2")
    assert shells(story) == ["b1"]
    story.hook("SessionStart", source="resume", session_id="session-2")
    assert shells(story) == []


def news(task_id: str) -> PromptQueued:
    """A finished task waits for the turn to end."""
    return PromptQueued(task_notification(task_id), task_id)


def test_a_turn_behind_which_news_wait_is_not_the_last(story: Story) -> None:
    """Two sub-agents end almost together: after the turn about the first the client goes on with the second."""
    story.tell(news("sub-2"))
    story.stops("The first is done.")
    assert (story.board, story.command.outcome) == (("working", None), None)
    story.prompted(task_notification("sub-2"), "p2")
    story.stops("Both are done.", "p2")
    assert (story.board, story.command.outcome) == (("idle", None), "completed")
    assert [turn[:2] for turn in story.turns[1:]] == [("AGENT", "PROGRESS"), ("AGENT", "COMPLETION")]


def test_news_that_came_already_are_not_waited_for(story: Story) -> None:
    """Their line is read later than the hook that told them."""
    story.prompted(task_notification("sub-2"), "p2", at=5)
    story.tell(news("sub-2"), at=4.9)
    story.stops("All is done.", "p2", at=9)
    assert story.board == ("idle", None)


@pytest.mark.parametrize("text", [task_notification("sub-2"), ""])
def test_news_that_were_taken_in_are_not_waited_for(story: Story, text: str) -> None:
    """The running turn has them, or they were withdrawn."""
    story.tell(news("sub-2"))
    story.tell(PromptUnqueued(text, "sub-2" if text else None))
    story.stops("All is done.")
    assert story.board == ("idle", None)


def test_a_client_that_rests_waits_for_no_news(story: Story) -> None:
    """Whatever was queued: the registry sees that nothing runs."""
    story.tell(news("sub-2"))
    story.stops("The first is done.")
    story.tell(ClientReported("idle"), origin=Origin.REGISTRY)
    assert (story.board, story.agent.pending_results, story.command.outcome) == (("idle", None), (), "completed")


def test_a_subagent_is_described_where_no_hook_did(story: Story) -> None:
    """Its kind and purpose are taken from the client's notes; what was told before stays, an unknown one is none."""
    story.hook("SubagentStart", **in_subagent())
    story.tell(SubagentDescribed("general-purpose", "count lines"), subagent_id="sub-1")
    story.tell(SubagentDescribed("general-purpose", "sleep"), subagent_id="sub-2")
    assert [(sub.type, sub.description) for sub in story.agent.running_subagents] == [("Explore", "count lines")]


def test_a_client_whose_subagent_has_just_ended_goes_on_by_itself(story: Story) -> None:
    """Until the news have come, or for so long that they never will."""
    story.hook("SubagentStart", **in_subagent("sub-1"), at=3)
    story.stops("It runs.", background_tasks=running("sub-1"), at=4)
    assert not story.agent.continues_by_itself(moment(5))
    story.hook("SubagentStop", **in_subagent("sub-1"), at=6)
    assert story.agent.continues_by_itself(moment(6.5))
    assert not story.agent.continues_by_itself(moment(60))
    story.prompted(task_notification("sub-1"), "p2", at=7)
    assert not story.agent.continues_by_itself(moment(7.5))
