"""Removing worktrees without losing work, in real repositories."""

import subprocess
import sys
from pathlib import Path

import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.inputs.repository.worktrees import list_worktrees
from claude_headspace.surfaces.worktrees.create import prepare_worktree
from claude_headspace.surfaces.worktrees.integrate import merge
from claude_headspace.surfaces.worktrees.remove import plan_removal, remove
from tests.surfaces.worktrees.conftest import Project


def refused(project: Project, path: Path, *, keep_branch: bool = False) -> BadRequest:
    """The error of a removal that deletes nothing."""
    worktree = next(each for each in list_worktrees(str(project.root)) if each.path == str(path))
    before = project.branches(), sorted(path.rglob("*"))
    with pytest.raises(BadRequest) as caught:
        plan_removal(worktree, keep_branch=keep_branch)
    assert (project.branches(), sorted(path.rglob("*"))) == before
    assert caught.value.hint
    return caught.value


def test_a_merged_worktree_is_removed_with_its_branch(project: Project) -> None:
    """Nothing is left behind, also no configuration."""
    path = project.add("login")
    commit = project.commit_in(path, "a.txt", "a")
    merge(project.worktree("login"))
    remove(plan_removal(project.worktree("login")))
    assert not path.exists()
    assert project.branches() == ["main"]
    assert project.git("rev-parse", "main") == commit
    assert "login" not in project.git("config", "--list", "--local")


def test_an_unused_worktree_is_removed(project: Project) -> None:
    """Without commits there is nothing to merge."""
    project.add("login")
    remove(plan_removal(project.worktree("login")))
    assert project.branches() == ["main"]


def test_the_directory_of_the_worktrees_goes_with_the_last_one(project: Project) -> None:
    """Not before, and not if there is anything else in it."""
    login, logout = project.add("login"), project.add("logout")
    remove(plan_removal(project.worktree("login")))
    assert logout.exists()
    remove(plan_removal(project.worktree("logout")))
    assert not login.parent.exists()
    (project.add("login").parent / "notes.txt").write_text("mine")
    remove(plan_removal(project.worktree("login")))
    assert (login.parent / "notes.txt").read_text() == "mine"


def test_a_directory_of_the_user_is_kept(project: Project) -> None:
    """It was configured, so it is not Headspace's to remove."""
    path = Path(prepare_worktree(str(project.root), "login", None, "../trees").path)
    remove(plan_removal(project.worktree("login")))
    assert (path.exists(), path.parent.exists()) == (False, True)


def test_unmerged_commits_are_kept(project: Project) -> None:
    """Also if only their branch would remain, unless that is wanted."""
    path = project.add("login")
    commit = project.commit_in(path, "a.txt", "a")
    assert refused(project, path).code == "unmerged"
    remove(plan_removal(project.worktree("login"), keep_branch=True))
    assert not path.exists()
    assert project.git("rev-parse", "login") == commit


@pytest.mark.parametrize("keep_branch", [False, True])
@pytest.mark.parametrize("change", ["edited", "staged", "untracked", "deleted"])
def test_uncommitted_work_is_kept(project: Project, change: str, keep_branch: bool) -> None:
    """Whatever git is configured to show."""
    path = project.add("login")
    project.git("config", "status.showUntrackedFiles", "no")
    if change == "deleted":
        (path / "kept.txt").unlink()
    else:
        (path / ("kept.txt" if change == "edited" else "new.txt")).write_text("work")
    if change == "staged":
        project.git("-C", str(path), "add", "new.txt")
    assert refused(project, path, keep_branch=keep_branch).code == "uncommitted"


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_changes_that_are_hidden_from_git_are_kept(project: Project, flag: str) -> None:
    """Git itself would delete them."""
    path = project.add("login")
    project.git("-C", str(path), "update-index", flag, "kept.txt")
    (path / "kept.txt").write_text("work")
    assert refused(project, path).code == "uncommitted"


