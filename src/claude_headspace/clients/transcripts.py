"""The transcripts of all clients: where they are, and how to read them."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from claude_headspace.clients.claude_code import transcript_files as claude_code
from claude_headspace.clients.codex import transcript_files as codex
from claude_headspace.clients.copilot import transcript_files as copilot
from claude_headspace.clients.gemini import transcript_files as gemini
from claude_headspace.clients.opencode import transcript_files as opencode
from claude_headspace.clients.transcript_line import Line


class TranscriptFiles(Protocol):
    """The module `transcript_files` of a client's package."""

    def roots(self, config_dir: Path) -> list[Path]:
        """The directories of transcripts."""

    def is_transcript(self, path: str, root: Path) -> bool:
        """Whether a path below a root is one that clients write transcripts to."""

    def find_transcripts(self, roots: Iterable[Path]) -> list[tuple[str, os.stat_result]]:
        """All transcripts: those of sessions before those of sub-agents, the oldest first."""

    def is_subagent(self, path: str) -> bool:
        """Whether a transcript is a sub-agent's."""

    def session_of(self, path: str) -> str:
        """The session that a transcript belongs to; empty if its path does not tell."""

    def read_lines(self, path: str, raw: bytes, start: int) -> Iterator[tuple[bytes, Line]]:
        """The lines in a part of a file that begins at `start`, each as it is stored: with facts, or unknown ones."""

    def is_message(self, owner: dict[object, object], key: object) -> bool:
        """Whether a string in a line is a message for people (see `IsMessage`)."""


TRANSCRIPT_FILES: dict[str, TranscriptFiles] = {
    "claude-code": claude_code,
    "codex": codex,
    "opencode": opencode,
    "copilot": copilot,
    "gemini": gemini,
}
"""The transcripts of each client."""
