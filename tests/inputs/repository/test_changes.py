"""What changed in a repository in a time: commits, and files of commits and of the work tree."""

from pathlib import Path

import pytest

from claude_headspace.inputs.redaction.rules import build_redactor
from claude_headspace.inputs.repository import changes as repository_changes
from claude_headspace.inputs.repository.changes import RepositoryChanges, RepositoryQuery, read_changes
from claude_headspace.kernel.changes.model import FileChange
from claude_headspace.kernel.envelope import SECOND
from tests.inputs.repository.repositories import Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with one commit."""
    return Repository(tmp_path / "project")


def read(repository: Repository, since: int = 2000, until: int | None = None, **more: object) -> RepositoryChanges:
    """The changes since a second; the session started with the first commit."""
    known = {"start_commit": repository.first, **more}
    query = RepositoryQuery(since=since * SECOND, until=None if until is None else until * SECOND, **known)  # type: ignore[arg-type]
    found = read_changes(str(repository.root), query, build_redactor().text)
    assert found.problem is None
    return found


def statuses(found: RepositoryChanges) -> dict[str, str]:
    """The status of each file."""
    return {file.path: file.status for file in found.files}


def test_a_directory_without_a_repository_has_no_changes(tmp_path: Path) -> None:
    """And that is not a problem."""
    assert read_changes(str(tmp_path), RepositoryQuery(since=0), build_redactor().text) == RepositoryChanges()


def test_a_repository_that_was_deleted_is_a_problem(tmp_path: Path) -> None:
    """The session started in one."""
    started = RepositoryQuery(since=0, start_commit="0" * 40)
    assert read_changes(str(tmp_path), started, build_redactor().text).problem == repository_changes.GONE


def test_files_of_the_work_tree(repository: Repository) -> None:
    """What a shell command changed, added and deleted, with real line numbers."""
    repository.write("kept.txt", "a\nB\nc\n", at=2001)
    repository.write("src/new.txt", "hello\n", at=2001)
    (repository.root / "old.txt").unlink()
    found = read(repository)
    assert statuses(found) == {"kept.txt": "modified", "old.txt": "deleted", "src/new.txt": "added"}
    kept, deleted, new = found.files
    assert kept.diff == "--- a/kept.txt\n+++ b/kept.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
    assert (kept.added, kept.removed, kept.source) == (1, 1, "git")
    assert (deleted.added, deleted.removed) == (0, 20)
    assert new.diff == "--- /dev/null\n+++ b/src/new.txt\n@@ -0,0 +1 @@\n+hello\n"
    assert (found.since_commit, found.head_commit, found.commits) == (repository.first, repository.first, [])


def test_a_rename(repository: Repository) -> None:
    """Has both paths."""
    repository.git("mv", "old.txt", "moved.txt")
    repository.commit("Move", at=2001)
    [file] = read(repository).files
    assert (file.path, file.old_path, file.status, file.added) == ("moved.txt", "old.txt", "renamed", 0)


def test_commits_since_the_start(repository: Repository) -> None:
    """The oldest first; a file that was committed and changed again has one diff."""
    repository.write("kept.txt", "a\nB\nc\n", at=2001)
    one = repository.commit("One: first", at=2001)
    repository.write("other.txt", "x\n", at=2002)
    two = repository.commit("Two", at=2002)
    repository.write("kept.txt", "a\nB\nC\n", at=2003)
    found = read(repository)
    assert [(commit.id, commit.subject, commit.at) for commit in found.commits] == [
        (one, "One: first", 2001 * SECOND),
        (two, "Two", 2002 * SECOND),
    ]
    assert {file.path: (file.added, file.removed) for file in found.files} == {"kept.txt": (2, 2), "other.txt": (1, 0)}
    assert found.head_commit == two


def test_what_was_changed_before_is_left_out(repository: Repository) -> None:
    """Files that were modified before the work, tracked or not."""
    repository.write("kept.txt", "a\nB\nc\n", at=1500)
    repository.write("new.txt", "x\n", at=1500)
    assert read(repository).files == []


def test_what_was_changed_after_the_end_is_left_out(repository: Repository) -> None:
    """An ended agent keeps the commits and files of its time."""
    repository.write("kept.txt", "a\nB\nc\n", at=2001)
    mine = repository.commit("Mine", at=2001)
    repository.write("left.txt", "x\n", at=2002)
    repository.write("kept.txt", "a\nB\nLATER\n", at=3000)
    (repository.root / "old.txt").unlink()
    repository.git("add", "kept.txt", "old.txt")
    repository.git("commit", "--quiet", "--message", "Later", at=3000)
    repository.write("later.txt", "x\n", at=3001)
    found = read(repository, until=2500)
    assert [commit.id for commit in found.commits] == [mine]
    assert statuses(found) == {"kept.txt": "modified", "left.txt": "added"}
    assert "LATER" not in found.files[0].diff


def test_a_command_starts_at_the_last_commit_before_it(repository: Repository) -> None:
    """Two commands with a commit each."""
    repository.write("kept.txt", "one\n", at=2001)
    one = repository.commit("One", at=2001)
    repository.write("kept.txt", "two\n", at=2101)
    two = repository.commit("Two", at=2101)
    first = read(repository, since=2000, until=2050, is_command=True)
    second = read(repository, since=2100, is_command=True)
    assert ([commit.id for commit in first.commits], first.since_commit) == ([one], repository.first)
    assert ([commit.id for commit in second.commits], second.since_commit) == ([two], one)
    assert second.files[0].diff.endswith("-one\n+two\n")
    assert "two" not in first.files[0].diff


@pytest.mark.parametrize("start_commit", [None, "0" * 40, "--output=file"])
def test_an_unknown_start_is_the_last_commit_before(repository: Repository, start_commit: str | None) -> None:
    """Not recorded, or removed from the repository since."""
    repository.write("kept.txt", "one\n", at=2001)
    repository.commit("One", at=2001)
    assert read(repository, start_commit=start_commit).since_commit == repository.first


def test_a_repository_that_the_agent_created(tmp_path: Path) -> None:
    """All of its files are new."""
    repository = Repository(tmp_path / "created")
    found = read(repository, since=900, start_commit=None)
    assert (statuses(found), found.since_commit) == ({"kept.txt": "added", "old.txt": "added"}, None)
    assert [commit.id for commit in found.commits] == [repository.first]


def test_a_repository_without_commits(tmp_path: Path) -> None:
    """Its files are new, and there is no head."""
    repository = Repository(tmp_path / "project")
    repository.git("checkout", "--quiet", "--orphan", "empty")
    repository.git("rm", "--quiet", "-r", "--cached", ".")
    found = read(repository, since=900)
    assert (statuses(found), found.head_commit) == ({"kept.txt": "added", "old.txt": "added"}, None)


def test_binary_files_have_no_lines(repository: Repository) -> None:
    """Tracked and new ones."""
    repository.write("kept.txt", b"\0\1", at=2001)
    repository.write("new.bin", b"\0\1", at=2001)
    assert [(file.added, "Binary files" in file.diff) for file in read(repository).files] == [(0, True), (0, True)]


def test_unusual_names(repository: Repository) -> None:
    """Spaces, quotes, line breaks and letters of other scripts."""
    names = ['a "b" c.txt', "línea.txt", "two\nlines.txt", ":(glob)x"]
    for name in names:
        repository.write(name, "x\n", at=2001)
    repository.commit("Names", at=2001)
    assert sorted(statuses(read(repository))) == sorted(names)


def test_a_worktree_has_its_own_changes(repository: Repository, tmp_path: Path) -> None:
    """Only those of its branch."""
    repository.git("worktree", "add", "--quiet", "-b", "fix", str(tmp_path / "fix"))
    (tmp_path / "fix" / "kept.txt").write_text("fixed\n")
    found = read_changes(str(tmp_path / "fix"), RepositoryQuery(since=2000 * SECOND), build_redactor().text)
    assert [file.path for file in found.files] == ["kept.txt"]


def test_secrets_are_redacted(repository: Repository) -> None:
    """On one line in place; of several lines the diff is not shown."""
    key = "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n"
    repository.write("kept.txt", "a\ntoken ghp_" + "x" * 36 + "\n", at=2001)
    repository.write("key.pem", key, at=2001)
    kept, pem = read(repository).files
    assert "+token [redacted]\n" in kept.diff
    assert (pem.complete, "abc" in pem.diff) == (False, False)


def test_programs_of_the_repository_do_not_run(repository: Repository, tmp_path: Path) -> None:
    """No filter, external diff, text conversion, file system monitor, hook or pager."""
    mark = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    program.chmod(0o755)
    for name in (
        "filter.mine.clean",
        "filter.mine.process",
        "filter.mine.required",
        "diff.external",
        "diff.mine.command",
        "diff.mine.textconv",
        "core.fsmonitor",
        "core.pager",
        "pager.diff",
        "pager.log",
    ):
        repository.git("config", name, "true" if name.endswith("required") else str(program))
    repository.write(".gitattributes", "* filter=mine diff=mine\n", at=2001)
    repository.write("kept.txt", "a\nB\nc\n", at=2001)
    assert statuses(read(repository)) == {"kept.txt": "modified", ".gitattributes": "added"}
    assert not mark.exists()


def test_a_filter_that_cannot_be_switched_off_is_a_problem(repository: Repository, tmp_path: Path) -> None:
    """Its name cannot be given on a command line, so nothing is read."""
    mark = tmp_path / "ran"
    repository.git("config", "filter.a=b.clean", f"touch {mark}; cat")
    repository.write(".gitattributes", "* filter=a=b\n", at=2001)
    repository.write("kept.txt", "a\nB\nc\n", at=2001)
    found = read_changes(str(repository.root), RepositoryQuery(since=2000 * SECOND), build_redactor().text)
    assert (found.files, mark.exists()) == ([], False)
    assert found.problem is not None
    assert "filter" in found.problem


def test_another_work_tree_is_not_read(repository: Repository, tmp_path: Path) -> None:
    """The files of the project count, whatever the repository configures."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "kept.txt").write_text("private\n")
    repository.git("config", "core.worktree", str(other))
    repository.write("kept.txt", "a\nB\nc\n", at=2001)
    [file] = read(repository).files
    assert (file.added, "private" in file.diff) == (1, False)


