"""Decoding the reports of opencode's plugin."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_headspace.clients.decode import DECODERS, decode
from claude_headspace.clients.opencode.decode import FACTS, SUBAGENT_FACTS
from claude_headspace.clients.opencode.events import REGISTERED
from claude_headspace.kernel import facts
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.usage import ModelUsage, Tokens
from claude_headspace.surfaces.text.labels import wait_text
from tests.clients.opencode.player import RUNS, play, recorded

REPLAY = Path(__file__).parents[2] / "replay"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("session_id", "agent_id", "tool_name", "tool_input", "tool_response", "event", "message", "cost", "error")


def decoded(name: str, payload: object, client: str = "opencode") -> Event:
    """The event of a report."""
    envelope = Envelope(
        id="e1",
        name=name,
        origin=Origin.HOOK,
        client=client,
        host="laptop",
        fired_at=1,
        received_at=1,
        payload=msgspec.json.encode(payload),
    )
    return decode(envelope)


def report(**more: Any) -> dict[str, Any]:
    """A payload."""
    return {"session_id": "ses_1", "cwd": "/app", **more}


@given(st.sampled_from([*FACTS, "unknown.event"]), st.dictionaries(st.sampled_from(FIELDS), JSON) | JSON)
def test_whatever_a_report_contains_it_is_decoded(name: str, payload: object) -> None:
    """Also for a sub-agent."""
    decoded(name, payload)
    if isinstance(payload, dict):
        decoded(name, payload | {"agent_id": "ses_2"})


def test_the_payloads_of_other_clients_are_decoded() -> None:
    """Each recorded payload of Claude Code under each name of opencode, and the other way round."""
    theirs = [json.loads(path.read_bytes()) for path in sorted((REPLAY / "payloads").rglob("*.json"))]
    assert theirs
    for payload in theirs:
        for name in FACTS:
            decoded(name, payload)
    ours = [json.loads(line) for path in RUNS.glob("*.jsonl") for line in path.read_text().splitlines()]
    for payload in ours:
        for client in DECODERS:
            for name in ("PreToolUse", "Stop", "SessionStart", "AfterAgent"):
                decoded(name, payload, client)


def test_a_sub_agent_reports_no_fact_about_the_turn_of_its_parent() -> None:
    """Its errors, its cost and its texts are its own."""
    for name in FACTS.keys() - SUBAGENT_FACTS.keys():
        event = decoded(name, report(agent_id="ses_2", message="Done.", cost=1.0))
        assert event.fact == facts.Observed()


def test_an_unknown_event_is_data() -> None:
    """It is stored, and its name is reported."""
    event = decoded("session.exploded", report())
    assert (event.fact, event.anomaly) == (facts.Observed(), "unknown event session.exploded")


@pytest.mark.parametrize(
    ("error", "fact"),
    [
        ("The user rejected permission to use this specific tool call.", facts.ToolRejected("c1")),
        (
            "The user rejected permission to use this specific tool call with the following feedback: Use b.",
            facts.ToolRejected("c1", "Use b."),
        ),
        ("The user dismissed this question", facts.ToolRejected("c1")),
    ],
)
def test_a_rejected_call_is_recognised_by_its_text(error: str, fact: object) -> None:
    """With feedback the turn continues."""
    event = decoded("tool.error", report(tool_use_id="c1", tool_name="bash", tool_input={}, error=error))
    assert event.fact == fact


def test_other_errors_of_calls() -> None:
    """A rule of the user's settings refuses, everything else is a failure."""
    rule = "The user has specified a rule which prevents you from using this specific tool call."
    refused = decoded("tool.error", report(tool_use_id="c1", tool_name="bash", error=rule))
    failed = decoded("tool.error", report(tool_use_id="c1", tool_name="read", error="File not found: /nope.txt"))
    assert isinstance(refused.fact, facts.ToolRefused)
    assert isinstance(failed.fact, facts.ToolFailed)


def test_a_call_that_ends_after_its_turn_is_no_work() -> None:
    """The client ends calls after an abort; their results can be found all the same."""
    response = {"output": "partial"}
    event = decoded(
        "tool.execute.after", report(tool_use_id="c1", tool_name="bash", tool_response=response, after_turn=True)
    )
    assert event.fact == facts.Observed()
    assert [text.value for text in event.texts] == [response]


def test_a_permission_says_what_it_is_about() -> None:
    """The call, and the kind of permission if it is another one than the tool's own."""
    asked = {"id": "per_1", "permission": "external_directory", "patterns": ["/*"], "always": ["/*"]}
    event = decoded(
        "permission.asked",
        report(tool_use_id="c1", tool_name="read", tool_input={"filePath": "/nope.txt"}, event=asked),
    )
    assert isinstance(event.fact, facts.PermissionAsked)
    assert event.fact.ask.text == "read: /nope.txt (external_directory: /*)"
    assert (event.fact.tool, event.fact.summary) == ("external_directory", "/*")
    assert wait_text({"kind": "permission", "tool": event.fact.tool, "summary": "/*", "text": ""}) == (
        "wants to use the directory: /*"
    )
    assert (event.fact.call_id, event.fact.request_id) == ("c1", "per_1")
    assert event.tool is not None
    assert event.tool.path == "/nope.txt"


def test_usage_and_cost_are_the_clients_own_numbers(tmp_path: Path) -> None:
    """The tokens of a message, the window of the model, and the cost of the session with its sub-agents."""
    added = ModelUsage(model="lab-model", tokens=Tokens(1000, 0, 0, 100), cost_usd=0.0012)
    reports = play(tmp_path, recorded("dialogs"))
    measured = [decoded(notes["event"], payload).fact for notes, payload in reports if "agent_id" not in payload]
    usage = [fact for fact in measured if isinstance(fact, facts.UsageMeasured)]
    assert usage[0] == facts.UsageMeasured(model="lab-model", tokens=1000, window=100_000, added=added)
    costs = [fact.cost_usd for fact in usage if fact.cost_usd is not None]
    assert costs == sorted(costs)
    assert costs[-1] == pytest.approx(0.025596 + 0.002568)


def test_the_plugin_reports_what_the_table_says() -> None:
    """Every reported event has a decoder, and every decoder an event."""
    assert REGISTERED.keys() == FACTS.keys()
