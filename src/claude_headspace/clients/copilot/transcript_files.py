"""The transcripts of Copilot CLI: `session-state/<session id>/events.jsonl`, and their lines.

A line has neither its session nor its directory. They are stored with it, and so is what only earlier lines tell: the
call that the line is about, and whether the model has finished. Those lines may be in a part of the file that was read
before: then it is read again, up to a limit.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from claude_headspace.clients.copilot.transcript import is_message, read_stored
from claude_headspace.clients.files import open_regular_file
from claude_headspace.clients.transcript_line import Line
from claude_headspace.clients.unknown_lines import UnknownLines

__all__ = ["find_transcripts", "is_message", "is_subagent", "is_transcript", "read_lines", "roots", "session_of"]

SESSIONS = "session-state"
"""The directory of sessions, below a config dir."""
TRANSCRIPT = "events.jsonl"
DROPPED = frozenset(
    {
        *("transformedContent", "toolTelemetry", "promptRequest", "supportedNativeDocumentMimeTypes", "summaryContent"),
        *("accountingSnapshot", "providerModelMetrics", "modelCacheState", "detailedContent"),
    }
)
"""Long fields without use."""
MAX_HEAD_BYTES = 64 * 1024
MAX_EARLIER_BYTES = 1024 * 1024
"""How much of a file is read again: its first line, and the lines before a part."""

_unknown_lines = UnknownLines()
_PATH = re.compile(rf"[^/]+/{re.escape(TRANSCRIPT)}")


def roots(config_dir: Path) -> list[Path]:
    """The directories of transcripts."""
    return [config_dir / SESSIONS]


def is_transcript(path: str, root: Path) -> bool:
    """Whether a path below a root is one that clients write transcripts to."""
    return path.isprintable() and _PATH.fullmatch(path.removeprefix(f"{root}{os.sep}")) is not None


def find_transcripts(roots: Iterable[Path]) -> list[tuple[str, os.stat_result]]:
    """All transcripts, the oldest first."""
    found = []
    for root in roots:
        for path in root.glob(f"*/{TRANSCRIPT}"):
            with suppress(OSError):
                if is_transcript(str(path), root):
                    found.append((str(path), path.stat()))
    return sorted(found, key=lambda each: each[1].st_mtime)


def is_subagent(path: str) -> bool:
    """Whether a transcript is a sub-agent's. Lines of sub-agents are in the file of the session."""
    del path
    return False


def session_of(path: str) -> str:
    """The session that a transcript belongs to."""
    return Path(path).parent.name


def read_lines(path: str, raw: bytes, start: int) -> Iterator[tuple[bytes, Line]]:
    """The lines that have facts or are unknown, each with its session."""
    session_id, history = session_of(path), _History()
    if start > 0:
        history.add_all(_read_part(path, 0, min(start, MAX_HEAD_BYTES)).split(b"\n")[:1])
        earlier = max(0, start - MAX_EARLIER_BYTES)
        history.add_all(_read_part(path, earlier, start - earlier).split(b"\n")[1 if earlier else 0 :])
    for text in filter(bytes.strip, raw.split(b"\n")):
        event = _parse(text)
        event = {"data": {"text": text.decode("utf-8", "replace")}} if event is None else event
        history.add(event)
        stored = {"session_id": session_id, "cwd": history.cwd, "line": _shortened(event), **history.about(event)}
        line = read_stored(stored)
        if line is not None and _unknown_lines.accept(path, line.anomaly):
            yield msgspec.json.encode(stored), line


def _read_part(path: str, start: int, size: int) -> bytes:
    try:
        with open_regular_file(path) as handle:
            return os.pread(handle, size, start)
    except OSError:
        return b""


def _parse(text: bytes) -> dict[str, Any] | None:
    try:
        event = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def _shortened(event: dict[str, Any]) -> dict[str, Any]:
    data = event.get("data")
    if not isinstance(data, dict):
        return event
    return event | {"data": {name: value for name, value in data.items() if name not in DROPPED}}


class _History:
    """What earlier lines tell: the directory, the calls by their ids, and whether the model has finished."""

    def __init__(self) -> None:
        self.cwd: str | None = None
        self._calls: dict[str, dict[str, Any]] = {}
        self._has_finished = False

    def add_all(self, texts: Iterable[bytes]) -> None:
        for text in texts:
            if (event := _parse(text)) is not None:
                self.add(event)

    def add(self, event: dict[str, Any]) -> None:
        data = event.get("data")
        if not isinstance(data, dict):
            return
        match event.get("type"):
            case "session.start" | "session.resume":
                context = data.get("context")
                cwd = context.get("cwd") if isinstance(context, dict) else None
                self.cwd = cwd if isinstance(cwd, str) else self.cwd
            case "tool.execution_start":
                self._calls[str(data.get("toolCallId"))] = {
                    "name": data.get("toolName"),
                    "arguments": data.get("arguments"),
                }
            case "assistant.message" if not event.get("agentId"):
                self._has_finished = not data.get("toolRequests")
            case "user.message" | "assistant.turn_start" if not event.get("agentId"):
                self._has_finished = False

    def about(self, event: dict[str, Any]) -> dict[str, Any]:
        """What only earlier lines tell about a line."""
        data = event.get("data")
        asked = data.get("permissionRequest") if isinstance(data, dict) else None
        named = (source.get("toolCallId") for source in (data, asked) if isinstance(source, dict))
        call = next((self._calls[name] for name in named if isinstance(name, str) and name in self._calls), None)
        about: dict[str, Any] = {} if call is None or event.get("type") == "tool.execution_start" else {"call": call}
        if event.get("type") == "assistant.turn_end" and self._has_finished:
            about["ends_turn"] = True
        return about
