"""Which session notices a session gets, and when."""

from typing import Any

import msgspec
import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.agent import Agent, Note
from claude_headspace.kernel.claude_os.notices import (
    ClaudeOsSettings,
    context_level,
    has_notice_in_turn,
    receives_notices,
    session_notice,
    uses_claude_os,
)
from claude_headspace.kernel.claude_os.session_notice import NO_NOTICE, SessionNotice, combine
from claude_headspace.kernel.mission.model import Mission, WorkerReport
from tests.kernel.story import START, Story, envelope, time_at

CONFIGURED = ClaudeOsSettings(is_configured=True)


def agent(percent: float | None = None, **known: Any) -> Agent:
    """An agent whose session started at second 1."""
    story = Story()
    story.starts()
    return msgspec.structs.replace(story.agent, context_percent=percent, **known)


def notice_for(
    name: str, subject: Agent, claude_os: ClaudeOsSettings = CONFIGURED, at: float = 10, **payload: Any
) -> SessionNotice:
    """The notice in the reply to a hook."""
    return session_notice(claude_os, subject, decode(envelope(name, at, payload)))


def notice_with_prompt(subject: Agent, **more: Any) -> SessionNotice:
    """The notice in the reply to a prompt."""
    return notice_for("UserPromptSubmit", subject, prompt="Go on", **more)


def notice_at_stop(subject: Agent, **more: Any) -> SessionNotice:
    """The notice before a turn ends."""
    return notice_for("Stop", subject, **({"last_assistant_message": "Done."} | more))


@pytest.mark.parametrize(
    ("percent", "level"), [(None, 0), (0, 0), (59.9, 0), (60, 60), (79.9, 60), (80, 80), (90, 90), (95, 95), (130, 95)]
)
def test_the_levels(percent: float | None, level: int) -> None:
    """60, 80, 90 and 95 percent."""
    assert context_level(percent) == level


@pytest.mark.parametrize(
    ("percent", "words"),
    [
        (60, "[CLAUDE OS SYS: INFO]: Context at 60% - Consider writing reset notes soon"),
        (80, "[CLAUDE OS SYS: WARNING]: Context at 80% - Write reset notes and prepare to reset"),
        (90.7, "[CLAUDE OS SYS: WARNING]: Context at 90% - URGENT"),
        (95, "[CLAUDE OS SYS: WARNING]: Context at 95% - CRITICAL"),
    ],
)
def test_a_prompt_reports_the_context_level(percent: float, words: str) -> None:
    """In the words of Claude OS. A prompt is never blocked."""
    notice = notice_with_prompt(agent(percent))
    assert notice.texts[0].startswith(words)
    assert (notice.context_level, notice.blocks_turn_end) == (context_level(percent), False)


@pytest.mark.parametrize(
    ("percent", "words"),
    [
        (60, "[CLAUDE OS SYS: INFO]: Memory check (60% context used)"),
        (80, "[CLAUDE OS SYS: WARNING]: Context at 80%"),
        (90, "[CLAUDE OS SYS: WARNING]: Context at 90% - URGENT"),
        (95, "[CLAUDE OS SYS: WARNING]: Context at 95% - CRITICAL"),
    ],
)
def test_the_end_of_a_turn_reports_the_level(percent: float, words: str) -> None:
    """A level reached in the turn blocks its end once."""
    notice = notice_at_stop(agent(percent))
    assert notice.texts[0].split("\n")[0] == words
    assert (notice.context_level, notice.blocks_turn_end) == (context_level(percent), True)


@pytest.mark.parametrize("ask", [notice_with_prompt, notice_at_stop])
def test_each_level_is_reported_once(ask: Any) -> None:
    """A reported level is not reported again; the next level is."""
    assert ask(agent(85, context_level_reported=80)) == NO_NOTICE
    assert ask(agent(91, context_level_reported=80)).context_level == 90


def test_the_end_of_a_turn_is_not_blocked_twice_in_a_row() -> None:
    """The client reports that a hook already blocked the end."""
    assert notice_at_stop(agent(85), stop_hook_active=True) == NO_NOTICE


def test_questions_and_running_subagents_do_not_block() -> None:
    """A turn that ends with a question, or that sub-agents continue, is not blocked."""
    assert notice_at_stop(agent(85), last_assistant_message="Shall I delete the old tests?") == NO_NOTICE
    running = [{"id": "a", "type": "subagent", "status": "running"}]
    assert notice_at_stop(agent(85), background_tasks=running) == NO_NOTICE
    assert notice_at_stop(
        agent(85), background_tasks=[{"id": "s", "type": "shell", "status": "running"}]
    ).blocks_turn_end


def test_a_note_is_requested_once_after_two_minutes() -> None:
    """Not before, not if this context window has a note, and not a second time."""
    assert notice_with_prompt(agent(), at=100) == NO_NOTICE
    notice = notice_with_prompt(agent(), at=130)
    assert notice.texts == (
        '[CLAUDE OS SYS: INFO]: Consider setting a session status with: headspace note "what you\'re working on"',
    )
    assert notice.requests_note
    assert notice_with_prompt(agent(note_requested_at=time_at(130)), at=500) == NO_NOTICE
    assert notice_with_prompt(agent(note=Note("the login", time_at(50))), at=500) == NO_NOTICE
    assert notice_with_prompt(agent(note=Note("before", time_at(0))), at=500).requests_note
    assert (
        notice_with_prompt(agent(), at=500, claude_os=ClaudeOsSettings(is_configured=True, note_after=0)) == NO_NOTICE
    )


