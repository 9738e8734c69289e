"""Dialogs with a request id: the client reports when each of them opens and closes."""

from itertools import permutations

import pytest

from claude_headspace.kernel import facts
from claude_headspace.kernel.facts import Fact
from claude_headspace.kernel.wait.request import Ask
from tests.kernel.story import Story


def started(call_id: str) -> facts.ToolStarted:
    """A call begins."""
    return facts.ToolStarted(call_id, "bash", f"digest of {call_id}", "touch x")


def asked(request_id: str, call_id: str = "call-1") -> facts.PermissionAsked:
    """The client shows a dialog for a call."""
    ask = Ask("permission", "bash: touch x")
    return facts.PermissionAsked("bash", "", "touch x", ask, call_id=call_id, request_id=request_id)


@pytest.fixture
def story() -> Story:
    """A client that runs a call."""
    begun = Story()
    begun.starts(at=1)
    begun.prompted(at=2)
    begun.report(started("call-1"), at=3)
    return begun


def test_an_answered_dialog_leaves_its_call_running(story: Story) -> None:
    """The end of the dialog is not the end of the call."""
    story.report(asked("r1"), at=4)
    assert story.open_waits == ["permission"]
    story.report(facts.DialogClosed("r1", "allowed once"), at=5)
    assert story.board == ("working", None)
    assert [call.id for call in story.agent.calls] == ["call-1"]
    assert [wait.resolution for wait in story.waits.values()] == ["allowed once"]


def test_a_later_call_does_not_close_the_dialog(story: Story) -> None:
    """The client starts calls of one step while the model still writes: they can begin seconds apart."""
    story.report(asked("r1"), at=4)
    story.report(started("call-2"), at=9)
    story.report(facts.ClientReported("busy"), at=10)
    assert story.board == ("waiting", "permission")


def test_the_end_of_the_call_closes_the_dialog(story: Story) -> None:
    """Also if the report of the dialog's end was lost."""
    story.report(asked("r1"), at=4)
    story.report(facts.ToolFailed("call-1", "bash"), at=5)
    assert story.board == ("working", None)


def test_one_call_can_show_two_dialogs_in_turn(story: Story) -> None:
    """Each has its own wait."""
    for number in (1, 2):
        story.report(asked(f"r{number}"), at=4 * number)
        story.report(facts.DialogClosed(f"r{number}"), at=4 * number + 1)
    assert (story.board, len(story.waits)) == (("working", None), 2)


EVENTS: tuple[tuple[float, Fact], ...] = (
    (3, started("call-1")),
    (4, asked("r1")),
    (5, facts.DialogClosed("r1")),
    (6, asked("r2")),
)


@pytest.mark.parametrize("order", list(permutations(EVENTS)))
def test_the_order_of_arrival_does_not_matter(order: tuple[tuple[float, Fact], ...]) -> None:
    """The second dialog is open, the first one is not."""
    story = Story()
    story.starts(at=1)
    story.prompted(at=2)
    for at, fact in order:
        story.report(fact, at=at)
    assert [wait.request_id for wait in story.agent.waits] == ["r2"]


def test_an_answer_becomes_a_turn_of_the_user(story: Story) -> None:
    """Questions are answered with words."""
    story.report(asked("r1"), at=4)
    story.report(facts.DialogClosed("r1", answer="Which colour? Red"), at=5)
    assert "Which colour? Red" in [turn.text for turn in story.turn_rows.values()]
