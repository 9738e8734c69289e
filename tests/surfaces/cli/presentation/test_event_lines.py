"""Events of the stream as lines."""

from datetime import UTC, datetime
from typing import Any

import pytest

from claude_headspace.kernel.react import STREAM_TYPES
from claude_headspace.surfaces.cli.presentation.event_lines import EventFormatter

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
AT = "2026-03-14T11:59:58+00:00"
OTTER = {"id": "1", "name": "calm-otter", "project": {"name": "shop"}, "branch": None, "state": "idle", "command": None}


def no_lookup(agent_id: str) -> dict[str, Any]:
    """No agent is looked up."""
    raise AssertionError(agent_id)


class Reader:
    """Collects the lines of events."""

    def __init__(self, *, everything: bool = False) -> None:
        self.ticker = EventFormatter([OTTER], no_lookup, everything=everything)

    def receives(self, kind: str, /, **data: Any) -> str | None:
        """The line of an event about the otter."""
        line = self.ticker.line(kind, {"agent_id": "1", "timestamp": AT, **data}, NOW, 200)
        return None if line is None else "".join(span.text for span in line)


def changed(state: str, **changes: Any) -> dict[str, Any]:
    """The data of a change of state."""
    return {"name": "calm-otter", "state": state, "waiting_for": None, "changes": {"state": state, **changes}}


ANSWERED = {"words": "allowed", "by": "ann", "via": "web", "at": AT}
BASH = {"name": "Bash", "summary": "npm test"}
MISSION = {"id": "m1", "goal": "Count the tests", "report": "", "words": "", "outcome": None, "ended_at": None}
OTTER_AT = "11:59:58 ○ calm-otter "
VERDICT = {"ruling": "deny", "rule": "system-delete", "enforced": True, "tool": "Bash", "summary": "rm -rf /"}


def test_repeated_texts_are_shown_once() -> None:
    """A tool call is shown when it starts; between two calls nothing is shown."""
    reader = Reader()
    working = changed("working", command={"text": "Fix it", "ended_at": None})
    assert reader.receives("state_changed", **working) == "11:59:58 ● calm-otter working: Fix it"
    assert reader.receives("agent_updated", changes={"last_active_at": AT}) is None
    assert reader.receives("agent_updated", changes={"tool": BASH}) == "11:59:58 ● calm-otter Bash: npm test"
    assert reader.receives("agent_updated", changes={"tokens": 7}) is None
    assert reader.receives("agent_updated", changes={"tool": None}) is None
    assert reader.receives("agent_updated", changes={"tool": BASH}) == "11:59:58 ● calm-otter Bash: npm test"


def test_a_question_is_shown_once() -> None:
    """The opened wait repeats it only if all events are requested."""
    wait = {"kind": "question", "text": "Really?", "tool": "AskUserQuestion", "questions": [], "opened_at": AT}
    for everything, second in ((False, None), (True, "11:59:58 ◆ calm-otter asks: Really?")):
        reader = Reader(everything=everything)
        assert (
            reader.receives("state_changed", **changed("waiting", waits=[wait]))
            == "11:59:58 ◆ calm-otter asks: Really?"
        )
        assert reader.receives("wait_opened", **wait) == second


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("turn_created", {"actor": "USER", "text": "Fix\nit"}, "○ calm-otter prompt: Fix it"),
        ("turn_created", {"actor": "AGENT", "text": "Done."}, "○ calm-otter reply: Done."),
        ("agent_created", {"agent": {**OTTER, "branch": "main"}}, "○ calm-otter appeared in shop (main)"),
        ("agent_updated", {"changes": {"name": "login-fix"}}, "○ login-fix renamed from calm-otter"),
        ("wait_answered", {"answered": ANSWERED}, "○ calm-otter was answered: allowed by ann"),
        ("wait_closed", {"resolution": "answered"}, None),
        ("turn_updated", {"intent": "ANSWER"}, None),
        ("agent_ended", {"reason": "exit"}, None),
        ("state_changed", changed("ended", ended_at=AT), "– calm-otter ended"),
        ("something_of_next_year", {}, None),
    ],
)
def test_texts_of_events(kind: str, data: dict[str, Any], words: str | None) -> None:
    """Each event has a short text, or none if another event has the same."""
    assert Reader().receives(kind, **data) == (f"11:59:58 {words}" if words else None)


