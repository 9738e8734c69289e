"""Edits of files, and the changes that they add up to.

Rules
- An edit is one tool call on one file. A change is what all edits in question did to one file.
- Lines of a hunk have their prefix (" ", "-", "+") and no line break, as in a unified diff.
"""

import msgspec

NO_NEWLINE = "\\ No newline at end of file"


class Hunk(msgspec.Struct, frozen=True):
    """A part of a diff: where it starts before and after the edit, and its lines."""

    old_start: int
    new_start: int
    lines: tuple[str, ...]
    section: str = ""
    """What the header says after the line numbers, such as the cell of a notebook."""

    @property
    def added(self) -> int:
        """The number of added lines."""
        return sum(line.startswith("+") for line in self.lines)

    @property
    def removed(self) -> int:
        """The number of removed lines."""
        return sum(line.startswith("-") for line in self.lines)


class FileEdit(msgspec.Struct, frozen=True, kw_only=True):
    """What one tool call did to one file. The texts are None where they are not known completely."""

    path: str
    hunks: tuple[Hunk, ...] = ()
    before: str | None = None
    after: str | None = None
    created: bool = False
    left_out: int = 0
    """Bytes of the edit that were not stored."""


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """What changed in one file, as a unified diff."""

    path: str
    """Relative to the root of the project, or absolute outside of it."""
    status: str
    """`added`, `modified`, `deleted` or `renamed`."""
    added: int
    removed: int
    diff: str
    source: str
    """`tool`: from the tool calls, exact. `git`: from the repository, also what a shell command changed."""
    command_ids: tuple[str, ...]
    complete: bool
    left_out: int
    """Bytes or characters of the diff that are missing."""
    old_path: str | None
    """The path before a rename."""


class Commit(msgspec.Struct, frozen=True):
    """A commit that was made while the agent worked."""

    id: str
    subject: str
    at: int
    """Microseconds since 1970."""
