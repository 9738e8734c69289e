"""The stream in words: everything a reader would notice, once."""

from datetime import UTC, datetime
from typing import Any

import pytest

from claude_headspace.kernel.react import STREAM_TYPES
from claude_headspace.surfaces.cli.presentation.event_lines import EventFormatter

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
AT = "2026-03-14T11:59:58+00:00"
OTTER = {"id": "1", "name": "calm-otter", "project": {"name": "shop"}, "branch": None, "state": "idle", "command": None}


def nobody(agent_id: str) -> dict[str, Any]:
    """Nothing needs to be looked up."""
    raise AssertionError(agent_id)


class Reader:
    """Reads the lines that a ticker writes."""

    def __init__(self, *, everything: bool = False) -> None:
        self.ticker = EventFormatter([OTTER], nobody, everything=everything)

    def hears(self, kind: str, /, **data: Any) -> str | None:
        """The line of an announcement about the otter."""
        line = self.ticker.line(kind, {"agent_id": "1", "timestamp": AT, **data}, NOW, 200)
        return None if line is None else "".join(span.text for span in line)


def changed(state: str, **changes: Any) -> dict[str, Any]:
    """What a change of state tells."""
    return {"name": "calm-otter", "state": state, "waiting_for": None, "changes": {"state": state, **changes}}


ANSWERED = {"words": "allowed", "by": "ann", "via": "web", "at": AT}
BASH = {"name": "Bash", "summary": "npm test"}
MISSION = {"id": "m1", "goal": "Count the tests", "report": "", "words": "", "outcome": None, "ended_at": None}
OTTER_AT = "11:59:58 ○ calm-otter "
VERDICT = {"ruling": "deny", "rule": "system-delete", "enforced": True, "tool": "Bash", "summary": "rm -rf /"}


def test_the_same_words_are_said_once() -> None:
    """A tool is told when it starts; between two tools nothing is new, and the same tool again is."""
    reader = Reader()
    working = changed("working", command={"text": "Fix it", "ended_at": None})
    assert reader.hears("state_changed", **working) == "11:59:58 ● calm-otter working: Fix it"
    assert reader.hears("agent_updated", changes={"last_active_at": AT}) is None
    assert reader.hears("agent_updated", changes={"tool": BASH}) == "11:59:58 ● calm-otter Bash: npm test"
    assert reader.hears("agent_updated", changes={"tokens": 7}) is None
    assert reader.hears("agent_updated", changes={"tool": None}) is None
    assert reader.hears("agent_updated", changes={"tool": BASH}) == "11:59:58 ● calm-otter Bash: npm test"


def test_a_question_is_said_once_and_all_of_it_if_wanted() -> None:
    """The change of state says it; the opened wait repeats it only for those who want every announcement."""
    wait = {"kind": "question", "text": "Really?", "tool": "AskUserQuestion", "questions": [], "opened_at": AT}
    for everything, second in ((False, None), (True, "11:59:58 ◆ calm-otter asks: Really?")):
        reader = Reader(everything=everything)
        assert (
            reader.hears("state_changed", **changed("waiting", waits=[wait])) == "11:59:58 ◆ calm-otter asks: Really?"
        )
        assert reader.hears("wait_opened", **wait) == second


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("turn_created", {"actor": "USER", "text": "Fix\nit"}, "○ calm-otter you: Fix it"),
        ("turn_created", {"actor": "AGENT", "text": "Done."}, "○ calm-otter says: Done."),
        ("agent_created", {"agent": {**OTTER, "branch": "main"}}, "○ calm-otter appeared in shop (main)"),
        ("agent_updated", {"changes": {"name": "login-fix"}}, "○ login-fix has a new name"),
        ("wait_answered", {"answered": ANSWERED}, "○ calm-otter was answered: allowed by ann"),
        ("wait_closed", {"resolution": "answered"}, None),
        ("turn_updated", {"intent": "ANSWER"}, None),
        ("agent_ended", {"reason": "exit"}, None),
        ("state_changed", changed("ended", ended_at=AT), "– calm-otter ended"),
        ("something_of_next_year", {}, None),
    ],
)
def test_announcements_in_words(kind: str, data: dict[str, Any], words: str | None) -> None:
    """Each in a few words, or not at all when another says the same."""
    assert Reader().hears(kind, **data) == (f"11:59:58 {words}" if words else None)


def test_whoever_wants_everything_gets_everything() -> None:
    """No type of the stream is silent then."""
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
        **VERDICT,
    }
    silent = [kind for kind in STREAM_TYPES if Reader(everything=True).hears(kind, **data) is None]
    assert silent == []


def test_a_call_that_failed_is_told_to_everybody() -> None:
    """With the reason; that one arrived is for those who want everything."""
    call = {"channel": "phone", "status": "failed", "failure": "403", "outcome": ""}
    assert (Reader().hears("notification", **call) or "").endswith("notification through phone: failed (403)")
    assert Reader().hears("notification", **{**call, "status": "delivered", "failure": ""}) is None


def test_a_verdict_is_told_at_once() -> None:
    """What was denied, by which rule; one that was only written down says so."""
    assert Reader().hears("verdict_given", **VERDICT) == OTTER_AT + "denied by system-delete: Bash rm -rf /"
    assert (
        Reader().hears("verdict_given", **VERDICT | {"enforced": False})
        == OTTER_AT + "would deny by system-delete: Bash rm -rf /"
    )


def test_a_mission_is_told_when_it_begins_and_when_it_ends() -> None:
    """What comes between only when everything is wanted."""
    reader = Reader()
    assert reader.hears("mission_changed", mission=MISSION) == OTTER_AT + "is on a mission: Count the tests"
    assert reader.hears("mission_changed", mission=MISSION | {"answer": "12"}) is None
    over = MISSION | {"ended_at": AT, "outcome": "succeeded", "report": "There are 12."}
    assert reader.hears("mission_changed", mission=over) == OTTER_AT + "mission succeeded: There are 12."


def test_a_gap_is_not_hidden() -> None:
    """What is missing is said, with the reason."""
    line = EventFormatter([], nobody).line("gap", {"after": 1, "resumes_at": 9, "reason": "no longer kept"}, NOW, 80)
    assert line is not None
    assert line[0].text == "… some events are missing: no longer kept"


def test_an_unknown_agent_is_looked_up_once() -> None:
    """Its name and place are taken, not what it does now: the stream may tell of the past."""
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
