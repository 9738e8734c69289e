"""What `top` does with the worktree of an agent, in a real repository."""

from pathlib import Path

import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.surfaces.tui.worktree_actions import change_worktree
from tests.surfaces.worktrees.conftest import Project, project

__all__ = ["project"]


def agent(path: Path, state: str = "ended") -> dict[str, object]:
    """An agent in a worktree."""
    return {"name": "login", "host": "laptop", "state": state, "worktree": {"root": str(path)}}


def test_work_is_merged_and_the_worktree_removed(project: Project) -> None:
    """The results are sentences."""
    path = project.add("login")
    project.commit_in(path, "a.txt", "a")
    assert change_worktree(agent(path, "working"), "merge") == "Merged 1 commit of login into main."
    assert change_worktree(agent(path), "rebase") == "Nothing to rebase: login has all commits of main."
    assert change_worktree(agent(path), "remove") == f"Removed {path} and the branch login."
    assert not path.exists()


def test_a_running_agent_is_not_disturbed(project: Project) -> None:
    """Its branch is not rebased while it works, and its worktree is not removed before it ends."""
    path = project.add("login")
    with pytest.raises(BadRequest, match="is working"):
        change_worktree(agent(path, "working"), "rebase")
    with pytest.raises(BadRequest, match="still running"):
        change_worktree(agent(path, "idle"), "remove")


def test_ignored_files_are_not_deleted_without_a_list(project: Project) -> None:
    """The command shows them before it asks."""
    project.write(".gitignore", ".env\n", at=1001)
    project.commit("Ignore", at=1001)
    path = project.add("login")
    (path / ".env").write_text("x")
    with pytest.raises(BadRequest, match=r"would be deleted: \.env"):
        change_worktree(agent(path), "remove")
    assert (path / ".env").exists()


def test_a_worktree_of_another_machine(tmp_path: Path) -> None:
    """It cannot be changed here."""
    with pytest.raises(BadRequest, match="not on this machine"):
        change_worktree(agent(tmp_path / "far"), "merge")
