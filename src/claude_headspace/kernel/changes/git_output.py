"""Parses the output of git: the list of commits, and diffs with their list of files."""

import re
from collections.abc import Iterator

import msgspec

from claude_headspace.kernel.changes.model import Commit, FileChange
from claude_headspace.kernel.envelope import SECOND

LOG_FORMAT = "%H%x1f%ct%x1f%s"
"""The format of `git log -z` that `parse_log` expects."""

DIFF_OPTIONS = (
    "--patch-with-raw",
    "-z",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--find-renames",
    "--unified=3",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--ignore-submodules=dirty",
    "--submodule=short",
    "-O/dev/null",
)
"""The options of `git diff` that `parse_diff` expects."""

STATUSES = {"A": "added", "D": "deleted", "R": "renamed", "C": "added"}
"""By git's letter; all others are `modified`."""

_SECTION = re.compile(r"^diff --git ", re.MULTILINE)


class _Record(msgspec.Struct, frozen=True):
    letter: str
    path: str
    old_path: str | None


def parse_log(output: bytes) -> list[Commit]:
    """The commits, the oldest first."""
    commits = []
    for entry in output.decode("utf-8", "replace").split("\0"):
        parts = entry.split("\x1f", 2)
        if len(parts) == 3 and parts[1].isdigit():
            commits.append(Commit(parts[0].strip(), parts[2].strip(), int(parts[1]) * SECOND))
    return commits[::-1]


def parse_diff(output: bytes) -> list[FileChange]:
    """One change per file of a diff. Files that are listed only because their times changed are left out."""
    text = output.decode("utf-8", "replace")
    records, patch = _records(text)
    sections = iter(_SECTION.split(patch)[1:])
    changes = [_change(record, list(_take(sections, record))) for record in records]
    return [change for change in changes if change.diff]


def _records(text: str) -> tuple[list[_Record], str]:
    """The list of files before the patch, and the patch."""
    records, position = list[_Record](), 0
    while text.startswith(":", position):
        end = text.index("\0", position)
        letter = text[position:end].rsplit(" ", 1)[-1][:1]
        names = []
        for _ in range(2 if letter in ("R", "C") else 1):
            start, end = end + 1, text.index("\0", end + 1)
            names.append(text[start:end])
        records.append(_Record(letter, names[-1], names[0] if letter == "R" else None))
        position = end + 1
    return records, text[position:].lstrip("\0")


def _take(sections: Iterator[str], record: _Record) -> Iterator[str]:
    """The sections of a file. One whose type changed has two: its end as one type, its start as the other."""
    for _ in range({"T": 2, "U": 0}.get(record.letter, 1)):
        section = next(sections, None)
        if section is not None:
            yield section


def _change(record: _Record, sections: list[str]) -> FileChange:
    bodies = [_body(section) for section in sections]
    lines = [line for body in bodies for line in changed_lines(body)]
    return FileChange(
        path=record.path,
        status=STATUSES.get(record.letter, "modified"),
        added=sum(line.startswith("+") for line in lines),
        removed=sum(line.startswith("-") for line in lines),
        diff="".join(bodies),
        source="git",
        command_ids=(),
        complete=True,
        left_out=0,
        old_path=record.old_path,
    )


def _body(section: str) -> str:
    """A section from its file names on; without any, what git says about the file (renamed, binary)."""
    start = section.find("\n--- ")
    return section[start + 1 :] if start >= 0 else section.partition("\n")[2]


def changed_lines(diff: str) -> list[str]:
    """The added and removed lines of the diff of one file, with their prefix."""
    start = diff.find("\n@@ ")
    return [line for line in diff[start + 1 :].split("\n") if line[:1] in ("+", "-")] if start >= 0 else []
