"""Lines of transcripts in unknown formats are stored without facts and reported; known ones without use are not."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.clients.claude_code import transcript_files as claude_code
from claude_headspace.clients.codex import transcript_files as codex
from claude_headspace.clients.copilot import transcript_files as copilot
from claude_headspace.clients.decode import decode
from claude_headspace.clients.gemini import transcript_files as gemini
from claude_headspace.clients.transcript_line import LINE, Line
from claude_headspace.clients.transcripts import TranscriptFiles
from claude_headspace.clients.unknown_lines import MAX_STORED
from claude_headspace.kernel.envelope import NO_OBSERVATIONS, Envelope, Origin
from claude_headspace.kernel.facts import Observed

ID = "01a1e1b6-0b20-7f23-98fd-2586272a7ea3"
TIME = "2026-11-16T00:16:24.592Z"
RECORDINGS = Path(__file__).parents[1] / "replay"

FILES: dict[str, tuple[TranscriptFiles, str, dict[str, Any]]] = {
    "claude-code": (claude_code, f"projects/-code/{ID}.jsonl", {"type": "mode", "mode": "normal"}),
    "codex": (
        codex,
        f"sessions/2026/11/16/rollout-2026-11-16T00-16-06-{ID}.jsonl",
        {"type": "session_meta", "payload": {"id": ID, "session_id": ID, "cwd": "/code"}},
    ),
    "copilot": (
        copilot,
        f"session-state/{ID}/events.jsonl",
        {"type": "session.resume", "id": "1", "timestamp": TIME, "data": {"context": {"cwd": "/code"}}},
    ),
    "gemini": (
        gemini,
        "tmp/app/chats/session-2026-11-16T00-20-21a5d014.jsonl",
        {"sessionId": ID, "startTime": TIME, "kind": "main"},
    ),
}

IN_EVERY_LINE = {"claude-code": {"sessionId": ID}}
"""What a client writes in every line."""
FOLDERS = {"claude-code": "transcripts"}
"""The folders of recordings, if they are not named after the client."""

UNKNOWN: list[tuple[str, object, str]] = [
    ("claude-code", {"type": "novelty", "uuid": "1", "timestamp": TIME}, "unknown line novelty"),
    ("claude-code", {"kind": "novelty"}, "unknown line without a type"),
    ("codex", {"timestamp": TIME, "type": "novelty", "payload": {"a": 1}}, "unknown line novelty"),
    ("codex", {"type": "event_msg", "payload": {"type": "novelty"}}, "unknown line event_msg/novelty"),
    (
        "codex",
        {"type": "event_msg", "payload": {"type": "item_completed", "item": {"type": "Dance"}}},
        "unknown line event_msg/item_completed/Dance",
    ),
    ("codex", {"type": "event_msg", "payload": {"type": "token_count", "info": 7}}, "unexpected type of info"),
    ("codex", {"kind": "novelty"}, "unknown line without a type"),
    ("codex", [1], "unknown line without a type"),
    ("copilot", {"type": "novelty.started", "id": "2", "data": {}}, "unknown line novelty.started"),
    ("copilot", {"type": "user.message", "id": "2", "data": {"content": [7]}}, "unexpected type of content"),
    ("copilot", "text", "unknown line without a type"),
    ("gemini", {"id": "m1", "type": "novelty", "timestamp": TIME}, "unknown line novelty"),
    ("gemini", {"id": "m1", "type": "gemini", "tokens": "many", "timestamp": TIME}, "unexpected type of tokens"),
    ("gemini", {"$delete": {"messages": True}}, "unknown line $delete"),
    ("gemini", 7, "unknown line text"),
]


def read(client: str, config_dir: Path, *lines: object) -> list[tuple[bytes, Line]]:
    """The lines to store of a file that begins as the client's files do."""
    files, name, first = FILES[client]
    path = config_dir / name
    path.parent.mkdir(parents=True, exist_ok=True)
    own = IN_EVERY_LINE.get(client, {})
    written = [line | own if isinstance(line, dict) else line for line in (first, *lines)]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in written))
    return list(files.read_lines(str(path), path.read_bytes(), 0))


def envelope(client: str, payload: bytes) -> Envelope:
    """A stored line."""
    return Envelope(
        id="1",
        name=LINE,
        origin=Origin.TRANSCRIPT,
        client=client,
        host="laptop",
        fired_at=1,
        received_at=1,
        payload=payload,
        observations=NO_OBSERVATIONS,
    )


@pytest.mark.parametrize(("client", "line", "problem"), UNKNOWN)
def test_an_unknown_line_is_stored_and_reported(client: str, line: object, problem: str, tmp_path: Path) -> None:
    """With its session, without facts, and with what is not known about it."""
    [(stored, found)] = read(client, tmp_path, line)
    assert (found.session_id, found.facts, found.anomaly) == (ID, (), problem)
    event = decode(envelope(client, stored))
    assert (event.meta.session_id, event.fact, event.anomaly) == (ID, Observed(), problem)


@pytest.mark.parametrize("client", FILES)
def test_a_flood_of_unknown_lines_is_limited(client: str, tmp_path: Path) -> None:
    """Of each kind, the first lines of a file are stored."""
    novelties = [{"type": kind, "id": f"{kind}{number}"} for kind in ("a", "b") for number in range(MAX_STORED + 5)]
    found = [line.anomaly for _, line in read(client, tmp_path, *novelties)]
    assert found == ["unknown line a"] * MAX_STORED + ["unknown line b"] * MAX_STORED


def recorded_lines(client: str) -> Iterator[bytes]:
    """The lines of recorded transcripts, as the client wrote them."""
    for path in sorted((RECORDINGS / FOLDERS.get(client, client)).rglob("*.jsonl")):
        for text in path.read_bytes().split(b"\n"):
            value = json.loads(text) if text.strip() else {}
            yield json.dumps(line).encode() if isinstance(line := value.get("line"), dict) else text


IS_LINE: dict[str, Callable[[dict[str, Any]], bool]] = {
    "claude-code": lambda value: "type" in value and "sessionId" in value,
    "codex": lambda value: "payload" in value and "timestamp" in value,
    "copilot": lambda value: "data" in value and "type" in value,
    "gemini": lambda value: "hook_event_name" not in value and ("$set" in value or "type" in value),
}


@pytest.mark.parametrize("client", FILES)
def test_recorded_lines_are_all_known(client: str, tmp_path: Path) -> None:
    """Lines without use are not stored, and none is reported."""
    values = [json.loads(text) for text in recorded_lines(client) if text.strip()]
    lines = [value for value in values if IS_LINE[client](value)]
    assert len(lines) > 20
    assert [line.anomaly for _, line in read(client, tmp_path, *lines) if line.anomaly] == []
