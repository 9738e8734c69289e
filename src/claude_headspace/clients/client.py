"""What the followers of files need to know of a client: its name, where it writes, and how that is read. Types only.

Each client package has one `Client`. The followers (`inputs/watch`) are the same for all of them.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from claude_headspace.clients.client_files import Line, RegistryEntry


class TranscriptFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Where a client writes transcripts, and how they are read."""

    directory: str
    """Below a configuration directory."""
    is_transcript: Callable[[str, Path], bool]
    """Whether a path below a root is a transcript."""
    find: Callable[[Iterable[Path]], list[tuple[str, os.stat_result]]]
    """The transcripts below the roots, sessions before sub-agents, the oldest first."""
    session_of: Callable[[str], str]
    """The session that a transcript belongs to."""
    is_subagent: Callable[[str], bool]
    notes_of: Callable[[str], str | None]
    """The file in which the client describes the sub-agent of a transcript."""
    notes_line: Callable[[str, bytes], bytes]
    """Those notes as one more line of the transcript."""
    read_line: Callable[[bytes], Line | None]
    """A line, if it says anything."""


class RegistryFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Where running clients register, and how an entry is read."""

    directory: str
    """Below a configuration directory."""
    is_entry: Callable[[Path], bool]
    entry_of: Callable[[int], str]
    """The file name of a process's entry."""
    read: Callable[[bytes], RegistryEntry | None]
    """An entry; None if it is none. Raises `msgspec.DecodeError` while it is being written."""


class Client(msgspec.Struct, frozen=True):
    """A supported client."""

    name: str
    transcripts: TranscriptFiles
    registry: RegistryFiles
