"""The changes of an agent as the API returns them, limited in size."""

from collections.abc import Iterable, Sequence

import msgspec

from claude_headspace.kernel.changes.assemble import limited
from claude_headspace.kernel.changes.model import Commit, FileChange
from claude_headspace.kernel.text import Time, iso

MAX_FILE_CHARACTERS = 500_000
MAX_TOTAL_CHARACTERS = 4_000_000
"""Longer diffs are cut. A request for single files is answered in full."""


class CommitView(msgspec.Struct, frozen=True):
    """A commit that was made while the agent worked."""

    id: str
    subject: str
    at: Time


class ChangesView(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent, or one of its commands, changed."""

    agent_id: str
    command_id: str | None
    since_commit: str | None
    head_commit: str | None
    commits: list[CommitView]
    files: list[FileChange]
    added: int
    removed: int
    complete: bool
    left_out: int
    git_problem: str | None
    """Why the repository could not be read; null if it was read or there is none."""


def limited_files(changes: Sequence[FileChange], only: frozenset[str] = frozenset()) -> list[FileChange]:
    """The files, with diffs that fit into the limits; only these paths in full, if given."""
    if only:
        return [change for change in changes if change.path in only]
    return limited(changes, MAX_TOTAL_CHARACTERS, MAX_FILE_CHARACTERS)


def commit_views(commits: Iterable[Commit]) -> list[CommitView]:
    """Commits, the oldest first."""
    return [CommitView(commit.id, commit.subject, iso(commit.at)) for commit in commits]
