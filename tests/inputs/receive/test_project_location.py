"""The project location of a directory: project root and branch."""

import asyncio
import os
from pathlib import Path

import pytest

from claude_headspace.inputs.receive.project_location import ProjectLocator, branch_commit, locate_project
from claude_headspace.kernel.envelope import Observations


def repository(root: Path, head: str = "ref: refs/heads/main\n") -> Path:
    """A directory with the git files that are read."""
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text(head)
    return root


def located(directory: str | Path | None) -> Observations:
    """The location of a directory, without a cache."""

    async def run() -> Observations:
        locator = ProjectLocator()
        try:
            return await locator(None if directory is None else str(directory))
        finally:
            locator.close()

    return asyncio.run(run())


def test_the_nearest_repository_is_the_project(tmp_path: Path) -> None:
    """A directory belongs to the innermost repository around it."""
    outer = repository(tmp_path / "outer")
    inner = repository(outer / "vendor" / "inner", "ref: refs/heads/feature/x\n")
    (inner / "src").mkdir()
    assert located(inner / "src") == Observations(project_root=str(inner), branch="feature/x")
    assert located(outer / "vendor") == Observations(project_root=str(outer), branch="main")


def test_without_a_repository_the_directory_is_the_project(tmp_path: Path) -> None:
    """No parent directory has a `.git`."""
    assert locate_project(str(tmp_path / "plain")) == Observations(project_root=str(tmp_path / "plain"))


def test_a_missing_directory_is_its_own_project() -> None:
    """It may have been removed, or be on another machine."""
    assert located("/no/such/place") == Observations(project_root="/no/such/place")


def test_a_worktree_has_its_own_branch(tmp_path: Path) -> None:
    """In a worktree `.git` is a file that names the directory of HEAD."""
    (tmp_path / "main" / ".git" / "worktrees" / "fix").mkdir(parents=True)
    (tmp_path / "main" / ".git" / "worktrees" / "fix" / "HEAD").write_text("ref: refs/heads/fix\n")
    (tmp_path / "fix").mkdir()
    (tmp_path / "fix" / ".git").write_text(f"gitdir: {tmp_path}/main/.git/worktrees/fix\n")
    assert located(tmp_path / "fix") == Observations(project_root=str(tmp_path / "fix"), branch="fix")


def test_a_worktree_names_its_repository(tmp_path: Path) -> None:
    """A bare repository is named by its directory, or by the directory around it. One of a submodule is on its own."""
    shared = ("shop/.git", "shop/.bare", "shop.git", "shop/.git/modules/lib")
    expected = ("shop", "shop", "shop.git", None)
    for number, (folder, root) in enumerate(zip(shared, expected, strict=True)):
        git = tmp_path / folder / "worktrees" / f"fix{number}"
        git.mkdir(parents=True)
        (git / "HEAD").write_text("ref: refs/heads/fix\n")
        (git / "commondir").write_text("../..\n")
        (tmp_path / folder / "refs/heads").mkdir(parents=True)
        (tmp_path / folder / "refs/heads/main").write_text(f"{str(number) * 40}\n")
        (tmp_path / f"fix{number}").mkdir()
        (tmp_path / f"fix{number}" / ".git").write_text(f"gitdir: {git}\n")
        found = located(tmp_path / f"fix{number}")
        assert found.project_root == str(tmp_path / f"fix{number}")
        assert found.repository_root == (str(tmp_path / root) if root else None)
        assert branch_commit(str(tmp_path / f"fix{number}"), "main") == str(number) * 40


