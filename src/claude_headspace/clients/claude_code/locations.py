"""Where Claude Code writes: transcripts and the session registry, below a configuration directory.

`projects/<directory>/<session id>.jsonl`, and below it `<session id>/subagents/agent-<id>.jsonl`, with the client's
notes about the sub-agent in `agent-<id>.meta.json`. `sessions/<pid>.json` for every running client.
"""

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from claude_headspace.clients.claude_code.transcript import describe_subagent

TRANSCRIPTS = "projects"
"""The directory of transcripts, below a configuration directory."""
REGISTRY = "sessions"
"""The directory of the session registry, below a configuration directory."""
SUBAGENTS = "subagents"

_TRANSCRIPT = re.compile(r"[^/]+/(?:[^/]+|[^/]+/subagents/agent-[^/]+)\.jsonl")


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


def notes_of(path: str) -> str | None:
    """The client's notes about the sub-agent of a transcript."""
    return str(Path(path).with_suffix(".meta.json")) if is_subagent(path) else None


def notes_line(path: str, notes: bytes) -> bytes:
    """The notes about a sub-agent as a line of its transcript."""
    return describe_subagent(session_of(path), Path(path).stem.removeprefix("agent-"), notes)


def is_entry(path: Path) -> bool:
    """Whether a file is a registry entry. The directory also has key files of the clients, which are never read."""
    return path.suffix == ".json" and path.stem.isascii() and path.stem.isdigit()


def entry_name(pid: int) -> str:
    """The file name of a process's registry entry."""
    return f"{pid}.json"
