"""Interrupts: what Esc ends, and what it keeps."""

import pytest

from claude_headspace.kernel.facts import TurnInterrupted
from tests.kernel.story import Story, in_subagent


@pytest.fixture
def story() -> Story:
    """A client that has started."""
    started = Story()
    started.starts()
    return started


def test_an_interrupt_ends_turn_calls_and_dialogs(story: Story) -> None:
    """No hook reports Esc; the transcript does."""
    story.prompted()
    story.calls("t1")
    story.asks_permission()
    story.report(TurnInterrupted())
    assert (story.board, story.open_calls, story.open_waits) == (("idle", None), [], [])
    [command] = story.commands.values()
    assert (command.text, command.outcome) == ("Fix the parser", "interrupted")


def test_an_interrupt_keeps_errors_and_questions_in_text(story: Story) -> None:
    """They belong to what ended before."""
    story.prompted()
    story.stops("Shall I delete the old files?")
    story.report(TurnInterrupted())
    assert story.open_waits == ["question"]
    story.prompted("Yes", "p2")
    story.hook("StopFailure", prompt_id="p2", error="server_error")
    story.report(TurnInterrupted())
    assert story.board == ("error", None)


def test_an_interrupt_keeps_background_subagents(story: Story) -> None:
    """Esc ends only foreground sub-agents."""
    story.prompted()
    story.hook("SubagentStart", **in_subagent("fore"))
    story.hook("SubagentStart", **in_subagent("back"))
    story.called("t1", tool_response={"status": "async_launched", "agentId": "back"})
    story.report(TurnInterrupted())
    assert [sub.id for sub in story.agent.running_subagents] == ["back"]
    assert story.board == ("working", None)


def test_an_interrupt_in_a_subagents_transcript_is_the_subagents(story: Story) -> None:
    """It ends that sub-agent and nothing else."""
    story.prompted()
    story.hook("SubagentStart", **in_subagent())
    story.report(TurnInterrupted(), subagent_id="sub-1")
    assert story.agent.running_subagents == ()
    assert story.board == ("working", None)


def test_a_late_interrupt_does_not_stop_newer_work(story: Story) -> None:
    """An interrupt from before the newest prompt is of the turn before."""
    story.prompted("One", "p1", at=2)
    story.prompted("Two", "p2", at=6)
    story.report(TurnInterrupted(), at=5)
    assert story.board == ("working", None)
