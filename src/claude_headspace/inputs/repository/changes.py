"""What changed in a repository while an agent worked: commits, and files of commits and of the work tree.

Rules
- A commit belongs to the time in which it was made. A file with changes that are not committed belongs to the time in
  which it was last modified; a deleted one to work that is not over.
- The diff starts at the commit that was checked out when the session started. If it is unknown, at the last commit
  before that time.
- A directory without a repository has no changes here, which is not a problem, unless it had one when the session
  started.
- Secrets are redacted as in stored events.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from claude_headspace.inputs.receive.project_location import locate_project
from claude_headspace.inputs.repository.git import Git, GitError, split_texts
from claude_headspace.kernel.changes.assemble import limited, text_digest
from claude_headspace.kernel.changes.git_output import DIFF_OPTIONS, LOG_FORMAT, parse_diff, parse_log
from claude_headspace.kernel.changes.model import Commit, FileChange
from claude_headspace.kernel.changes.unified import added_lines, format_diff
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.hidden_characters import mark_controls

MAX_COMMITS = 1_000
MAX_NEW_FILES = 1_000
MAX_NEW_FILE_BYTES = 512 * 1024
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The tree without files, which git knows in every repository."""

GONE = "It does not exist any more."

COMMIT = re.compile("[0-9a-f]{40}([0-9a-f]{24})?")

Redact = Callable[[str], str]


class RepositoryQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The time of the work, and the commit at the start of the session, if known."""

    since: Micros
    until: Micros | None = None
    start_commit: str | None = None
    is_command: bool = False
    """Whether the work is one command: its diff starts at the last commit before it."""
    max_characters: int | None = None
    """How long all diffs together may be; longer ones are cut."""

    def includes(self, at: Micros) -> bool:
        """Whether a time is in the work. File systems and git round to seconds."""
        return at // SECOND >= self.since // SECOND and (self.until is None or at // SECOND <= self.until // SECOND)


class RepositoryChanges(msgspec.Struct, frozen=True, kw_only=True):
    """What changed, or the problem why that is unknown."""

    since_commit: str | None = None
    head_commit: str | None = None
    commits: list[Commit] = []
    files: list[FileChange] = []
    digests: dict[str, str] = {}
    """Of a command, by path: the digest of a file that was last modified in its time."""
    problem: str | None = None


def read_changes(root: str, query: RepositoryQuery, redact: Redact) -> RepositoryChanges:
    """The changes in the repository with this root."""
    if not (Path(root) / ".git").exists():
        return RepositoryChanges(problem=GONE if query.start_commit else None)
    git, head = Git(root), locate_project(root).commit
    try:
        head = head or git.read("rev-parse", "--verify", "--quiet", "HEAD", accept=(0, 1)).decode().strip() or None
        return _Reader(root, git, query, head).changes(redact)
    except GitError as error:
        return RepositoryChanges(head_commit=head, problem=str(error))


class _Reader:
    """Reads one repository for one query."""

    def __init__(self, root: str, git: Git, query: RepositoryQuery, head: str | None) -> None:
        self._root = root
        self._git = git
        self._query = query
        self._head = head

    def changes(self, redact: Redact) -> RepositoryChanges:
        start = self._start()
        history = self._history(start)
        earlier = [commit for commit in history if commit.at // SECOND < self._query.since // SECOND]
        commits = [commit for commit in history if self._query.includes(commit.at)]
        base = earlier[-1].id if self._query.is_command and earlier else start
        files = list(self._files(base, commits, is_newest=not history or history[-1] in (*commits, *earlier)))
        return RepositoryChanges(
            since_commit=None if base == EMPTY_TREE else base,
            head_commit=self._head,
            commits=[msgspec.structs.replace(commit, subject=redact(commit.subject)) for commit in commits],
            files=limited([_redacted(file, redact) for file in files], self._query.max_characters),
            digests=dict(self._digests(files)) if self._query.is_command else {},
        )

    def _digests(self, files: Sequence[FileChange]) -> Iterator[tuple[str, str]]:
        """What the files contain now, unless they were modified after the work. Large and binary files are left out."""
        for file in files[:MAX_NEW_FILES]:
            modified = self._modified_at(file.path)
            if modified is None or not self._query.includes(modified):
                continue
            content, size = _read_file(Path(self._root) / file.path) or (b"", -1)
            with suppress(UnicodeDecodeError):
                if len(content) == size:
                    yield file.path, text_digest(content.decode())

    def _start(self) -> str:
        """The commit at the start of the session; the empty tree if there was none."""
        if self._head is None:
            return EMPTY_TREE
        known = self._query.start_commit or ""
        if COMMIT.fullmatch(known) and self._exists(known):
            return known
        before = f"--before=@{self._query.since // SECOND - 1} +0000"
        return self._git.read("rev-list", "-1", before, "HEAD").decode().strip() or EMPTY_TREE

    def _exists(self, commit: str) -> bool:
        try:
            self._git.read("cat-file", "-e", f"{commit}^{{commit}}")
        except GitError:
            return False
        return True

    def _history(self, start: str) -> list[Commit]:
        if self._head in (None, start):
            return []
        revisions = ["HEAD"] if start == EMPTY_TREE else [f"{start}..HEAD"]
        limit = f"--max-count={MAX_COMMITS}"
        return parse_log(self._git.read("log", "-z", limit, f"--format={LOG_FORMAT}", *revisions, "--"))

    def _files(self, base: str, commits: Sequence[Commit], *, is_newest: bool) -> Iterator[FileChange]:
        """The files of the commits, and those of the work tree that were modified in the time of the work."""
        committed = self._diff(base, commits[-1].id) if commits else []
        paths = {file.path for file in committed}
        compared = base if is_newest else "HEAD"
        uncommitted = self._diff(compared if self._head is not None else EMPTY_TREE)
        newer = {file.path: file for file in uncommitted if is_newest or file.path not in paths}
        yield from (newer.pop(file.path, file) for file in committed if not is_newest or file.path in newer)
        yield from (file for file in newer.values() if self._is_recent(file))
        yield from self._new_files()

    def _diff(self, *revisions: str) -> list[FileChange]:
        read = self._git.read_files if len(revisions) == 1 else self._git.read
        return parse_diff(read("diff", *DIFF_OPTIONS, *revisions, "--"))

    def _is_recent(self, file: FileChange) -> bool:
        modified = self._modified_at(file.path)
        return self._query.until is None if modified is None else self._query.includes(modified)

    def _modified_at(self, path: str) -> Micros | None:
        try:
            return (Path(self._root) / path).lstat().st_mtime_ns // 1_000
        except (OSError, ValueError):
            return None

    def _new_files(self) -> Iterator[FileChange]:
        """Files that git does not track and does not ignore."""
        paths = split_texts(self._git.read_files("ls-files", "-z", "--others", "--exclude-standard"))
        recent = [path for path in paths if self._query.includes(self._modified_at(path) or 0)]
        for path in recent[:MAX_NEW_FILES]:
            if (content := _read_file(Path(self._root) / path)) is not None:
                yield _new_file(os.fsencode(path).decode("utf-8", "replace"), *content)


def _read_file(path: Path) -> tuple[bytes, int] | None:
    """The beginning of a regular file, and its size."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except (OSError, ValueError):
        return None
    with os.fdopen(handle, "rb") as file:
        details = os.fstat(handle)
        return (file.read(MAX_NEW_FILE_BYTES), details.st_size) if stat.S_ISREG(details.st_mode) else None


def _new_file(path: str, content: bytes, size: int) -> FileChange:
    is_binary = b"\0" in content[:8_000]
    hunks = () if is_binary else added_lines(content.decode("utf-8", "replace"))
    left_out = 0 if is_binary else size - len(content)
    binary = f"Binary files /dev/null and b/{mark_controls(path)} differ\n"
    return FileChange(
        path=path,
        status="added",
        added=sum(hunk.added for hunk in hunks),
        removed=0,
        diff=binary if is_binary else format_diff(path, hunks, created=True),
        source="git",
        command_ids=(),
        complete=left_out <= 0,
        left_out=max(left_out, 0),
        old_path=None,
    )


def _redacted(file: FileChange, redact: Redact) -> FileChange:
    """The file with its secrets redacted. A diff that would lose lines is not shown, because it would be wrong."""
    diff = redact(file.diff)
    if diff == file.diff:
        return file
    if diff.count("\n") == file.diff.count("\n"):
        return msgspec.structs.replace(file, diff=diff)
    return msgspec.structs.replace(
        file, diff="# contains a secret of several lines\n", complete=False, left_out=len(file.diff)
    )
