"""Dialogs of calls that an earlier answer may allow: their waits open only when the dialogs are certain."""

from itertools import permutations

import pytest

from claude_headspace.kernel import facts
from claude_headspace.kernel.envelope import Origin
from claude_headspace.kernel.facts import Fact
from claude_headspace.kernel.wait.request import Ask
from tests.kernel.story import Story

STARTED = facts.ToolStarted("call-1", "edit", "digest", "notes.txt")
ASKED = facts.PermissionAsked("edit", "digest", "notes.txt", Ask("permission", "edit: notes.txt"), may_be_granted=True)
FINISHED = facts.ToolFinished("call-1", "edit", "digest")


@pytest.fixture
def story() -> Story:
    """A client that announced a dialog at 4 s."""
    begun = Story()
    begun.starts(at=1)
    begun.prompted(at=2)
    begun.report(STARTED, at=3)
    begun.report(ASKED, at=4)
    return begun


def assume(story: Story, at: float) -> None:
    """The timer reports that dialogs must be open."""
    story.report(facts.DialogAssumed(), origin=Origin.TIMER, at=at)


def test_a_granted_call_never_waits(story: Story) -> None:
    """It ends at once, and a late timer opens nothing."""
    assert story.board == ("working", None)
    story.report(FINISHED, at=4.3)
    assume(story, at=6)
    assert story.board == ("working", None)
    assert story.waits == {}


def test_a_call_that_does_not_end_waits(story: Story) -> None:
    """The wait is that of the report: it opened then, and its request is in that event."""
    assume(story, at=4.9)
    assert story.open_waits == []
    assume(story, at=5)
    assert story.board == ("waiting", "permission")
    [wait] = story.agent.waits
    assert (wait.opened_at, wait.tool, wait.call_id) == (story.agent.busy_at, "edit", "call-1")
    story.report(FINISHED, at=9)
    assert story.open_waits == []


def test_a_dialog_that_the_registry_shows_waits_at_once(story: Story) -> None:
    """It is the announced dialog, not another one."""
    story.report(facts.ClientReported("waiting", Ask("permission", "asks")), origin=Origin.REGISTRY, at=4.2)
    assert [wait.text for wait in story.agent.waits] == ["edit: notes.txt"]
    assume(story, at=6)
    assert len(story.waits) == 1


def test_an_interrupted_call_never_waits(story: Story) -> None:
    """Esc ends the call before its dialog was certain."""
    story.report(facts.TurnInterrupted(), at=4.4)
    assume(story, at=6)
    assert story.board == ("idle", None)


@pytest.mark.parametrize("order", [*permutations(((3, STARTED), (4, ASKED), (5, FINISHED)))])
def test_the_order_of_the_reports_makes_no_difference(order: tuple[tuple[float, Fact], ...]) -> None:
    """At the end no wait is open."""
    story = Story()
    story.starts(at=1)
    story.prompted(at=2)
    for at, fact in order:
        story.report(fact, at=at)
    assume(story, at=9)
    assert story.board == ("working", None)
