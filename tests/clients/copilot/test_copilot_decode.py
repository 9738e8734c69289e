"""Hooks of Copilot CLI as facts: what each recorded payload means, and that no payload of another client raises."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claude_headspace.clients.copilot import replies, tools
from claude_headspace.clients.copilot.wire import EVENTS
from claude_headspace.clients.decode import decode
from claude_headspace.kernel import facts
from claude_headspace.kernel.envelope import Envelope, Observations, Origin
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.policy.call import Use
from claude_headspace.kernel.policy.verdict import ABSTAIN, Ruling, Verdict
from claude_headspace.kernel.tools import FileUse, ToolKind

REPLAY = Path(__file__).parents[2] / "replay"
PAYLOADS = REPLAY / "copilot" / "payloads"
SESSION, CHILD = "a60d499c-14ab-4d10-a38b-1d49f3a83446", "bb7bdc5e-88f4-40cf-8073-f67d09e73fbd"

MEANINGS = """
Notification                Observed
Notification.ask_user       Observed
PermissionRequest           Observed
PostToolUse                 ToolFinished
PreCompact                  CompactionStarted
PreToolUse                  ToolStarted
PreToolUse.ask_user         ToolStarted
PreToolUse.subagent         ToolStarted
SessionEnd                  SessionEnded
SessionStart                SessionStarted
SessionStart.resume         SessionStarted
Stop                        TurnStopped
Stop.subagent               Observed
SubagentStart               SubagentStarted
SubagentStop                SubagentStopped
UserPromptSubmit            PromptSubmitted
camel/agentStop             TurnStopped
camel/errorOccurred         Observed
camel/notification          Observed
camel/permissionRequest     Observed
camel/postToolUse           ToolFinished
camel/postToolUseFailure    ToolFailed
camel/preToolUse            ToolStarted
camel/sessionEnd            SessionEnded
camel/sessionStart          SessionStarted
camel/userPromptSubmitted   PromptSubmitted
"""


def payload(name: str) -> dict[str, Any]:
    """A recorded payload."""
    found: dict[str, Any] = json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def decoded(name: str, body: object, origin: Origin = Origin.HOOK) -> Event:
    """An event of Copilot CLI, decoded."""
    return decode(
        Envelope(
            id="e1",
            name=name.rpartition("/")[2].partition(".")[0] if origin is Origin.HOOK else "TranscriptLine",
            origin=origin,
            client="copilot",
            host="laptop",
            fired_at=1,
            received_at=2,
            payload=body if isinstance(body, bytes) else msgspec.json.encode(body),
            observations=Observations(client_pid=4711),
        )
    )


def recorded(name: str) -> Event:
    """A recorded payload, decoded."""
    return decoded(name, payload(name))


@pytest.mark.parametrize(("name", "meaning"), [line.split() for line in MEANINGS.strip().splitlines()])
def test_recorded_payloads(name: str, meaning: str) -> None:
    """Each has its fact and its session, and nothing is wrong with it."""
    event = recorded(name)
    assert (type(event.fact).__name__, event.anomaly) == (meaning, None)
    assert event.meta.session_id
    assert event.meta.cwd == "/home/sam/code/app"


def test_every_recorded_payload_has_a_meaning() -> None:
    """The table is complete."""
    found = {str(path.relative_to(PAYLOADS).with_suffix("")) for path in PAYLOADS.rglob("*.json")}
    assert found == {line.split()[0] for line in MEANINGS.strip().splitlines()}


@pytest.mark.parametrize("name", ["PreToolUse.subagent", "Stop.subagent", "SubagentStart", "SubagentStop"])
def test_hooks_of_a_subagent_belong_to_its_parent(name: str) -> None:
    """Also if they have the id of the sub-agent as that of the session."""
    meta = recorded(name).meta
    assert (meta.session_id, meta.subagent_id, meta.subagent_type) == (SESSION, CHILD, "explore")


def test_both_names_of_a_call_are_the_same_call() -> None:
    """Hooks with the names of Claude Code, hooks with Copilot's names and lines agree on tool and input."""
    command = {"command": "touch a", "description": "d"}
    pascal = decoded("PreToolUse", {"session_id": "s", "tool_name": "Bash", "tool_input": command}).fact
    turned = {"description": "d", "command": "touch a"}
    camel = decoded("preToolUse", {"sessionId": "s", "toolName": "bash", "toolArgs": turned}).fact
    line = {"type": "tool.execution_start", "id": "1", "data": {"toolName": "bash", "arguments": command}}
    assert pascal == camel == decoded("", {"session_id": "s", "line": line}, Origin.TRANSCRIPT).fact


def test_the_payload_names_an_event_without_a_name() -> None:
    """Hooks of Claude Code in a project run without their arguments. A name that nobody knows stays unknown."""
    assert decoded("Unnamed", payload("PermissionRequest")).anomaly is None
    assert decoded("Unnamed", payload("PermissionRequest")).hook is HookKind.PERMISSION
    assert decoded("Unnamed", {"hookName": "other"}).anomaly == "unknown event Unnamed"


