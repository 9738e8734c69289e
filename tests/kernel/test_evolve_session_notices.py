"""What a session was told of itself is remembered, and survives a replay because it stands with the event."""

from typing import Any

import msgspec

from claude_headspace.kernel.claude_os.session_notice import SessionNotice
from claude_headspace.kernel.envelope import Decisions, Origin
from claude_headspace.kernel.facts import AgentNoted, ContextLoaded, UsageMeasured
from tests.kernel.story import CLIENT, Story, moment


def with_notice(**said: Any) -> Decisions:
    """The decisions about a hook whose reply told the session something."""
    return Decisions(session_notice=SessionNotice(texts=("x",), **said))


def working() -> Story:
    """An agent in the middle of a command, with a context that is full."""
    story = Story()
    story.starts()
    story.hook("UserPromptSubmit", prompt="Go", prompt_id="p1")
    story.tell(UsageMeasured(tokens=170_000, window=200_000))
    return story


def test_a_turn_that_was_held_goes_on() -> None:
    """It is working with the same command, says why, and the second Stop ends it."""
    story = working()
    story.hook("Stop", decisions=with_notice(level=80, holds=True), last_assistant_message="Done.")
    assert (story.board, story.agent.context_level_told) == (("working", None), 80)
    command = story.command.id
    story.hook("Stop", last_assistant_message="Noted.", stop_hook_active=True, prompt_id="p1")
    assert (story.board, story.command.id) == (("idle", None), command)


def test_what_was_told_is_remembered() -> None:
    """The highest level, and that a note was asked for."""
    story = working()
    care = with_notice(level=80, asked_for_note=True)
    story.hook("UserPromptSubmit", at=20, decisions=care, prompt="On")
    story.hook("UserPromptSubmit", at=21, decisions=with_notice(level=60), prompt="On")
    agent = story.agent
    assert (agent.context_level_told, agent.note_requested_at) == (80, moment(20))


def test_a_new_window_begins_empty() -> None:
    """Cleared or compacted: nothing is known of how full it is, nothing was told; a resumed one is as it was."""
    for source, percent in (("clear", None), ("compact", None), ("startup", None), ("resume", 85.0)):
        story = working()
        story.hook("UserPromptSubmit", decisions=with_notice(level=80), prompt="On")
        story.hook("SessionStart", source=source, session_id="session-2")
        assert (story.agent.context_percent, story.agent.context_level_told) == (percent, 80 if percent else 0), source


def test_a_late_measure_of_the_window_before_does_not_count() -> None:
    """What the transcript of the old window tells after the new one began is old, cleared or compacted."""
    for source, session in (("clear", "session-2"), ("compact", "session-1")):
        story = working()
        story.hook("SessionStart", source=source, session_id=session, at=30)
        story.tell(UsageMeasured(tokens=190_000, window=200_000), at=29, session_id="session-1")
        assert story.agent.context_percent is None, source
        story.tell(UsageMeasured(tokens=20_000, window=200_000), at=31, session_id=session)
        assert story.agent.context_percent == 10.0, source


def test_a_session_that_was_met_late_has_its_measures_from_before() -> None:
    """Headspace began to look in the middle of it: what stands in its transcript is of this window."""
    story = Story()
    story.hook("UserPromptSubmit", prompt="Go", at=30)
    story.tell(UsageMeasured(tokens=100_000, window=200_000), at=10, session_id="session-1")
    assert story.agent.context_percent == 50.0


def test_role_and_mode_come_from_the_wrapper() -> None:
    """Told with the start; a child only inherited the role, and its mode is decided when its event arrives."""
    told = msgspec.structs.replace(CLIENT, role="chief")
    story = Story()
    story.hook("SessionStart", source="startup", observations=told, decisions=Decisions(mode="mission"))
    assert (story.agent.role, story.agent.mode) == ("chief", "mission")
    story.hook("UserPromptSubmit", prompt="Go")
    assert (story.agent.role, story.agent.mode) == ("chief", "mission")
    child = Story()
    child.agent.parent_id = "agent-0"
    child.hook("SessionStart", source="startup", observations=told, decisions=Decisions(mode="mission"))
    assert child.agent.role is None


def test_notes_and_what_a_window_began_with() -> None:
    """The newest note counts, no words take it back; the files are those of the window in use."""
    story = working()
    story.tell(AgentNoted("the login"), origin=Origin.OPERATOR, at=40)
    story.tell(AgentNoted("late"), origin=Origin.OPERATOR, at=39)
    story.tell(ContextLoaded(("a.md",), ("b.md: is not there",)), origin=Origin.OPERATOR, at=41)
    assert story.agent.note is not None
    assert (story.agent.note.text, story.agent.note.at) == ("the login", moment(40))
    assert story.agent.session_context is not None
    assert story.agent.session_context.files == ("a.md",)
    story.tell(AgentNoted(""), origin=Origin.OPERATOR, at=42)
    story.hook("SessionStart", source="clear", session_id="session-2", at=43)
    agent = story.agent
    assert (agent.note, agent.session_context) == (None, None)
