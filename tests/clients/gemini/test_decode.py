"""Hooks of Gemini CLI become facts, and payloads of other clients never raise."""

import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.clients.gemini.chat import Chat
from claude_headspace.clients.gemini.hook_kinds import KINDS
from claude_headspace.kernel import facts
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.tools import ToolKind
from claude_headspace.kernel.wait.request import Ask, Option, Question
from claude_headspace.testing import START
from tests.replay.gemini_recordings import payloads

RECORDED = payloads()
OTHERS = sorted(Path(__file__).parents[2].joinpath("replay").rglob("payloads/**/*.json"))


def event(name: str, payload: bytes | dict[str, Any], origin: Origin = Origin.HOOK) -> Event:
    """Decode an event of Gemini CLI."""
    body = payload if isinstance(payload, bytes) else msgspec.json.encode(payload)
    envelope = Envelope(
        id="e1", name=name, origin=origin, client="gemini", host="h", fired_at=START, received_at=START, payload=body
    )
    return decode(envelope)


def recorded(name: str) -> Event:
    """Decode a recorded payload."""
    return event(name.partition(".")[0], RECORDED[name])


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("SessionStart", facts.SessionStarted("startup")),
        ("SessionStart.resume", facts.SessionStarted("resume")),
        ("SessionStart.clear", facts.SessionStarted("clear")),
        ("SessionEnd", facts.SessionEnded("exit")),
        ("SessionEnd.clear", facts.SessionEnded("clear")),
        ("AfterAgent", facts.TurnEndReported("Hello there.")),
        ("AfterAgent.api-error", facts.TurnEndReported("")),
        ("PreCompress", facts.Observed()),
        ("PreCompress.manual", facts.CompactionStarted("manual")),
        (
            "Notification.ask_user",
            facts.AttentionRequested("ToolPermission", "Tool requires confirmation", Ask("question", "Ask User")),
        ),
    ],
)
def test_a_hook_has_its_meaning(name: str, fact: facts.Fact) -> None:
    """The end of a turn is only reported, and automatic compression means nothing."""
    assert recorded(name).fact == fact


def test_a_hook_has_its_session() -> None:
    """Session, directory and transcript are those of the payload."""
    meta = recorded("BeforeAgent").meta
    assert meta.session_id == "21a5d014-200f-48f4-b378-21b59afc331c"
    assert (meta.cwd, meta.prompt_id) == ("/home/sam/code/app", None)
    assert meta.transcript_path is not None
    assert meta.transcript_path.endswith("session-2026-11-16T00-20-21a5d014.jsonl")


def test_a_call_is_identified_by_tool_and_input() -> None:
    """There is no id: start and end have the same digest."""
    started, ended = recorded("BeforeTool"), recorded("AfterTool")
    assert isinstance(started.fact, facts.ToolStarted)
    assert isinstance(ended.fact, facts.ToolFinished)
    assert started.fact.digest == ended.fact.digest
    assert started.fact.call_id == f"run_shell_command:{started.fact.digest}"
    assert started.tool is not None
    assert (started.tool.kind, started.tool.command) == (ToolKind.SHELL, "env | sort > /home/sam/log")


def test_a_dialog_shows_its_call() -> None:
    """A dialog has the command, or the file with its new text, but not the input of the call."""
    shell, edit = recorded("Notification"), recorded("Notification.edit")
    asked = Ask("permission", "run_shell_command: env | sort > /home/sam/log")
    assert shell.fact == facts.PermissionAsked("run_shell_command", "", "env | sort > /home/sam/log", asked)
    assert isinstance(edit.fact, facts.PermissionAsked)
    assert edit.fact.tool == "write_file"
    assert edit.tool is not None
    assert edit.tool.input == {"file_path": "w.txt", "content": "x"}


def test_a_question_has_its_options_and_its_answer() -> None:
    """The call has the questions, its result the answers by their numbers."""
    started, ended = recorded("BeforeTool.ask_user").fact, recorded("AfterTool.ask_user").fact
    assert isinstance(started, facts.ToolStarted)
    question = Question("Which colour", "Colour", (Option("Red", "warm"), Option("Blue", "cool")))
    assert started.ask == Ask("question", "Which colour", (question,))
    assert isinstance(ended, facts.ToolFinished)
    assert ended.answer == "Which colour Red"


def test_a_failed_and_a_cancelled_call() -> None:
    """A cancelled call ends the turn: no other hook reports that."""
    failed = recorded("AfterTool.failed").fact
    assert isinstance(failed, facts.ToolFailed)
    assert failed.error == "File not found: /home/sam/code/app/nope.txt"
    response = {"llmContent": "…", "returnDisplay": "Command cancelled by user."}
    cancelled = event("AfterTool", {"tool_name": "run_shell_command", "tool_input": {}, "tool_response": response})
    assert cancelled.fact == facts.TurnInterrupted()


def test_an_unknown_event_is_recorded() -> None:
    """It shows that the agent is alive, and is counted."""
    found = event("AfterTea", {"session_id": "s"})
    assert (found.fact, found.anomaly, found.meta.session_id) == (facts.Observed(), "unknown event AfterTea", "s")


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_payloads_of_every_client_are_decoded(path: Path) -> None:
    """A payload of another client, whole or damaged, never raises, whatever event it is taken for."""
    raw, chance = path.read_bytes(), random.Random(path.name)
    for name in (*KINDS, path.stem):
        for origin in (Origin.HOOK, Origin.TRANSCRIPT):
            event(name, raw, origin)
            event(name, raw[: chance.randrange(len(raw))], origin)
            event(name, msgspec.json.encode({"line": msgspec.json.decode(raw), "part": "message"}), origin)


@pytest.mark.parametrize("value", [None, 1, "x", [], [[]], {}, {"a": 1}, True])
@pytest.mark.parametrize("name", KINDS)
def test_any_type_in_any_field_is_decoded(name: str, value: object) -> None:
    """A field of the wrong type is left out and reported."""
    body = msgspec.json.decode(next(raw for stem, raw in RECORDED.items() if stem.partition(".")[0] == name))
    for field in body:
        assert isinstance(event(name, body | {field: value}), Event)


RECORDINGS = sorted(Path(__file__).parents[2].joinpath("replay").rglob("*.jsonl"))


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_lines_of_every_client_are_decoded(path: Path) -> None:
    """A line of another client's recording never raises, as a hook, as a stored line, or as a line of a chat."""
    chat = Chat()
    for raw in path.read_bytes().splitlines()[:40]:
        list(chat.read(raw))
        for part in ("message", "calls", "subagent", "stopped"):
            event("TranscriptLine", b'{"session_id":"s","part":"' + part.encode() + b'","line":' + raw + b"}")
        event("AfterTool", raw)
