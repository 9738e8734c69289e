"""opencode writes no transcripts that could be followed: its plugin reports everything.

Old sessions are imported from its database (`session_database.py`).
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from claude_headspace.clients.opencode.transcript import is_message
from claude_headspace.clients.transcript_line import Line

__all__ = ["find_transcripts", "is_message", "is_subagent", "is_transcript", "read_lines", "roots", "session_of"]


def roots(config_dir: Path) -> list[Path]:
    """The directories of transcripts."""
    del config_dir
    return []


def is_transcript(path: str, root: Path) -> bool:
    """Whether a path below a root is one that clients write transcripts to."""
    del path, root
    return False


def find_transcripts(roots: Iterable[Path]) -> list[tuple[str, os.stat_result]]:
    """All transcripts: those of sessions before those of sub-agents, the oldest first."""
    del roots
    return []


def is_subagent(path: str) -> bool:
    """Whether a transcript is a sub-agent's."""
    del path
    return False


def session_of(path: str) -> str:
    """The session that a transcript belongs to; empty if its path does not tell."""
    del path
    return ""


def read_lines(path: str, raw: bytes, start: int) -> Iterator[tuple[bytes, Line]]:
    """The lines with facts in a part of a file that begins at `start`, each as it is stored."""
    del path, raw, start
    return iter(())
