"""Where transcripts are, and how one is read: whole lines from where reading stopped, a bounded piece at a time.

`<config dir>/projects/<directory>/<session id>.jsonl`, and below it `<session id>/subagents/agent-<id>.jsonl`, with the
client's notes of the sub-agent in `agent-<id>.meta.json`.

A line that is not finished yet is left for the next time. A file that has become shorter, or has no line's end where
reading stopped, was written anew: it is read from its beginning, and what is known already is recognised by the line's
own id.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from claude_headspace.clients.claude_code.transcript import Line, describe_subagent, read_line
from claude_headspace.inputs.watch.files import below, opened
from claude_headspace.kernel.envelope import Micros

PROJECTS = "projects"
PIECE = 512 * 1024
LAST_LINE = 256 * 1024
NOTES = 64 * 1024
SUBAGENTS = "subagents"
LONGEST_LINE = 64 * 1024 * 1024

_FILE = re.compile(r"[^/]+/(?:[^/]+|[^/]+/subagents/agent-[^/]+)\.jsonl")


def is_transcript(path: str, root: Path) -> bool:
    """Whether a path below a root is one that clients write transcripts to."""
    return path.isprintable() and _FILE.fullmatch(path.removeprefix(f"{root}{os.sep}")) is not None


def find_transcripts(roots: Iterable[Path]) -> list[tuple[str, os.stat_result]]:
    """The transcripts that there are, sessions before sub-agents, the oldest first."""
    found = []
    for root in roots:
        for path in (*root.glob("*/*.jsonl"), *root.glob("*/*/subagents/agent-*.jsonl")):
            with suppress(OSError):
                if is_transcript(str(path), root):
                    found.append((str(path), path.stat()))
    return sorted(found, key=lambda each: (each[0].count(os.sep), each[1].st_mtime))


class Reading(msgspec.Struct):
    """How far a file was read, and the time of its newest line."""

    path: str
    offset: int = 0
    at: Micros = 0
    inode: int = 0


class Piece(msgspec.Struct, frozen=True):
    """The lines of one piece of a file that say something, oldest first: when, as it is, and as it is understood."""

    lines: list[tuple[Micros, bytes, Line]]
    offset: int
    at: Micros
    inode: int
    size: int

    @property
    def more(self) -> bool:
        """Whether there is more to read, be it the beginning of a line."""
        return self.offset < self.size


def read_piece(path: str, reading: Reading, now: Micros) -> Piece:
    """The next whole lines of a file. A line without a time has that of the line before; none is from the future."""
    with opened(path) as handle:
        known = os.fstat(handle)
        start = 0 if _is_another(handle, known, reading) else reading.offset
        raw, offset = _whole_lines(handle, start, known.st_size)
    if raw and start == 0:
        raw += _description(Path(path))
    lines, at = [], reading.at
    for text, line in _understood(raw):
        at = min(line.at or at or now, now)
        lines.append((at, text, line))
    newest = max([reading.at if start else 0, *(moment for moment, _, _ in lines)])
    return Piece(sorted(lines, key=lambda each: each[0]), offset, newest, known.st_ino, known.st_size)


def _description(path: Path) -> bytes:
    """What the client has noted of a sub-agent beside its transcript, as one more line of it."""
    notes = path.with_suffix(".meta.json")
    if path.parent.name != SUBAGENTS:
        return b""
    try:
        with opened(str(notes)) as handle:
            return describe_subagent(path.parent.parent.name, path.stem.removeprefix("agent-"), os.read(handle, NOTES))
    except OSError:
        return b""


def _is_another(handle: int, known: os.stat_result, reading: Reading) -> bool:
    if known.st_size < reading.offset or reading.inode not in (0, known.st_ino):
        return True
    return reading.offset > 0 and os.pread(handle, 1, reading.offset - 1) != b"\n"


def _whole_lines(handle: int, start: int, size: int) -> tuple[bytes, int]:
    """Up to a piece of whole lines, and where they end; a line that is too long to be one is passed over."""
    wanted = PIECE
    while True:
        raw = os.pread(handle, min(wanted, max(size - start, 0)), start)
        end = raw.rfind(b"\n") + 1
        if end:
            return raw[:end], start + end
        if start + len(raw) >= size:
            return b"", start
        if wanted >= LONGEST_LINE:
            return b"", _next_line(handle, start + len(raw), size) or start
        wanted *= 8


def _next_line(handle: int, start: int, size: int) -> int | None:
    """Where the next line begins."""
    while start < size:
        raw = os.pread(handle, PIECE, start)
        if (found := raw.find(b"\n")) >= 0:
            return start + found + 1
        start += len(raw) or PIECE
    return None


def _understood(raw: bytes) -> Iterator[tuple[bytes, Line]]:
    for text in raw.split(b"\n"):
        line = read_line(text) if text.strip() else None
        if line is not None:
            yield text, line


def transcripts_in(places: Iterable[str], roots: Sequence[Path]) -> list[str]:
    """The transcripts in some directories below the roots."""
    found = (str(path) for place in places for path in Path(place).rglob("*.jsonl") if below(place, roots))
    return [path for path in found if any(is_transcript(path, root) for root in roots)]


def survey(roots: Sequence[Path]) -> list[tuple[str, os.stat_result, int]]:
    """The transcripts that there are, and where their last whole line ends."""
    return [(path, known, _last_line_ends(path, known.st_size, roots)) for path, known in find_transcripts(roots)]


def _last_line_ends(path: str, size: int, roots: Sequence[Path]) -> int:
    start, real = max(0, size - LAST_LINE), below(path, roots)
    if real is None:
        return size
    try:
        with opened(real) as handle:
            return start + os.pread(handle, LAST_LINE, start).rfind(b"\n") + 1
    except OSError:
        return size