def test_the_git_file_of_a_submodule_has_a_relative_path(tmp_path: Path) -> None:
    """It is relative to the submodule."""
    (tmp_path / ".git" / "modules" / "lib").mkdir(parents=True)
    (tmp_path / ".git" / "modules" / "lib" / "HEAD").write_text("ref: refs/heads/stable\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / ".git").write_text("gitdir: ../.git/modules/lib\n")
    assert located(tmp_path / "lib").branch == "stable"


@pytest.mark.parametrize(
    ("head", "branch"),
    [
        ("0123456789abcdef0123456789abcdef01234567\n", "0123456789ab"),
        ("", None),
        ("ref: refs/heads/" + "x" * 5_000, "x" * 200),
    ],
)
def test_a_head_without_a_branch(tmp_path: Path, head: str, branch: str | None) -> None:
    """A detached HEAD shows the commit, an empty one nothing, and long names are truncated."""
    assert located(repository(tmp_path, head)).branch == branch


def test_head_must_be_a_regular_file(tmp_path: Path) -> None:
    """A pipe does not block; a directory and invalid UTF-8 are ignored."""
    root = repository(tmp_path / "pipe")
    (root / ".git" / "HEAD").unlink()
    os.mkfifo(root / ".git" / "HEAD")
    assert located(root) == Observations(project_root=str(root))
    root = repository(tmp_path / "directory")
    (root / ".git" / "HEAD").unlink()
    (root / ".git" / "HEAD").mkdir()
    assert located(root) == Observations(project_root=str(root))
    root = repository(tmp_path / "bytes")
    (root / ".git" / "HEAD").write_bytes(b"\xff\xfe\x00")
    assert located(root).project_root == str(root)


@pytest.mark.parametrize("directory", ["relative/path", "~", "C:\\work", "/tmp/\0evil", "\0"])
def test_a_path_that_is_not_absolute_is_used_as_it_is(directory: str) -> None:
    """A directory that cannot be read is its own project."""
    assert located(directory) == Observations(project_root=directory)


@pytest.mark.parametrize("directory", [None, ""])
def test_without_a_directory_there_is_no_project(directory: str | None) -> None:
    """The payload names no directory."""
    assert located(directory) == Observations()


def test_paths_are_normalized(tmp_path: Path) -> None:
    """Dots and doubled slashes lead to the same project."""
    root = repository(tmp_path / "app")
    (root / "src").mkdir()
    assert located(f"{root}/src/../src//.") == Observations(project_root=str(root), branch="main")


def test_locations_are_cached(tmp_path: Path) -> None:
    """A hundred hooks in one directory read the disk once."""
    root = repository(tmp_path)

    async def run() -> tuple[Observations, Observations]:
        locator = ProjectLocator()
        first = await locator(str(root))
        (root / ".git" / "HEAD").write_text("ref: refs/heads/other\n")
        second = await locator(str(root))
        locator.close()
        return first, second

    first, second = asyncio.run(run())
    assert first == second == Observations(project_root=str(root), branch="main")


COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_the_commit_of_a_branch(tmp_path: Path) -> None:
    """In the file of the branch, or among the packed references."""
    loose, packed = repository(tmp_path / "loose"), repository(tmp_path / "packed")
    (loose / ".git" / "refs" / "heads").mkdir(parents=True)
    (loose / ".git" / "refs" / "heads" / "main").write_text(f"{COMMIT}\n")
    (packed / ".git" / "packed-refs").write_text(f"# pack-refs\n{'f' * 40} refs/heads/mai\n{COMMIT} refs/heads/main\n")
    assert [located(root).commit for root in (loose, packed)] == [COMMIT, COMMIT]


def test_the_commit_of_a_worktree(tmp_path: Path) -> None:
    """Its branches are in the directory that all worktrees share."""
    git = repository(tmp_path / "main") / ".git"
    (git / "worktrees" / "fix").mkdir(parents=True)
    (git / "worktrees" / "fix" / "HEAD").write_text("ref: refs/heads/fix\n")
    (git / "worktrees" / "fix" / "commondir").write_text("../..\n")
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "refs" / "heads" / "fix").write_text(COMMIT)
    (tmp_path / "fix").mkdir()
    (tmp_path / "fix" / ".git").write_text(f"gitdir: {git}/worktrees/fix\n")
    assert located(tmp_path / "fix").commit == COMMIT


def test_a_detached_head_is_its_commit(tmp_path: Path) -> None:
    """The branch is the start of the hash."""
    found = located(repository(tmp_path, COMMIT))
    assert (found.branch, found.commit) == (COMMIT[:12], COMMIT)


@pytest.mark.parametrize("head", ["ref: refs/heads/../../secret", "ref: refs/heads/none", "nonsense", ""])
def test_an_unknown_commit(tmp_path: Path, head: str) -> None:
    """A reference that leaves the directory is not followed."""
    (tmp_path / "secret").write_text(COMMIT)
    assert located(repository(tmp_path, head)).commit is None
