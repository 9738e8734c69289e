"""Session notices and verdicts are stored with the event and recorded with the agent, also by a replay."""

from typing import Any

import msgspec

from claude_headspace.kernel.acts import AgentNoted, ContextLoaded
from claude_headspace.kernel.claude_os.session_notice import SessionNotice
from claude_headspace.kernel.envelope import Decisions, Origin
from claude_headspace.kernel.facts import UsageMeasured
from claude_headspace.kernel.policy.verdict import Ruling, Verdict
from claude_headspace.kernel.react import react
from tests.kernel.story import CLIENT, Story, time_at


def with_notice(**fields: Any) -> Decisions:
    """The decisions about a hook whose reply had a session notice."""
    return Decisions(session_notice=SessionNotice(texts=("x",), **fields))


def working() -> Story:
    """An agent in the middle of a command, with a context that is full."""
    story = Story()
    story.starts()
    story.hook("UserPromptSubmit", prompt="Go", prompt_id="p1")
    story.report(UsageMeasured(tokens=170_000, window=200_000))
    return story


def test_a_blocked_turn_continues() -> None:
    """The agent works on the same command, with a reason, and the second Stop ends it."""
    story = working()
    story.hook("Stop", decisions=with_notice(context_level=80, blocks_turn_end=True), last_assistant_message="Done.")
    assert (story.board, story.agent.context_level_reported) == (("working", None), 80)
    command = story.command.id
    story.hook("Stop", last_assistant_message="Noted.", stop_hook_active=True, prompt_id="p1")
    assert (story.board, story.command.id) == (("idle", None), command)


def test_session_notices_are_recorded() -> None:
    """The highest level, and that a note was requested."""
    story = working()
    notice = with_notice(context_level=80, requests_note=True)
    story.hook("UserPromptSubmit", at=20, decisions=notice, prompt="On")
    story.hook("UserPromptSubmit", at=21, decisions=with_notice(context_level=60), prompt="On")
    agent = story.agent
    assert (agent.context_level_reported, agent.note_requested_at) == (80, time_at(20))


def test_a_new_context_window_is_empty() -> None:
    """After clear and compact usage and notices are unknown; a resumed window keeps them."""
    for source, percent in (("clear", None), ("compact", None), ("startup", None), ("resume", 85.0)):
        story = working()
        story.hook("UserPromptSubmit", decisions=with_notice(context_level=80), prompt="On")
        story.hook("SessionStart", source=source, session_id="session-2")
        assert (story.agent.context_percent, story.agent.context_level_reported) == (percent, 80 if percent else 0), (
            source
        )


def test_a_late_measurement_of_the_previous_window_is_ignored() -> None:
    """After `/clear` and after compaction."""
    for source, session in (("clear", "session-2"), ("compact", "session-1")):
        story = working()
        story.hook("SessionStart", source=source, session_id=session, at=30)
        story.report(UsageMeasured(tokens=190_000, window=200_000), at=29, session_id="session-1")
        assert story.agent.context_percent is None, source
        story.report(UsageMeasured(tokens=20_000, window=200_000), at=31, session_id=session)
        assert story.agent.context_percent == 10.0, source


def test_earlier_measurements_of_a_session_count() -> None:
    """Headspace started in the middle of the session: its transcript is of the same window."""
    story = Story()
    story.hook("UserPromptSubmit", prompt="Go", at=30)
    story.report(UsageMeasured(tokens=100_000, window=200_000), at=10, session_id="session-1")
    assert story.agent.context_percent == 50.0


def test_role_and_mode_come_from_the_wrapper() -> None:
    """A child does not inherit the role; its mode is assigned when its event arrives."""
    given = msgspec.structs.replace(CLIENT, role="chief")
    story = Story()
    story.hook("SessionStart", source="startup", observations=given, decisions=Decisions(mode="mission"))
    assert (story.agent.role, story.agent.mode) == ("chief", "mission")
    story.hook("UserPromptSubmit", prompt="Go")
    assert (story.agent.role, story.agent.mode) == ("chief", "mission")
    child = Story()
    child.agent.parent_id = "agent-0"
    child.hook("SessionStart", source="startup", observations=given, decisions=Decisions(mode="mission"))
    assert child.agent.role is None


def test_notes_and_session_context() -> None:
    """The newest note counts and an empty text removes it; the files are those of the current window."""
    story = working()
    story.report(AgentNoted(text="the login"), origin=Origin.OPERATOR, at=40)
    story.report(AgentNoted(text="late"), origin=Origin.OPERATOR, at=39)
    story.report(ContextLoaded(files=("a.md",), left_out=("b.md: is not there",)), origin=Origin.OPERATOR, at=41)
    assert story.agent.note is not None
    assert (story.agent.note.text, story.agent.note.at) == ("the login", time_at(40))
    assert story.agent.session_context is not None
    assert story.agent.session_context.files == ("a.md",)
    story.report(AgentNoted(text=""), origin=Origin.OPERATOR, at=42)
    story.hook("SessionStart", source="clear", session_id="session-2", at=43)
    agent = story.agent
    assert (agent.note, agent.session_context) == (None, None)


# --- verdicts ---------------------------------------------------------------------------------------------------------


def test_a_verdict_is_recorded_and_published() -> None:
    """A call that a rule allowed is not published."""
    story = Story()
    story.prompted()
    before = story.agent
    denied = Verdict(Ruling.DENY, "system-delete", "It would delete the system.")
    change = story.calls("t1", "rm -rf /", decisions=Decisions(verdict=denied))
    [judged] = story.agent.verdicts
    assert (judged.ruling, judged.rule, judged.tool, judged.summary) == (
        Ruling.DENY,
        "system-delete",
        "Bash",
        "rm -rf /",
    )
    [message] = [each for each in react(before, change) if each.type == "verdict_given"]
    assert (message.data["ruling"], message.data["rule"], message.data["enforced"]) == ("deny", "system-delete", True)
    before = story.agent
    allowed = Decisions(verdict=Verdict(Ruling.ALLOW, "looking-around"))
    change = story.calls("t2", "ls", decisions=allowed)
    assert len(story.agent.verdicts) == 1
    assert "verdict_given" not in [each.type for each in react(before, change)]


def test_only_the_newest_verdicts_are_kept() -> None:
    """The number of verdicts of an agent is limited."""
    story = Story()
    story.prompted()
    for number in range(9):
        asked = Decisions(verdict=Verdict(Ruling.ASK, f"rule-{number}", enforced=False))
        story.calls(f"t{number}", decisions=asked)
    assert [each.rule for each in story.agent.verdicts] == [f"rule-{number}" for number in range(4, 9)]
    assert not story.agent.verdicts[-1].enforced
