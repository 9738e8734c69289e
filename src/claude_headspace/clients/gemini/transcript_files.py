"""The transcripts of Gemini CLI: where they are, and their lines.

`tmp/<project>/chats/session-<minute>-<start of the id>.jsonl`, and below it `<session id>/<sub-agent id>.jsonl`. The
directory of the project is in `tmp/<project>/.project_root`.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from claude_headspace.clients.files import open_regular_file
from claude_headspace.clients.gemini.chat import Chat, is_message
from claude_headspace.clients.transcript_line import Line

__all__ = ["find_transcripts", "is_message", "is_subagent", "is_transcript", "read_lines", "roots", "session_of"]

TRANSCRIPTS = "tmp"
CHATS = "chats"
PROJECT_ROOT = ".project_root"
MAX_PATH_BYTES = 4_096
MAX_OPEN_CHATS = 64
MAX_SUBAGENT_BYTES = 64 * 1024 * 1024

_TRANSCRIPT = re.compile(r"[^/]+/chats/(?:session-[^/]+|[^/]+/[^/]+)\.jsonl")

_chats: dict[str, tuple[int, Chat]] = {}
"""The chats that were read last, by path, each with the offset up to which it was read."""


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
        for path in (*root.glob("*/chats/session-*.jsonl"), *root.glob("*/chats/*/*.jsonl")):
            with suppress(OSError):
                if is_transcript(str(path), root):
                    found.append((str(path), path.stat()))
    return sorted(found, key=lambda each: (each[0].count(os.sep), each[1].st_mtime))


def is_subagent(path: str) -> bool:
    """Whether a transcript is a sub-agent's."""
    return Path(path).parent.name != CHATS


def session_of(path: str) -> str:
    """The session that a transcript belongs to; that of a session is only in its first line."""
    return Path(path).parent.name if is_subagent(path) else ""


def read_lines(path: str, raw: bytes, start: int) -> Iterator[tuple[bytes, Line]]:
    """The lines that have facts or are unknown. Their meaning depends on earlier lines, which are read again."""
    offset, chat = _chats.pop(path, (-1, Chat()))
    if offset != start:
        chat = _new_chat(path)
        _read_all(chat, _beginning(path, start))
    found = list(_read_all(chat, raw))
    while len(_chats) >= MAX_OPEN_CHATS:
        _chats.pop(next(iter(_chats)), None)
    _chats[path] = (start + len(raw), chat)
    return iter(found)


def _new_chat(path: str) -> Chat:
    folder = Path(path).parents[2 if is_subagent(path) else 1]
    cwd = _read(folder / PROJECT_ROOT, MAX_PATH_BYTES).decode("utf-8", "replace").strip()
    subagent = Path(path).stem if is_subagent(path) else None
    return Chat(cwd if cwd.startswith(os.sep) else None, session_of(path), subagent, partial(_subagent_cost, path))


def _subagent_cost(path: str, session_id: str, subagent_id: str) -> float | None:
    """What a sub-agent cost, from its own file; None if that is unknown."""
    file = str(Path(path).parent / Path(session_id).name / f"{Path(subagent_id).name}.jsonl")
    chat, raw = Chat(None, session_id, subagent_id), _read(Path(file), MAX_SUBAGENT_BYTES)
    _read_all(chat, raw)
    return chat.cost if raw else None


def _read_all(chat: Chat, raw: bytes) -> list[tuple[bytes, Line]]:
    return [each for text in raw.split(b"\n") if text.strip() for each in chat.read(text)]


def _beginning(path: str, size: int) -> bytes:
    return _read(Path(path), size) if size else b""


def _read(path: Path, size: int) -> bytes:
    """The first bytes of a file; empty if it cannot be read."""
    parts, left = list[bytes](), size
    try:
        with open_regular_file(str(path)) as handle:
            while left > 0 and (part := os.read(handle, left)):
                parts.append(part)
                left -= len(part)
    except OSError:
        return b""
    return b"".join(parts)