@pytest.mark.parametrize(
    ("claude_os", "known", "uses", "receives"),
    [
        (ClaudeOsSettings(), {}, False, False),
        (ClaudeOsSettings(), {"role": "chief"}, True, True),
        (ClaudeOsSettings(), {"mode": "mission"}, True, True),
        (ClaudeOsSettings(is_configured=True), {}, True, True),
        (ClaudeOsSettings(is_configured=True), {"parent_id": "a"}, False, False),
        (ClaudeOsSettings(warnings="all"), {}, False, True),
        (ClaudeOsSettings(warnings="all"), {"parent_id": "a"}, False, False),
        (ClaudeOsSettings(is_configured=True, warnings="off"), {"role": "chief"}, True, False),
    ],
)
def test_which_sessions_use_claude_os(
    claude_os: ClaudeOsSettings, known: dict[str, Any], uses: bool, receives: bool
) -> None:
    """Sessions with a role or a mode. If the user configured Claude OS, all except children."""
    subject = agent(85, **known)
    assert (uses_claude_os(claude_os, subject), receives_notices(claude_os, subject)) == (uses, receives)
    assert (notice_with_prompt(subject, claude_os=claude_os) != NO_NOTICE) == receives


def test_other_events_have_no_notice() -> None:
    """Also events of sub-agents, and of an agent without a known session."""
    full = agent(99)
    assert notice_for("PreToolUse", full, tool_name="Bash") == NO_NOTICE
    assert notice_for("SessionStart", full, source="startup") == NO_NOTICE
    assert notice_with_prompt(full, agent_id="sub", agent_type="x") == NO_NOTICE
    assert notice_with_prompt(msgspec.structs.replace(full, session=None)) == NO_NOTICE


def test_the_prefix_is_configurable() -> None:
    """Any text can be used."""
    assert (
        notice_with_prompt(agent(60), claude_os=ClaudeOsSettings(is_configured=True, prefix="DESK"))
        .texts[0]
        .startswith("[DESK: INFO]: Context")
    )


def test_notices_are_combined() -> None:
    """A worker whose context is nearly full is also reminded to report, and its turn is blocked once for both."""
    notice = notice_at_stop(agent(85.0, mode="background", mission=Mission(id="m1", started_at=START)))
    assert (len(notice.texts), notice.context_level, notice.requests_report, notice.blocks_turn_end) == (
        2,
        80,
        True,
        True,
    )
    assert combine(notice, NO_NOTICE) == combine(NO_NOTICE, notice) == notice


def after_tool(subject: Agent, **more: Any) -> SessionNotice:
    """The notice in the reply to a finished tool call."""
    return notice_for("PostToolUse", subject, tool_name="Bash", tool_input={}, tool_use_id="t1", **more)


def test_a_finished_tool_call_brings_the_level_in_the_middle_of_a_turn() -> None:
    """Requirement: context warnings, "progressive (60% → 80% → 90% → 95%)". Once per level, never for sub-agents."""
    notice = after_tool(agent(81))
    assert notice.texts == ("[CLAUDE OS SYS: WARNING]: Context at 81% - Write reset notes and prepare to reset",)
    assert (notice.context_level, notice.blocks_turn_end) == (80, False)
    assert after_tool(agent(81, context_level_reported=80)) == NO_NOTICE
    assert after_tool(agent(91, context_level_reported=80)).context_level == 90
    assert after_tool(agent(81), agent_id="sub", agent_type="Explore") == NO_NOTICE
    assert after_tool(agent(81), claude_os=ClaudeOsSettings()) == NO_NOTICE


@pytest.mark.parametrize(
    ("known", "waits"),
    [
        ({"percent": 81.0}, True),
        ({"percent": 40.0}, False),
        ({"percent": None}, False),
        ({"percent": 81.0, "context_level_reported": 80}, False),
        ({"percent": 81.0, "busy_at": 0}, False),
        ({"percent": 81.0, "parent_id": "p"}, False),
    ],
)
def test_a_tool_call_waits_only_for_a_notice(known: dict[str, Any], waits: bool) -> None:
    """Without a pending notice, hooks of finished tool calls expect no reply."""
    subject = agent(**({"busy_at": time_at(20)} | known))
    assert has_notice_in_turn(CONFIGURED, subject) is waits


def test_the_prefix_applies_to_every_message() -> None:
    """Requirement: "[CLAUDE OS SYS: INFO]: …" with the prefix of the user. Also for texts about missions."""
    claude_os = ClaudeOsSettings(is_configured=True, prefix="HOUSE")
    report = WorkerReport(mission_id="m1", goal="Count", text="12", at=START)
    worker = agent(81, mode="background", mission=Mission(id="m1", started_at=START))
    texts = [
        *notice_with_prompt(agent(81, worker_reports=(report,)), claude_os=claude_os, at=300).texts,
        *notice_at_stop(worker, claude_os=claude_os, background_tasks=[]).texts,
        *after_tool(agent(81), claude_os=claude_os).texts,
    ]
    assert len(texts) == 6
    assert all(text.startswith(("[HOUSE: INFO]: ", "[HOUSE: WARNING]: ")) for text in texts)
