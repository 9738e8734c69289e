"""Worktrees for agents, in real repositories."""

from pathlib import Path

import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.inputs.repository.worktrees import find_base
from claude_headspace.surfaces.worktrees.create import prepare_worktree
from tests.surfaces.worktrees.conftest import Project


def refused(directory: Path, name: str = "login", base: str | None = None) -> BadRequest:
    """The error of a worktree that is not created."""
    with pytest.raises(BadRequest) as caught:
        prepare_worktree(str(directory), name, base)
    assert caught.value.hint
    return caught.value


def test_a_worktree_has_its_own_branch_and_remembers_its_base(project: Project) -> None:
    """It is next to the repository, at the commit of the base."""
    found = prepare_worktree(str(project.root), "login", None)
    assert found.path == str(project.root.parent / "shop-worktrees" / "login")
    assert (found.branch, found.is_new, found.notes) == ("login", True, ())
    assert project.git("-C", found.path, "rev-parse", "HEAD") == project.first
    assert find_base(found.path, "login") == "main"


def test_a_name_is_chosen_if_none_is_given(project: Project) -> None:
    """It is a name for an agent."""
    found = prepare_worktree(str(project.root), "", None)
    assert len(found.branch.split("-")) >= 2
    assert Path(found.path).name == found.branch


def test_a_branch_with_a_slash_is_one_directory(project: Project) -> None:
    """All worktrees of a project are in one directory."""
    assert project.add("feature/login").name == "feature-login"


def test_a_worktree_that_exists_is_used_as_it_is(project: Project) -> None:
    """Nothing in it changes."""
    path = project.add("login")
    (path / "draft.txt").write_text("kept")
    found = prepare_worktree(str(project.root), "login", None)
    assert (found.path, found.is_new) == (str(path), False)
    assert (path / "draft.txt").read_text() == "kept"


def test_an_existing_branch_gets_a_worktree_with_its_commits(project: Project) -> None:
    """The branch is not reset to the base."""
    project.git("branch", "login")
    project.git("checkout", "--quiet", "login")
    commit = project.commit_in(project.root, "a.txt", "a")
    project.git("checkout", "--quiet", "main")
    path = project.add("login")
    assert project.git("-C", str(path), "rev-parse", "HEAD") == commit
    assert find_base(str(path), "login") == "main"


def test_a_worktree_can_start_from_another_branch(project: Project) -> None:
    """Also if HEAD is detached."""
    project.git("branch", "stable")
    project.git("checkout", "--quiet", "--detach")
    found = prepare_worktree(str(project.root), "fix", "stable")
    assert find_base(found.path, "fix") == "stable"


def test_what_stays_behind_is_said(project: Project) -> None:
    """Uncommitted files of the current checkout are not in the new one."""
    (project.root / "draft.txt").write_text("x")
    found = prepare_worktree(str(project.root), "login", None)
    assert found.notes == (f"Not in it: 1 uncommitted file of {project.root}.",)


def test_empty_submodules_are_announced(project: Project, tmp_path: Path) -> None:
    """Git does not fill them in a new worktree."""
    inner = Project(tmp_path / "inner")
    project.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(inner.root), "inner")
    project.commit("Add a submodule", at=1001)
    assert "git submodule update --init" in prepare_worktree(str(project.root), "login", None).notes[0]


def test_a_directory_without_a_repository_is_refused(project: Project, tmp_path: Path) -> None:
    """With the next step."""
    (tmp_path / "plain").mkdir()
    assert refused(tmp_path / "plain").code == "no_repository"


def test_a_bare_repository_is_refused_but_its_worktrees_work(project: Project, tmp_path: Path) -> None:
    """A new worktree is next to the bare repository."""
    bare = tmp_path / "bare" / ".bare"
    project.git("clone", "--quiet", "--bare", str(project.root), str(bare))
    assert refused(bare).code == "no_work_tree"
    project.git("-C", str(bare), "worktree", "add", "--quiet", str(bare.parent / "main"), "main")
    found = prepare_worktree(str(bare.parent / "main"), "login", None)
    assert found.path == str(tmp_path / "bare-worktrees" / "login")
    assert find_base(found.path, "login") == "main"


def test_a_submodule_is_refused(project: Project, tmp_path: Path) -> None:
    """Its git directory belongs to the outer repository."""
    inner = Project(tmp_path / "inner")
    project.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(inner.root), "inner")
    assert refused(project.root / "inner").code == "submodule"


def test_a_repository_without_a_commit_is_refused(project: Project, tmp_path: Path) -> None:
    """There is nothing to start from."""
    project.git("init", "--quiet", str(tmp_path / "empty"))
    assert refused(tmp_path / "empty").code == "no_commit"


def test_a_detached_head_needs_a_base(project: Project) -> None:
    """The work could not be merged anywhere."""
    project.git("checkout", "--quiet", "--detach")
    assert "--base" in refused(project.root).hint


@pytest.mark.parametrize("name", ["-x", "a b", "a..b", "HEAD", "a.lock"])
def test_names_that_are_no_branches_are_refused(project: Project, name: str) -> None:
    """Before git runs with them."""
    assert refused(project.root, name).code == "bad_name"


def test_the_branch_of_the_main_worktree_is_refused(project: Project) -> None:
    """It can be checked out only once."""
    assert refused(project.root, "main").code == "checked_out"


def test_a_base_must_be_a_branch(project: Project) -> None:
    """A commit or a tag cannot be merged into."""
    project.git("tag", "v1")
    assert refused(project.root, base="v1").code == "no_branch"


def test_a_directory_that_exists_is_not_used(project: Project) -> None:
    """It may contain something else."""
    other = project.root.parent / "shop-worktrees" / "login"
    other.mkdir(parents=True)
    assert refused(project.root).code == "exists"
    assert other.exists()


def test_a_failed_hook_leaves_nothing(project: Project) -> None:
    """Git runs `post-checkout` after it created everything."""
    project.hook("post-checkout", "echo no disk >&2; exit 1")
    error = refused(project.root)
    assert "no disk" in error.message
    assert project.branches() == ["main"]
    assert not (project.root.parent / "shop-worktrees" / "login").exists()


def test_files_of_a_failed_hook_are_kept(project: Project) -> None:
    """They may be what explains the failure."""
    project.hook("post-checkout", "echo log > hook.log; exit 1")
    assert "contains files" in refused(project.root).hint
    assert (project.root.parent / "shop-worktrees/login/hook.log").exists()
