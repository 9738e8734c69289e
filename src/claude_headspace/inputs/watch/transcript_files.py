"""Reads transcripts: complete lines from the last position, in chunks of bounded size.

An incomplete last line is left for the next read. A file that became shorter, or has no line end at the last position,
was rewritten: it is read from the beginning, and status lines are recognised by their ids.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from claude_headspace.clients.files import open_regular_file
from claude_headspace.clients.transcript_line import Line
from claude_headspace.clients.transcripts import TranscriptFiles
from claude_headspace.inputs.watch.files import resolve_below
from claude_headspace.kernel.envelope import Micros

CHUNK_BYTES = 512 * 1024
LAST_LINE_BYTES = 256 * 1024
MAX_LINE_BYTES = 64 * 1024 * 1024


class ReadPosition(msgspec.Struct):
    """How far a file was read, and the time of its newest line."""

    path: str
    offset: int = 0
    at: Micros = 0
    inode: int = 0


class Chunk(msgspec.Struct, frozen=True):
    """A part of a file: its lines to store (time, raw line, decoded line), oldest first, and where it ends."""

    lines: list[tuple[Micros, bytes, Line]]
    offset: int
    at: Micros
    inode: int
    size: int

    @property
    def has_more(self) -> bool:
        """Whether the file is longer. The rest may be an incomplete line."""
        return self.offset < self.size


def read_chunk(files: TranscriptFiles, path: str, position: ReadPosition, now: Micros) -> Chunk:
    """Read the next complete lines. A line without a time gets that of the line before; no time is in the future."""
    with open_regular_file(path) as handle:
        status = os.fstat(handle)
        start = 0 if _was_rewritten(handle, status, position) else position.offset
        raw, offset = _complete_lines(handle, start, status.st_size)
    lines, at = [], position.at
    for text, line in files.read_lines(path, raw, start):
        at = min(line.at or at or now, now)
        lines.append((at, text, line))
    newest = max([position.at if start else 0, *(line_at for line_at, _, _ in lines)])
    return Chunk(sorted(lines, key=lambda each: each[0]), offset, newest, status.st_ino, status.st_size)


def _was_rewritten(handle: int, status: os.stat_result, position: ReadPosition) -> bool:
    if status.st_size < position.offset or position.inode not in (0, status.st_ino):
        return True
    return position.offset > 0 and os.pread(handle, 1, position.offset - 1) != b"\n"


def _complete_lines(handle: int, start: int, size: int) -> tuple[bytes, int]:
    """Up to a chunk of complete lines, and where they end. A line beyond the limit is skipped."""
    wanted = CHUNK_BYTES
    while True:
        raw = os.pread(handle, min(wanted, max(size - start, 0)), start)
        end = raw.rfind(b"\n") + 1
        if end:
            return raw[:end], start + end
        if start + len(raw) >= size:
            return b"", start
        if wanted >= MAX_LINE_BYTES:
            return b"", _next_line(handle, start + len(raw), size) or start
        wanted *= 8


def _next_line(handle: int, start: int, size: int) -> int | None:
    """The offset of the next line."""
    while start < size:
        raw = os.pread(handle, CHUNK_BYTES, start)
        if (found := raw.find(b"\n")) >= 0:
            return start + found + 1
        start += len(raw) or CHUNK_BYTES
    return None


def find_transcripts_in(files: TranscriptFiles, directories: Iterable[str], roots: Sequence[Path]) -> list[str]:
    """The transcripts in some directories below the roots."""
    allowed = (Path(directory) for directory in directories if resolve_below(directory, roots))
    found = (str(path) for directory in allowed for path in directory.rglob("*.jsonl"))
    return [path for path in found if any(files.is_transcript(path, root) for root in roots)]


def list_transcripts(files: TranscriptFiles, roots: Sequence[Path]) -> list[tuple[str, os.stat_result, int]]:
    """All transcripts, each with its status and the offset after its last complete line."""
    return [
        (path, status, _end_of_last_line(path, status.st_size, roots)) for path, status in files.find_transcripts(roots)
    ]


def _end_of_last_line(path: str, size: int, roots: Sequence[Path]) -> int:
    start, real = max(0, size - LAST_LINE_BYTES), resolve_below(path, roots)
    if real is None:
        return size
    try:
        with open_regular_file(real) as handle:
            return start + os.pread(handle, LAST_LINE_BYTES, start).rfind(b"\n") + 1
    except OSError:
        return size