def test_ignored_files_are_named(project: Project) -> None:
    """The user decides, because they are deleted."""
    project.write(".gitignore", "build/\n.env\n", at=1001)
    project.commit("Ignore", at=1001)
    path = project.add("login")
    (path / "build").mkdir()
    (path / "build/a.o").write_text("x")
    (path / ".env").write_text("x")
    assert set(plan_removal(project.worktree("login")).ignored) == {"build/", ".env"}


def test_a_repository_in_an_ignored_directory_is_kept(project: Project) -> None:
    """Its commits may be nowhere else."""
    project.write(".gitignore", "vendor/\n", at=1001)
    project.commit("Ignore", at=1001)
    path = project.add("login")
    Project(path / "vendor")
    assert refused(project, path).code == "repositories"


def test_a_repository_in_the_worktree_is_kept(project: Project) -> None:
    """Git lists it as untracked."""
    path = project.add("login")
    Project(path / "other")
    assert refused(project, path).code == "uncommitted"


def test_commits_of_a_detached_head_are_kept(project: Project) -> None:
    """They are on no branch."""
    path = project.add("login")
    project.git("-C", str(path), "checkout", "--quiet", "--detach")
    project.commit_in(path, "a.txt", "a")
    assert refused(project, path).code == "detached"
    project.git("-C", str(path), "branch", "rescued")
    detached = next(each for each in list_worktrees(str(project.root)) if each.path == str(path))
    remove(plan_removal(detached))
    assert not path.exists()
    assert project.branches() == ["login", "main", "rescued"]


def test_commits_in_submodules_are_kept(project: Project, tmp_path: Path) -> None:
    """Their git directory is in the one of the worktree."""
    inner = Project(tmp_path / "inner")
    project.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(inner.root), "inner")
    project.commit("Add a submodule", at=1001)
    path = project.add("login")
    project.git("-C", str(path), "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
    assert refused(project, path).code == "submodules"


def test_an_operation_in_progress_is_kept(project: Project) -> None:
    """A rebase that stopped has commits that are on no branch."""
    path = project.add("login")
    project.git("-C", str(path), "bisect", "start")
    assert refused(project, path).code == "in_progress"


def test_a_locked_worktree_is_kept(project: Project) -> None:
    """Somebody locked it for a reason."""
    path = project.add("login")
    project.git("worktree", "lock", str(path))
    assert refused(project, path).code == "locked"


def test_the_repository_itself_is_kept(project: Project) -> None:
    """Only worktrees that were added can be removed."""
    assert refused(project, project.root).code == "main_worktree"


def test_a_worktree_in_which_a_program_runs_is_kept(project: Project) -> None:
    """Such as the client of an agent."""
    path = project.add("login")
    program = subprocess.Popen([sys.executable, "-c", "input()"], cwd=path, stdin=subprocess.PIPE)
    try:
        assert str(program.pid) in refused(project, path).message
    finally:
        program.communicate()


def test_work_that_appears_after_the_plan_is_kept(project: Project) -> None:
    """Everything is checked again before the removal."""
    path = project.add("login")
    removal = plan_removal(project.worktree("login"))
    (path / "new.txt").write_text("work")
    with pytest.raises(BadRequest, match="not committed"):
        remove(removal)
    (path / "new.txt").unlink()
    commit = project.commit_in(path, "a.txt", "a")
    with pytest.raises(BadRequest, match="not in main"):
        remove(removal)
    assert project.git("rev-parse", "login") == commit
    assert (path / "a.txt").exists()


def test_a_worktree_whose_directory_was_deleted(project: Project) -> None:
    """Its branch is deleted only if it is merged."""
    path = project.add("login")
    project.commit_in(path, "a.txt", "a")
    path.rename(project.root.parent / "moved")
    with pytest.raises(BadRequest, match="not in main"):
        plan_removal(project.worktree("login"))
    remove(plan_removal(project.worktree("login"), keep_branch=True))
    assert "login" in project.branches()
    assert len(list_worktrees(str(project.root))) == 1
