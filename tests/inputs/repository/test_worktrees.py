"""The worktrees of a repository, and their distance to the base."""

from pathlib import Path

import pytest

from claude_headspace.inputs.repository.git import GitError
from claude_headspace.inputs.repository.worktrees import Distance, find_base, list_worktrees, read_status
from tests.inputs.repository.repositories import Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with a worktree on the branch fix, one commit ahead of and one behind main."""
    made = Repository(tmp_path / "shop")
    made.git("worktree", "add", "--quiet", "-b", "fix", str(tmp_path / "fix"))
    for folder, file in ((tmp_path / "fix", "a.txt"), (made.root, "b.txt")):
        (folder / file).write_text("x")
        made.git("-C", str(folder), "add", "--all")
        made.git("-C", str(folder), "commit", "--quiet", "--message", file)
    return made


def test_worktrees_are_listed(repository: Repository, tmp_path: Path) -> None:
    """The repository itself is the first."""
    main, fix = list_worktrees(str(tmp_path / "fix"))
    assert (main.path, main.branch, main.is_main) == (str(repository.root), "main", True)
    assert (fix.path, fix.branch, fix.is_main, fix.repository) == (
        str(tmp_path / "fix"),
        "fix",
        False,
        str(repository.root),
    )


def test_a_directory_without_a_repository_has_none(tmp_path: Path) -> None:
    """It is an error."""
    with pytest.raises(GitError):
        list_worktrees(str(tmp_path))


def test_the_status_of_a_worktree(repository: Repository, tmp_path: Path) -> None:
    """Without a stored base, the branch of the main worktree is the base."""
    repository.git("worktree", "lock", str(tmp_path / "fix"))
    (tmp_path / "fix/new.txt").write_text("x")
    status = read_status(str(tmp_path / "fix"))
    assert (status.branch, status.uncommitted) == ("fix", 1)
    assert status.distance == Distance(base="main", ahead=1, behind=1)
    assert list_worktrees(str(repository.root))[1].is_locked


def test_a_stored_base_counts(repository: Repository, tmp_path: Path) -> None:
    """If it still exists."""
    repository.git("branch", "stable")
    repository.git("config", "branch.fix.headspaceBase", "stable")
    assert find_base(str(repository.root), "fix") == "stable"
    repository.git("branch", "--quiet", "-D", "stable")
    assert find_base(str(repository.root), "fix") is None


def test_a_detached_head_has_no_distance(repository: Repository, tmp_path: Path) -> None:
    """It has no branch to compare."""
    repository.git("-C", str(tmp_path / "fix"), "checkout", "--quiet", "--detach")
    status = read_status(str(tmp_path / "fix"))
    assert (status.branch, status.distance) == (None, None)