def test_reading_changes_nothing(repository: Repository) -> None:
    """Not even the index, whose times are outdated here."""
    repository.write("kept.txt", "a\nb\nc\n", at=2001)
    index = repository.root / ".git" / "index"
    before = (index.read_bytes(), index.stat().st_mtime_ns)
    read(repository)
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before


def test_a_broken_repository_is_a_problem(tmp_path: Path) -> None:
    """The reason is for people."""
    (tmp_path / ".git").mkdir()
    found = read_changes(str(tmp_path), RepositoryQuery(since=0), build_redactor().text)
    assert found.problem is not None
    assert found.problem.startswith("git ")


def test_a_large_new_file_is_cut(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says how much is missing."""
    monkeypatch.setattr(repository_changes, "MAX_NEW_FILE_BYTES", 4)
    repository.write("new.txt", "one\ntwo\n", at=2001)
    [file] = read(repository).files
    assert (file.complete, file.left_out, file.added) == (False, 4, 1)


def test_diffs_for_another_machine_are_limited(repository: Repository) -> None:
    """All files are listed, with their counts."""
    repository.write("kept.txt", "x\n", at=2001)
    repository.write("new.txt", "y\n", at=2001)
    found: list[FileChange] = read(repository, max_characters=60).files
    assert [(file.path, file.complete) for file in found] == [("kept.txt", True), ("new.txt", False)]
    assert found[1].added == 1
