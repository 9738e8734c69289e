"""Hooks of Codex as facts: what each recorded payload means, and that no payload of another client raises."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.clients.hooks import KINDS
from claude_headspace.kernel import facts
from claude_headspace.kernel.envelope import Envelope, Observations, Origin
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.policy.call import Use
from claude_headspace.kernel.tools import FileUse, ToolKind

REPLAY = Path(__file__).parents[2] / "replay"
PAYLOADS = REPLAY / "codex" / "payloads"

MEANINGS = """
Interrupt                        TurnInterrupted
PermissionRequest                PermissionAsked
PermissionRequest.apply_patch       PermissionAsked
PostCompact                      CompactionFinished
PostToolUse                      ToolFinished
PostToolUse.apply_patch          ToolFinished
PostToolUse.request_user_input   ToolFinished
PostToolUse.spawn_agent          ToolFinished
PreCompact                       CompactionStarted
PreModelRequest                  Observed
PreToolUse                       ToolStarted
PreToolUse.apply_patch           ToolStarted
PreToolUse.request_user_input    ToolStarted
PreToolUse.subagent              ToolStarted
SessionEnd                       SessionEnded
SessionStart                     SessionStarted
SessionStart.compact             SessionStarted
SessionStart.resume              SessionStarted
Stop                             TurnStopped
Stop.plan                        TurnEndReported
SubagentStart                    SubagentStarted
SubagentStop                     SubagentStopped
UserPromptSubmit                 PromptSubmitted
UserPromptSubmit.subagent        SubagentStarted
"""


def payload(name: str) -> dict[str, Any]:
    """A recorded payload."""
    found: dict[str, Any] = json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def decoded(name: str, body: object, origin: Origin = Origin.HOOK) -> Event:
    """An event of Codex, decoded."""
    raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return decode(
        Envelope(
            id="e1",
            name=name.partition(".")[0] if origin is Origin.HOOK else "TranscriptLine",
            origin=origin,
            client="codex",
            host="laptop",
            fired_at=1,
            received_at=2,
            payload=raw,
            observations=Observations(client_pid=4711),
        )
    )


def test_every_recorded_payload_has_its_meaning() -> None:
    """No recorded payload is unknown or malformed."""
    events = {path.stem: decoded(path.stem, payload(path.stem)) for path in PAYLOADS.glob("*.json")}
    assert {name: type(event.fact).__name__ for name, event in events.items()} == dict(
        line.split() for line in MEANINGS.strip().splitlines()
    )
    assert [name for name, event in events.items() if event.anomaly] == []


def test_a_hook_names_its_session_and_turn() -> None:
    """The turn is the prompt id. A hook of a sub-agent names the session of its parent, and no turn of it."""
    main, child = decoded("Stop", payload("Stop")).meta, decoded("PreToolUse", payload("PreToolUse.subagent")).meta
    assert main.session_id == child.session_id
    assert main.prompt_id == payload("Stop")["turn_id"]
    assert (child.prompt_id, child.subagent_type, child.transcript_path) == (None, "default", None)
    assert child.subagent_id == payload("PreToolUse.subagent")["agent_id"]


@pytest.mark.parametrize(
    "name", ["SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "PreCompact", "PostCompact"]
)
def test_a_sub_agent_never_changes_the_main_thread(name: str) -> None:
    """Its session, turn and context are its own."""
    fact = decoded(name, payload(name) | {"agent_id": "child"}).fact
    assert isinstance(fact, facts.Observed | facts.SubagentStarted)


def test_a_permission_belongs_to_its_call() -> None:
    """The dialog repeats the input with its reason: the reason is shown, and does not make it another call."""
    asked = decoded("PermissionRequest", payload("PermissionRequest"))
    command = {"command": payload("PermissionRequest")["tool_input"]["command"]}
    started = decoded("PreToolUse", payload("PreToolUse") | {"tool_input": command})
    assert isinstance(asked.fact, facts.PermissionAsked)
    assert isinstance(started.fact, facts.ToolStarted)
    assert asked.fact.digest == started.fact.digest
    assert asked.fact.ask.text == f"Bash: {command['command']}\nMay I?"


def test_a_permission_of_a_patch_belongs_to_its_call() -> None:
    """The dialog leaves out the line break at the end of the patch. An earlier answer may allow it without a dialog."""
    asked = decoded("PermissionRequest", payload("PermissionRequest.apply_patch")).fact
    started = decoded("PreToolUse", payload("PreToolUse.apply_patch")).fact
    assert isinstance(asked, facts.PermissionAsked)
    assert isinstance(started, facts.ToolStarted)
    assert (asked.digest, asked.may_be_granted) == (started.digest, True)


def test_a_question_has_its_options_and_its_answer() -> None:
    """`request_user_input` waits for the user; its result has the labels that were chosen."""
    started = decoded("PreToolUse", payload("PreToolUse.request_user_input"))
    assert isinstance(started.fact, facts.ToolStarted)
    assert started.fact.ask is not None
    question = started.fact.ask.questions[0]
    assert (question.text, question.header) == ("Which colour?", "Colour")
    assert [option.label for option in question.options] == ["Red (Recommended)", "Blue"]
    finished = decoded("PostToolUse", payload("PostToolUse.request_user_input")).fact
    assert isinstance(finished, facts.ToolFinished)
    assert finished.answer == "Red (Recommended)"


def test_a_spawned_agent_runs_in_the_background() -> None:
    """The result of `spawn_agent` names the sub-agent, which runs on after the turn."""
    fact = decoded("PostToolUse", payload("PostToolUse.spawn_agent")).fact
    assert isinstance(fact, facts.ToolFinished)
    assert fact.background_subagent == payload("SubagentStart")["agent_id"]
    stop = decoded("Stop", payload("Stop")).fact
    assert isinstance(stop, facts.TurnStopped)
    assert stop.leaves_subagents


def test_a_patch_names_its_files() -> None:
    """Guards see what a patch writes and deletes; it is no shell command."""
    patch = """*** Begin Patch
