"""The transcripts of Claude Code: where they are, and their lines.

`projects/<directory>/<session id>.jsonl`, and below it `<session id>/subagents/agent-<id>.jsonl`, with the client's
notes about the sub-agent in `agent-<id>.meta.json`.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from claude_headspace.clients.claude_code.transcript import describe_subagent, is_message, read_line
from claude_headspace.clients.files import open_regular_file
from claude_headspace.clients.transcript_line import Line
from claude_headspace.clients.unknown_lines import UnknownLines

__all__ = ["find_transcripts", "is_message", "is_subagent", "is_transcript", "read_lines", "roots", "session_of"]

TRANSCRIPTS = "projects"
"""The directory of transcripts, below a configuration directory."""
SUBAGENTS = "subagents"
MAX_NOTES_BYTES = 64 * 1024

_TRANSCRIPT = re.compile(r"[^/]+/(?:[^/]+|[^/]+/subagents/agent-[^/]+)\.jsonl")

_unknown_lines = UnknownLines()


def roots(config_dir: Path) -> list[Path]:
    """The directories of transcripts."""
    return [config_dir / TRANSCRIPTS]


def is_transcript(path: str, root: Path) -> bool:
    """Whether a path below a root is one that clients write transcripts to."""
    return path.isprintable() and _TRANSCRIPT.fullmatch(path.removeprefix(f"{root}{os.sep}")) is not None


def find_transcripts(roots: Iterable[Path]) -> list[tuple[str, os.stat_result]]:
    """All transcripts: those of sessions before those of sub-agents, the oldest first."""
    found = []
    for root in roots:
        for path in (*root.glob("*/*.jsonl"), *root.glob("*/*/subagents/agent-*.jsonl")):
            with suppress(OSError):
                if is_transcript(str(path), root):
                    found.append((str(path), path.stat()))
    return sorted(found, key=lambda each: (each[0].count(os.sep), each[1].st_mtime))


def config_dir_of(path: str) -> Path:
    """The config dir that a transcript is in."""
    parents = Path(path).parents
    return next((parent.parent for parent in parents if parent.name == TRANSCRIPTS), parents[-1])


def is_subagent(path: str) -> bool:
    """Whether a transcript is a sub-agent's."""
    return Path(path).parent.name == SUBAGENTS


def session_of(path: str) -> str:
    """The session that a transcript belongs to."""
    return Path(path).parent.parent.name if is_subagent(path) else Path(path).stem


def read_lines(path: str, raw: bytes, start: int) -> Iterator[tuple[bytes, Line]]:
    """The lines that have facts or are unknown. The client's notes about a sub-agent are one more line of its file."""
    texts = raw.split(b"\n") + ([_notes_line(path)] if raw and start == 0 else [])
    for text in texts:
        line = read_line(text) if text.strip() else None
        if line is not None and _unknown_lines.accept(path, line.anomaly):
            yield text, line


def _notes_line(path: str) -> bytes:
    """The client's notes about the sub-agent of a transcript, as a line."""
    if not is_subagent(path):
        return b""
    try:
        with open_regular_file(str(Path(path).with_suffix(".meta.json"))) as handle:
            notes = os.read(handle, MAX_NOTES_BYTES)
    except OSError:
        return b""
    return describe_subagent(session_of(path), Path(path).stem.removeprefix("agent-"), notes)
