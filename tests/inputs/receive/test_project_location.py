"""What belongs to a directory: its project and branch, found with a few looks and never with a long wait."""

import asyncio
import os
from pathlib import Path

import pytest

from claude_headspace.inputs.receive.project_location import ProjectLocator, locate_project
from claude_headspace.kernel.envelope import Observations


def repository(root: Path, head: str = "ref: refs/heads/main\n") -> Path:
    """A directory with as much of git as is looked at."""
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text(head)
    return root


def found(directory: str | Path | None) -> Observations:
    """What a finder that knows nothing yet says."""

    async def look() -> Observations:
        finder = ProjectLocator()
        try:
            return await finder(None if directory is None else str(directory))
        finally:
            finder.close()

    return asyncio.run(look())


def test_the_nearest_repository_is_the_project(tmp_path: Path) -> None:
    """A directory deep inside belongs to the repository around it, and to the innermost one."""
    outer = repository(tmp_path / "outer")
    inner = repository(outer / "vendor" / "inner", "ref: refs/heads/feature/x\n")
    (inner / "src").mkdir()
    assert found(inner / "src") == Observations(project_root=str(inner), branch="feature/x")
    assert found(outer / "vendor") == Observations(project_root=str(outer), branch="main")


def test_without_a_repository_the_directory_is_the_project(tmp_path: Path) -> None:
    """A directory that belongs to nothing is its own project."""
    assert locate_project(str(tmp_path / "plain")) == Observations(project_root=str(tmp_path / "plain"))


def test_a_directory_that_is_not_there_is_no_trouble() -> None:
    """The directory may be gone, or be on another machine."""
    assert found("/no/such/place") == Observations(project_root="/no/such/place")


def test_a_worktree_has_a_branch_of_its_own(tmp_path: Path) -> None:
    """A worktree's `.git` is a file that points to where its HEAD is."""
    (tmp_path / "main" / ".git" / "worktrees" / "fix").mkdir(parents=True)
    (tmp_path / "main" / ".git" / "worktrees" / "fix" / "HEAD").write_text("ref: refs/heads/fix\n")
    (tmp_path / "fix").mkdir()
    (tmp_path / "fix" / ".git").write_text(f"gitdir: {tmp_path}/main/.git/worktrees/fix\n")
    assert found(tmp_path / "fix") == Observations(project_root=str(tmp_path / "fix"), branch="fix")


def test_a_submodule_points_by_a_relative_path(tmp_path: Path) -> None:
    """The pointer of a submodule is relative to where it stands."""
    (tmp_path / ".git" / "modules" / "lib").mkdir(parents=True)
    (tmp_path / ".git" / "modules" / "lib" / "HEAD").write_text("ref: refs/heads/stable\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / ".git").write_text("gitdir: ../.git/modules/lib\n")
    assert found(tmp_path / "lib").branch == "stable"


@pytest.mark.parametrize(
    ("head", "branch"),
    [
        ("0123456789abcdef0123456789abcdef01234567\n", "0123456789ab"),
        ("", None),
        ("ref: refs/heads/" + "x" * 5_000, "x" * 200),
    ],
)
def test_a_head_without_a_branch(tmp_path: Path, head: str, branch: str | None) -> None:
    """A detached head is told by its commit, an empty one not at all, and no name is endless."""
    assert found(repository(tmp_path, head)).branch == branch


def test_nothing_but_a_small_regular_file_is_read(tmp_path: Path) -> None:
    """A pipe where HEAD should be does not hold anybody up, nor does a directory, nor bytes that are no text."""
    root = repository(tmp_path / "pipe")
    (root / ".git" / "HEAD").unlink()
    os.mkfifo(root / ".git" / "HEAD")
    assert found(root) == Observations(project_root=str(root))
    root = repository(tmp_path / "directory")
    (root / ".git" / "HEAD").unlink()
    (root / ".git" / "HEAD").mkdir()
    assert found(root) == Observations(project_root=str(root))
    root = repository(tmp_path / "bytes")
    (root / ".git" / "HEAD").write_bytes(b"\xff\xfe\x00")
    assert found(root).project_root == str(root)


@pytest.mark.parametrize("directory", ["relative/path", "~", "C:\\work", "/tmp/\0evil", "\0"])
def test_what_is_no_path_here_is_kept_as_told(directory: str) -> None:
    """A directory that cannot be looked at is the project by its name alone."""
    assert found(directory) == Observations(project_root=directory)


@pytest.mark.parametrize("directory", [None, ""])
def test_no_directory_has_no_surroundings(directory: str | None) -> None:
    """Who does not tell where it is belongs to nothing."""
    assert found(directory) == Observations()


def test_a_path_is_taken_as_it_is_meant(tmp_path: Path) -> None:
    """Dots and doubled slashes lead to the same project."""
    root = repository(tmp_path / "app")
    (root / "src").mkdir()
    assert found(f"{root}/src/../src//.") == Observations(project_root=str(root), branch="main")


def test_what_was_found_is_remembered_for_a_moment(tmp_path: Path) -> None:
    """A hundred hooks in one directory look at the disk once."""
    root = repository(tmp_path)

    async def look() -> tuple[Observations, Observations]:
        finder = ProjectLocator()
        first = await finder(str(root))
        (root / ".git" / "HEAD").write_text("ref: refs/heads/other\n")
        second = await finder(str(root))
        finder.close()
        return first, second

    first, second = asyncio.run(look())
    assert first == second == Observations(project_root=str(root), branch="main")