def test_all_events_can_be_requested() -> None:
    """Then no type of event is left out."""
    data = {
        **changed("working"),
        "agent": OTTER,
        "actor": "USER",
        "text": "x",
        "intent": "ANSWER",
        "kind": "plan",
        "resolution": "answered",
        "answered": ANSWERED,
        "effort": {"skill": "brainstorm", "ordinal": 2, "lifecycle": "active", "phase": "draft"},
        "reason": "exit",
        "status": "sending",
        "channel": "phone",
        "failure": "",
        "outcome": "",
        "mission": MISSION,
        "step": "asked",
        "problems": [],
        **VERDICT,
    }
    silent = [kind for kind in STREAM_TYPES if Reader(everything=True).receives(kind, **data) is None]
    assert silent == []


def test_failed_notifications_are_always_shown() -> None:
    """With the reason; sent ones only if all events are requested."""
    call = {"channel": "phone", "status": "failed", "failure": "403", "outcome": ""}
    assert (Reader().receives("notification", **call) or "").endswith("notification through phone: failed (403)")
    assert Reader().receives("notification", **{**call, "status": "delivered", "failure": ""}) is None


def test_verdicts_are_shown() -> None:
    """With the rule; one that is not enforced says so."""
    assert Reader().receives("verdict_given", **VERDICT) == OTTER_AT + "denied by system-delete: Bash rm -rf /"
    assert (
        Reader().receives("verdict_given", **VERDICT | {"enforced": False})
        == OTTER_AT + "would deny by system-delete: Bash rm -rf /"
    )


def test_start_and_end_of_a_mission_are_shown() -> None:
    """Other changes only if all events are requested."""
    reader = Reader()
    assert reader.receives("mission_changed", mission=MISSION) == OTTER_AT + "is on a mission: Count the tests"
    assert reader.receives("mission_changed", mission=MISSION | {"answer": "12"}) is None
    over = MISSION | {"ended_at": AT, "outcome": "succeeded", "report": "There are 12."}
    assert reader.receives("mission_changed", mission=over) == OTTER_AT + "mission succeeded: There are 12."


def test_gaps_are_shown() -> None:
    """With the reason."""
    line = EventFormatter([], no_lookup).line("gap", {"after": 1, "resumes_at": 9, "reason": "no longer kept"}, NOW, 80)
    assert line is not None
    assert line[0].text == "… some events are missing: no longer kept"


@pytest.mark.parametrize(
    ("problems", "text"),
    [
        ([{"text": "`disableAllHooks`"}], "guards are off: `disableAllHooks`"),
        ([{"text": "no consent", "client": "codex"}], "guards are off in Codex: no consent"),
        ([], "guards are on"),
    ],
)
def test_guards_are_shown(problems: list[dict[str, str]], text: str) -> None:
    """Why they are off, and that they are on again."""
    line = EventFormatter([], no_lookup).line("guards_changed", {"problems": problems}, NOW, 80)
    assert line is not None
    assert line[0].text == text


def test_an_unknown_agent_is_looked_up_once() -> None:
    """Only its name and project are used, because the event may be old."""
    asked: list[str] = []

    def look_up(agent_id: str) -> dict[str, Any]:
        asked.append(agent_id)
        return {**OTTER, "state": "working", "tool": BASH}

    ticker = EventFormatter([], look_up)
    for _ in range(2):
        line = ticker.line("turn_created", {"agent_id": "1", "timestamp": AT, "actor": "USER", "text": "x"}, NOW, 80)
        assert line is not None
    line = ticker.line("state_changed", {"agent_id": "1", "timestamp": AT, **changed("working")}, NOW, 80)
    assert line is not None
    assert line[-1].text == "working"
    assert asked == ["1"]
