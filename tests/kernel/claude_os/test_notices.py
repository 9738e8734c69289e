"""Who is told what of itself, and when."""

from typing import Any

import msgspec
import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.agent import Agent, Note
from claude_headspace.kernel.claude_os.notices import Customs, attend, is_told, level_of, takes_part
from claude_headspace.kernel.claude_os.session_notice import NO_CARE, Care, together
from claude_headspace.kernel.mission.model import Mission
from tests.kernel.story import START, Story, envelope, time_at

CUSTOMS = Customs(set_up=True)


def agent(percent: float | None = None, **known: Any) -> Agent:
    """An agent whose session began at second 1."""
    story = Story()
    story.starts()
    return msgspec.structs.replace(story.agent, context_percent=percent, **known)


def told(name: str, subject: Agent, customs: Customs = CUSTOMS, at: float = 10, **payload: Any) -> Care:
    """What an agent is told with the answer to a hook."""
    return attend(customs, subject, decode(envelope(name, at, payload)))


def prompted(subject: Agent, **more: Any) -> Care:
    """What it is told with a prompt."""
    return told("UserPromptSubmit", subject, prompt="Go on", **more)


def stopping(subject: Agent, **more: Any) -> Care:
    """What it is told before a turn ends."""
    return told("Stop", subject, **({"last_assistant_message": "Done."} | more))


@pytest.mark.parametrize(
    ("percent", "level"), [(None, 0), (0, 0), (59.9, 0), (60, 60), (79.9, 60), (80, 80), (90, 90), (95, 95), (130, 95)]
)
def test_the_levels(percent: float | None, level: int) -> None:
    """60, 80, 90 and 95 percent."""
    assert level_of(percent) == level


@pytest.mark.parametrize(
    ("percent", "words"),
    [
        (60, "[CLAUDE OS SYS: INFO]: Context at 60% - Consider writing reset notes soon"),
        (80, "[CLAUDE OS SYS: WARNING]: Context at 80% - Write reset notes and prepare to transition"),
        (90.7, "[CLAUDE OS SYS: WARNING]: Context at 90% - URGENT"),
        (95, "[CLAUDE OS SYS: WARNING]: Context at 95% - CRITICAL"),
    ],
)
def test_a_prompt_tells_how_full_it_is(percent: float, words: str) -> None:
    """In the words of Claude OS; a prompt is never held."""
    care = prompted(agent(percent))
    assert care.said[0].startswith(words)
    assert (care.level, care.holds) == (level_of(percent), False)


@pytest.mark.parametrize(
    ("percent", "words"),
    [
        (60, "[CLAUDE OS SYS: INFO]: Memory check (60% context used)"),
        (80, "[CLAUDE OS SYS: WARNING]: Context at 80%"),
        (90, "[CLAUDE OS SYS: WARNING]: Context at 90% - URGENT"),
        (95, "[CLAUDE OS SYS: WARNING]: Context at 95% - CRITICAL"),
    ],
)
def test_the_end_of_a_turn_tells_it_too(percent: float, words: str) -> None:
    """The level was reached in the turn: it goes on with that."""
    care = stopping(agent(percent))
    assert care.said[0].split("\n")[0] == words
    assert (care.level, care.holds) == (level_of(percent), True)


@pytest.mark.parametrize("ask", [prompted, stopping])
def test_each_level_is_told_once(ask: Any) -> None:
    """What was told is not told again; the next level is."""
    assert ask(agent(85, context_level_told=80)) == NO_CARE
    assert ask(agent(91, context_level_told=80)).level == 90


def test_a_turn_is_not_held_twice_in_a_row() -> None:
    """The client says that it goes on because of a hook already."""
    assert stopping(agent(85), stop_hook_active=True) == NO_CARE


def test_the_human_comes_first() -> None:
    """A turn that ends with a question is not held; nor one that sub-agents go on with."""
    assert stopping(agent(85), last_assistant_message="Shall I delete the old tests?") == NO_CARE
    running = [{"id": "a", "type": "subagent", "status": "running"}]
    assert stopping(agent(85), background_tasks=running) == NO_CARE
    assert stopping(agent(85), background_tasks=[{"id": "s", "type": "shell", "status": "running"}]).holds


def test_a_note_is_asked_for_after_two_minutes_once() -> None:
    """Not before, not when there is one of this context window, not a second time."""
    assert prompted(agent(), at=100) == NO_CARE
    care = prompted(agent(), at=130)
    assert care.said == (
        '[CLAUDE OS SYS: INFO]: Consider setting a session status with: headspace note "what you\'re working on"',
    )
    assert care.asked_for_note
    assert prompted(agent(note_requested_at=time_at(130)), at=500) == NO_CARE
    assert prompted(agent(note=Note("the login", time_at(50))), at=500) == NO_CARE
    assert prompted(agent(note=Note("before", time_at(0))), at=500).asked_for_note
    assert prompted(agent(), at=500, customs=Customs(set_up=True, note_after=0)) == NO_CARE


@pytest.mark.parametrize(
    ("customs", "known", "part", "tells"),
    [
        (Customs(), {}, False, False),
        (Customs(), {"role": "chief"}, True, True),
        (Customs(), {"mode": "mission"}, True, True),
        (Customs(set_up=True), {}, True, True),
        (Customs(set_up=True), {"parent_id": "a"}, False, False),
        (Customs(warnings="all"), {}, False, True),
        (Customs(warnings="all"), {"parent_id": "a"}, False, False),
        (Customs(set_up=True, warnings="off"), {"role": "chief"}, True, False),
    ],
)
def test_who_takes_part(customs: Customs, known: dict[str, Any], part: bool, tells: bool) -> None:
    """Sessions with a role or a mode; all where the user set Claude OS up, but for an agent's own errands."""
    subject = agent(85, **known)
    assert (takes_part(customs, subject), is_told(customs, subject)) == (part, tells)
    assert (prompted(subject, customs=customs) != NO_CARE) == tells


def test_nothing_else_is_told() -> None:
    """Other events, sub-agents, and an agent of which no session is known."""
    full = agent(99)
    assert told("PreToolUse", full, tool_name="Bash") == NO_CARE
    assert told("SessionStart", full, source="startup") == NO_CARE
    assert prompted(full, agent_id="sub", agent_type="x") == NO_CARE
    assert prompted(msgspec.structs.replace(full, session=None)) == NO_CARE


def test_the_prefix_is_the_users() -> None:
    """Whatever stands there."""
    assert prompted(agent(60), customs=Customs(set_up=True, prefix="DESK")).said[0].startswith("[DESK: INFO]: Context")


def test_what_is_said_of_workers_comes_in_the_same_answer() -> None:
    """A worker whose context is filling is reminded to report as well, and its turn is held once for both."""
    care = stopping(agent(85.0, mode="background", mission=Mission(id="m1", started_at=START)))
    assert (len(care.said), care.level, care.asked_for_report, care.holds) == (2, 80, True, True)
    assert together(care, NO_CARE) == together(NO_CARE, care) == care
