"""What people do with the worktree of an agent, in a real repository."""

from pathlib import Path

import msgspec
import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.worktrees.of_agent import WorktreeChange, change_worktree, plan_worktree
from tests.surfaces.worktrees.conftest import Project, project

__all__ = ["project"]


def agent(path: Path, state: str = "ended") -> Json:
    """An agent in a worktree."""
    return {"name": "login", "host": "laptop", "state": state, "worktree": {"root": str(path)}}


def change(agent: Json, what: str, **more: object) -> str:
    """Change its worktree, in which no other agent works."""
    return change_worktree(agent, msgspec.convert({"what": what, **more}, WorktreeChange), [agent])


def test_work_is_merged_and_the_worktree_removed(project: Project) -> None:
    """The results are sentences."""
    path = project.add("login")
    project.commit_in(path, "a.txt", "a")
    assert change(agent(path, "working"), "merge") == "Merged 1 commit of login into main."
    assert change(agent(path), "rebase") == "Nothing to rebase: login has all commits of main."
    assert change(agent(path), "remove") == f"Removed {path} and the branch login."
    assert not path.exists()


def test_a_running_agent_is_not_disturbed(project: Project) -> None:
    """Its branch is not rebased while it works, and its worktree is not removed before it ends."""
    path = project.add("login")
    with pytest.raises(BadRequest, match="login works in"):
        change(agent(path, "working"), "rebase")
    with pytest.raises(BadRequest, match="login runs in"):
        change(agent(path, "idle"), "remove")


def test_ignored_files_are_not_deleted_without_a_list(project: Project) -> None:
    """The command shows them before it asks."""
    project.write(".gitignore", ".env\n", at=1001)
    project.commit("Ignore", at=1001)
    path = project.add("login")
    (path / ".env").write_text("x")
    with pytest.raises(BadRequest, match=r"would be deleted: \.env"):
        change(agent(path), "remove")
    assert (path / ".env").exists()
    plan = plan_worktree(agent(path), [])
    assert plan.removal.ignored == (".env",)
    assert plan.removal.deletes[-1] == "With files that git ignores: .env"
    change(agent(path), "remove", ignored=list(plan.removal.ignored))
    assert not path.exists()


def test_the_plan_says_why_a_worktree_cannot_be_removed(project: Project) -> None:
    """An agent runs in it, or commits are not merged; without the branch, nothing would be lost."""
    path = project.add("login")
    project.commit_in(path, "a.txt", "a")
    assert "login runs in" in plan_worktree(agent(path), [agent(path, "idle")]).removal.problem
    plan = plan_worktree(agent(path), [])
    assert plan.status == "1 commit ahead of main"
    assert "not in main" in plan.removal.problem
    assert plan.directory_removal.deletes == [f"Directory: {path}", "The branch login is kept."]


def test_commits_are_merged_although_files_are_not_committed(project: Project) -> None:
    """Only if the request says so."""
    path = project.add("login")
    project.commit_in(path, "a.txt", "a")
    (path / "b.txt").write_text("b")
    with pytest.raises(BadRequest, match="not committed"):
        change(agent(path), "merge")
    assert change(agent(path), "merge", committed=True) == "Merged 1 commit of login into main."


def test_a_worktree_of_another_machine(tmp_path: Path) -> None:
    """It cannot be changed here."""
    with pytest.raises(BadRequest, match="not on this machine"):
        change(agent(tmp_path / "far"), "merge")