*** Add File: new.txt
+text
*** Update File: a.py
*** Move to: b.py
@@ def main():
-old
+new
*** Delete File: /etc/hosts
*** End Patch
"""
    use = decoded("PreToolUse", payload("PreToolUse.apply_patch") | {"tool_input": {"command": patch}}).tool
    assert use is not None
    assert (use.kind, use.command, use.path) == (ToolKind.EDIT, "", "new.txt")
    assert use.files == (
        FileUse("new.txt", Use.WRITE),
        FileUse("a.py", Use.DELETE),
        FileUse("b.py", Use.WRITE),
        FileUse("/etc/hosts", Use.DELETE),
    )


def test_tools_of_servers_name_their_files() -> None:
    """By the words in the name of the tool."""
    body = payload("PreToolUse") | {"tool_name": "mcp__fs__write_file", "tool_input": {"path": "/etc/passwd"}}
    use = decoded("PreToolUse", body).tool
    assert use is not None
    assert (use.kind, use.files) == (ToolKind.MCP, (FileUse("/etc/passwd", Use.WRITE),))


STRANGE: list[object] = [
    None,
    3,
    "text",
    [],
    {"session_id": 3, "tool_input": "x", "tool_response": {"answers": 3}, "questions": "?"},
    {"tool_name": "apply_patch", "tool_input": {"command": "*** Update File\n*** Move to: x\n@@\n+"}},
    {"tool_name": "request_user_input", "tool_input": {"questions": [{"options": None}, 3]}, "tool_response": "{"},
    {"line": {"type": "event_msg", "payload": {"type": "item_completed", "item": {"content": [3, {"text": []}]}}}},
    {"line": {"type": "response_item", "payload": {"type": "function_call", "call_id": "c", "arguments": 3}}},
    {"session_id": "s", "line": {"type": "event_msg", "payload": {"type": "task_complete", "error": "no"}}},
    b"{not json",
    b"\xff\xfe",
]


def payloads_of_all_clients() -> list[bytes]:
    """Every recorded payload, line and entry of any client in the tests."""
    files = [path for kind in ("*.json", "*.jsonl") for path in REPLAY.rglob(kind)]
    return [line for path in files for line in path.read_bytes().splitlines() if line.strip()] + [
        path.read_bytes() for path in files if path.suffix == ".json"
    ]


@pytest.mark.parametrize("origin", [Origin.HOOK, Origin.TRANSCRIPT, Origin.REGISTRY])
def test_no_payload_raises(origin: Origin) -> None:
    """Whatever reaches this decoder: every kind of payload, of every client, under every name."""
    bodies = [*STRANGE, *payloads_of_all_clients()]
    names = sorted({*KINDS["codex"], "Interrupt", "PostCompact", "Unknown"})
    for number, body in enumerate(bodies):
        event = decoded(names[number % len(names)], body, origin)
        assert event.meta.event_id == "e1"
    for body in STRANGE:
        for name in names:
            assert decoded(name, body, origin).meta.name


def test_an_unknown_hook_is_counted() -> None:
    """A hook of a newer version only shows that the client is alive."""
    event = decoded("SomethingNew", {"session_id": "s"})
    assert (event.fact, event.anomaly) == (facts.Observed(), "unknown event SomethingNew")
