"""An end of a turn that is only reported counts when the transcript confirms it, or after a while."""

import pytest

from claude_headspace.kernel.envelope import Origin
from claude_headspace.kernel.facts import (
    AgentWrote,
    PermissionAsked,
    PromptSubmitted,
    ToolFinished,
    ToolStarted,
    TurnEndAssumed,
    TurnEndReported,
    TurnFailed,
    TurnInterrupted,
)
from claude_headspace.kernel.wait.request import Ask
from tests.kernel.story import Story


@pytest.fixture
def story() -> Story:
    """A client that works on a prompt."""
    started = Story()
    started.starts(at=1)
    started.report(PromptSubmitted("Fix it"), origin=Origin.HOOK, at=2)
    return started


def end(story: Story, at: float, message: str = "I fixed it.") -> None:
    """The client reports the end of the turn."""
    story.report(TurnEndReported(message), origin=Origin.HOOK, at=at)


def test_a_reply_confirms_the_end(story: Story) -> None:
    """Whichever comes first. The time is that of the report."""
    story.report(AgentWrote("I fixed it.", final=True), at=5)
    assert story.board == ("working", None)
    end(story, 5.1)
    assert (story.board, story.command.outcome) == (("idle", None), "completed")

    story.report(PromptSubmitted("Again"), origin=Origin.HOOK, at=6)
    end(story, 7)
    assert story.board == ("working", None)
    story.report(AgentWrote("I fixed it.", final=True), at=6.9)
    assert (story.board, story.command.outcome) == (("idle", None), "completed")
    assert [turn[1] for turn in story.turns] == ["COMMAND", "COMPLETION", "COMMAND", "COMPLETION"]


def test_a_reply_that_asks_waits(story: Story) -> None:
    """As with every other end of a turn."""
    story.report(AgentWrote("Which database do you want?", final=True), at=5)
    end(story, 5.1)
    assert story.board == ("waiting", "question")


def test_a_text_before_a_call_confirms_nothing(story: Story) -> None:
    """The reply after the call is still missing."""
    story.report(AgentWrote("I look.", final=True), at=3)
    story.report(ToolStarted("c", "shell", "d", "ls"), origin=Origin.HOOK, at=4)
    story.report(ToolFinished("c", "shell", "d"), origin=Origin.HOOK, at=5)
    end(story, 7)
    assert story.board == ("working", None)
    story.report(AgentWrote("I fixed it.", final=True), at=6.9)
    assert story.board == ("idle", None)


@pytest.mark.parametrize("is_reported_first", [True, False])
def test_the_transcript_shows_another_end(story: Story, is_reported_first: bool) -> None:
    """A turn that was interrupted or failed has not completed. What the agent had written so far asks nothing."""
    if is_reported_first:
        end(story, 5.2, "Which database do you want?")
    story.report(TurnInterrupted(), at=5)
    if not is_reported_first:
        end(story, 5.2, "Which database do you want?")
    assert (story.board, story.command.outcome) == (("idle", None), "interrupted")
    story.report(TurnEndAssumed(), origin=Origin.TIMER, at=11)
    assert (story.board, len(story.commands)) == (("idle", None), 1)


def test_a_failed_turn(story: Story) -> None:
    """The agent is never shown as idle."""
    end(story, 5.2, "")
    story.report(TurnFailed("api_error", "[API Error]"), at=5.1)
    assert story.board == ("error", None)
    assert not any(change.agent.state == "idle" for change in story.changes[2:])


def test_a_report_after_the_error_is_no_reason(story: Story) -> None:
    """The hook is read after the transcript, such as after a restart: the error stays the reason."""
    story.report(TurnFailed("api_error", "overloaded"), at=5)
    end(story, 5.1, "")
    assert story.agent.evidence is not None
    assert (story.board, story.agent.evidence.why) == (("error", None), "the turn ended in an error: api_error")
    assert story.agent.evidence.confidence == "medium"


def test_an_end_that_nothing_confirms(story: Story) -> None:
    """It is assumed after a while, with low confidence."""
    end(story, 5)
    story.report(TurnEndAssumed(), origin=Origin.TIMER, at=10)
    assert (story.board, story.command.outcome, story.evidence.confidence) == (("idle", None), "completed", "low")


def test_work_after_the_end_is_not_ended(story: Story) -> None:
    """A late assumption does not end the next turn, which proves the end of the previous one."""
    end(story, 5)
    story.report(PromptSubmitted("Next"), origin=Origin.HOOK, at=8)
    story.report(TurnEndAssumed(), origin=Origin.TIMER, at=10)
    assert story.board == ("working", None)
    assert [command.outcome for command in story.commands.values()] == ["completed", None]


def test_a_queued_prompt_before_the_transcript_is_read(story: Story) -> None:
    """The words of the report may be wrong. The final text is that of the transcript, once."""
    end(story, 5, "I fixed it. fixed it.")
    story.report(PromptSubmitted("Next"), origin=Origin.HOOK, at=5.04)
    story.report(AgentWrote("I fixed it.", final=True), at=4.9)
    assert story.board == ("working", None)
    assert [command.outcome for command in story.commands.values()] == ["completed", None]
    assert [turn[1:] for turn in story.turns] == [
        ("COMMAND", "Fix it"),
        ("COMMAND", "Next"),
        ("COMPLETION", "I fixed it."),
    ]


def test_a_dialog_without_its_input_is_joined_by_its_summary(story: Story) -> None:
    """The client does not send the input of the call with its dialog."""
    for number, command in enumerate(("ls", "touch made")):
        story.report(ToolStarted(f"c{number}", "shell", f"d{number}", command), origin=Origin.HOOK, at=3 + number / 10)
    asked = PermissionAsked("shell", "", "touch made", Ask("permission", "shell: touch made"))
    story.report(asked, origin=Origin.HOOK, at=3.5)
    (wait,) = story.agent.waits
    assert (wait.call_id, wait.digest) == ("c1", "d1")
    story.report(ToolFinished(None, "shell", "d0"), origin=Origin.HOOK, at=4)
    assert story.open_waits == ["permission"]
    story.report(ToolFinished(None, "shell", "d1"), origin=Origin.HOOK, at=5)
    assert story.open_waits == []


def test_a_dialog_before_its_call(story: Story) -> None:
    """The hook of the call arrives late: still one dialog, and it closes with the call."""
    asked = PermissionAsked("shell", "", "touch made", Ask("permission", "shell: touch made"))
    story.report(asked, origin=Origin.HOOK, at=3.5)
    story.report(ToolStarted("c1", "shell", "d1", "touch made"), origin=Origin.HOOK, at=3)
    (wait,) = story.agent.waits
    assert (wait.call_id, wait.digest) == ("c1", "d1")
    story.report(ToolFinished(None, "shell", "d1"), origin=Origin.HOOK, at=5)
    assert story.board == ("working", None)