def test_a_question_has_its_options() -> None:
    """One field is one question with the message as its text."""
    fact = recorded("PreToolUse.ask_user").fact
    assert isinstance(fact, facts.ToolStarted)
    assert fact.ask is not None
    [question] = fact.ask.questions
    assert (question.text, [option.label for option in question.options]) == ("Which colour", ["red", "blue"])


def test_the_answer_of_a_question() -> None:
    """It is in the result of the tool."""
    asked = payload("PreToolUse.ask_user")
    result = {"tool_result": {"result_type": "success", "text_result_for_llm": "User responded: red"}}
    fact = decoded("PostToolUse", asked | result).fact
    assert isinstance(fact, facts.ToolFinished)
    assert fact.answer == "red"


def test_the_end_of_a_session_leaves_open_whether_the_client_exits() -> None:
    """Copilot gives the same reason for a new conversation."""
    assert recorded("SessionEnd").fact == facts.SessionEnded("closed")
    assert decoded("SessionEnd", payload("SessionEnd") | {"reason": "complete"}).fact == facts.SessionEnded("complete")


@pytest.mark.parametrize(
    ("name", "given", "kind", "files"),
    [
        ("Bash", {"command": "ls"}, ToolKind.SHELL, []),
        ("Write", {"path": "/a", "file_text": "x"}, ToolKind.WRITE, [FileUse("/a", Use.WRITE)]),
        ("Edit", {"path": "/a", "old_str": "x", "new_str": "y"}, ToolKind.EDIT, [FileUse("/a", Use.WRITE)]),
        ("Read", {"path": "/a"}, ToolKind.READ, [FileUse("/a", Use.READ)]),
        (
            "rg",
            {"pattern": "x", "paths": ["/a"], "glob": "*.py"},
            ToolKind.SEARCH,
            [FileUse("/a", Use.READ, True, "*.py")],
        ),
        (
            "apply_patch",
            "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n*** Delete File: c.py\n*** End Patch",
            ToolKind.EDIT,
            [FileUse("a.py", Use.WRITE), FileUse("c.py", Use.DELETE), FileUse("b.py", Use.WRITE)],
        ),
    ],
)
def test_tools(name: str, given: object, kind: ToolKind, files: list[FileUse]) -> None:
    """What a guard sees of a call."""
    use = decoded("PreToolUse", {"session_id": "s", "tool_name": name, "tool_input": given}).tool
    assert use is not None
    assert (use.kind, list(use.files)) == (kind, files)
    assert use.name == tools.own_name(name)


OTHERS = sorted(
    path for folder in ("payloads", "codex", "copilot") for path in (REPLAY / folder).rglob("*.json") if path.is_file()
)


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_payload_raises(path: Path) -> None:
    """Payloads of all clients, under every name, from every source, also damaged ones."""
    raw = path.read_bytes()
    for name in (*EVENTS, *EVENTS.values(), "Interrupt", "AfterAgent", "session.idle", "Unknown"):
        for body in (
            raw,
            raw[: len(raw) // 2],
            b"[1]",
            b"null",
            b'{"tool_input": 1, "tool_result": [], "agent_id": {}}',
        ):
            decoded(name, body)
    for origin in (Origin.TRANSCRIPT, Origin.REGISTRY):
        decoded("", raw, origin)
        decoded("", {"session_id": "s", "line": msgspec.json.decode(raw)}, origin)


def test_kinds() -> None:
    """Both names of an event have the same kind."""
    assert recorded("PreToolUse").hook is recorded("camel/preToolUse").hook is HookKind.BEFORE_TOOL


# --- replies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ruling", [Ruling.ALLOW, Ruling.ASK, Ruling.DENY])
def test_verdicts(ruling: Ruling) -> None:
    """Copilot applies all three decisions."""
    reply = json.loads(replies.verdict_reply("PreToolUse", Verdict(ruling, "rule", "because")))
    assert reply == {"permissionDecision": ruling.value, "permissionDecisionReason": "because"}


def test_no_reply_without_a_decision() -> None:
    """Other hooks, warnings and verdicts that are only recorded."""
    assert replies.verdict_reply("PreToolUse", ABSTAIN) == b""
    assert replies.verdict_reply("PreToolUse", Verdict(Ruling.WARN, "r", "w")) == b""
    assert replies.verdict_reply("PreToolUse", Verdict(Ruling.DENY, "r", "w", enforced=False)) == b""
    assert replies.verdict_reply("PermissionRequest", Verdict(Ruling.ALLOW)) == b""


def test_context() -> None:
    """It is taken with a prompt and at the start. A denial is the reply to the call."""
    assert json.loads(replies.with_context("UserPromptSubmit", b"", "Note.")) == {"additionalContext": "Note."}
    assert replies.with_context("PostToolUse", b"", "Note.") == b""
    denied = json.loads(replies.with_context("PreToolUse", b"", "Note.", "Not now."))
    assert denied == {"permissionDecision": "deny", "permissionDecisionReason": "Headspace: Not now.\nNote."}
    assert json.loads(replies.block_stop(b"", "Go on.")) == {"decision": "block", "reason": "Go on."}
