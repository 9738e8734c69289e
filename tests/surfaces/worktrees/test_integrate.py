"""Merging and rebasing the work of worktrees, in real repositories."""

import os
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.inputs.repository.worktrees import list_worktrees
from claude_headspace.surfaces.worktrees.integrate import merge, rebase
from tests.surfaces.worktrees.conftest import Project


def merge_refused(project: Project, branch: str = "login") -> BadRequest:
    """The error of a merge that changes nothing."""
    before = project.state(), project.git("rev-parse", branch)
    with pytest.raises(BadRequest) as caught:
        merge(project.worktree(branch))
    assert (project.state(), project.git("rev-parse", branch)) == before
    assert caught.value.hint
    return caught.value


def test_work_is_merged_into_the_base(project: Project) -> None:
    """As a fast-forward if the base did not change."""
    path = project.add("login")
    commit = project.commit_in(path, "a.txt", "a")
    assert merge(project.worktree("login")) == ("login", "main", 1)
    assert project.state() == (commit, "", False)


def test_files_that_are_not_committed_are_refused_with_what_helps(project: Project) -> None:
    """Only a merge can leave them where they are."""
    path = project.add("login")
    project.commit_in(path, "a.txt", "a")
    (path / "draft.txt").write_text("later")
    assert "--committed" in merge_refused(project).hint
    with pytest.raises(BadRequest) as caught:
        rebase(project.worktree("login"))
    assert (caught.value.code, "--committed" in caught.value.hint) == ("uncommitted", False)


def test_both_sides_are_merged(project: Project) -> None:
    """With a merge commit, whatever the repository configures."""
    path = project.add("login")
    commit = project.commit_in(path, "a.txt", "a")
    project.commit_in(project.root, "b.txt", "b")
    project.git("config", "branch.main.mergeOptions", "--squash")
    project.git("config", "merge.ff", "only")
    project.git("tag", "login", "main")
    merge(project.worktree("login"))
    assert project.git("log", "-1", "--format=%s %P").endswith(commit)
    assert (project.root / "a.txt").exists()
    assert project.git("log", "-1", "--format=%s") == "Merge branch 'login'"


def test_nothing_to_merge(project: Project) -> None:
    """A branch without commits is no error."""
    project.add("login")
    assert merge(project.worktree("login")).commits == 0


@pytest.mark.parametrize("can_predict", [True, False])
def test_conflicts_change_nothing(project: Project, monkeypatch: pytest.MonkeyPatch, can_predict: bool) -> None:
    """Neither if git can predict them, nor if the merge has to be aborted."""
    path = project.add("login")
    project.commit_in(path, "kept.txt", "theirs")
    project.commit_in(project.root, "kept.txt", "ours")
    (project.root / "untracked.txt").write_text("mine")
    if not can_predict:
        _use_old_git(project, monkeypatch)
    error = merge_refused(project)
    assert "kept.txt" in error.message
    assert (project.root / "kept.txt").read_text() == "ours"
    assert (project.root / "untracked.txt").read_text() == "mine"


def _use_old_git(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A git that cannot merge without files: `merge-tree` is an error of usage."""
    folder = project.root.parent / "programs"
    folder.mkdir()
    refuse = 'for word; do [ "$word" = merge-tree ] && exit 129; done'
    (folder / "git").write_text(f'#!/bin/sh\n{refuse}\nexec {shutil.which("git")} "$@"\n')
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.mark.parametrize("hook", ["pre-merge-commit", "commit-msg"])
def test_a_hook_that_refuses_the_merge_leaves_the_base_as_it_was(project: Project, hook: str) -> None:
    """Git would stay in the middle of the merge."""
    path = project.add("login")
    project.commit_in(path, "a.txt", "a")
    project.commit_in(project.root, "b.txt", "b")
    project.hook(hook, "echo not today >&2; exit 1")
    assert "not today" in merge_refused(project).message
    assert not (project.root / "a.txt").exists()


def test_an_interrupted_merge_is_undone(project: Project) -> None:
    """Ctrl+C while a hook of the merge runs."""
    path = project.add("login")
    project.commit_in(path, "a.txt", "a")
    project.commit_in(project.root, "b.txt", "b")
    started = project.root.parent / "started"
    project.hook("pre-merge-commit", f"touch {started}; exec sleep 60")
    before = project.state()

    def interrupt() -> None:
        while not started.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        merge(project.worktree("login"))
    assert project.state() == before
    assert not (project.root / ".git/index.lock").exists()


def test_uncommitted_work_is_not_forgotten(project: Project) -> None:
    """A merge of the commits alone must be wanted."""
    path = project.add("login")
    project.commit_in(path, "a.txt", "a")
    (path / "new.txt").write_text("x")
    assert "new.txt" in merge_refused(project).message
    merge(project.worktree("login"), committed_only=True)
    assert (project.root / "a.txt").exists()
    assert (path / "new.txt").read_text() == "x"


def test_a_base_with_uncommitted_changes_is_refused(project: Project) -> None:
    """They could not be told from the merge afterwards."""
    path = project.add("login")
    project.commit_in(path, "a.txt", "a")
    (project.root / "kept.txt").write_text("edited")
    assert merge_refused(project).code == "base_changed"
    assert (project.root / "kept.txt").read_text() == "edited"


def test_an_untracked_file_of_the_base_is_not_overwritten(project: Project) -> None:
    """Git refuses, and everything stays."""
    path = project.add("login")
    project.commit_in(path, "a.txt", "a")
    (project.root / "a.txt").write_text("mine")
    assert merge_refused(project).code == "merge_failed"
    assert (project.root / "a.txt").read_text() == "mine"


def test_an_operation_in_progress_is_refused(project: Project) -> None:
    """In the checkout of the base."""
    path = project.add("login")
    project.commit_in(path, "a.txt", "a")
    project.git("bisect", "start")
    assert merge_refused(project).code == "in_progress"


def test_a_base_that_is_checked_out_nowhere_moves_only_forward(project: Project) -> None:
    """A real merge needs a checkout."""
    first, second = project.add("first"), project.add("second")
    commit = project.commit_in(first, "a.txt", "a")
    project.commit_in(second, "b.txt", "b")
    project.git("checkout", "--quiet", "-b", "elsewhere")
    merge(project.worktree("first"))
    assert project.git("rev-parse", "main") == commit
    assert merge_refused(project, "second").code == "not_checked_out"


def test_a_branch_without_a_base_is_refused(project: Project) -> None:
    """The base was deleted."""
    path = project.add("login")
    project.commit_in(path, "a.txt", "a")
    project.git("config", "branch.login.headspaceBase", "gone")
    assert merge_refused(project).code == "no_base"


def test_a_detached_worktree_is_refused(project: Project) -> None:
    """It has no branch to merge."""
    path = project.add("login")
    project.git("-C", str(path), "checkout", "--quiet", "--detach")
    detached = next(each for each in list_worktrees(str(project.root)) if each.path == str(path))
    for work in (merge, rebase):
        with pytest.raises(BadRequest, match="detached"):
            work(detached)


def rebase_refused(project: Project, path: Path) -> BadRequest:
    """The error of a rebase that changes nothing."""
    status = ("-C", str(path), "status", "--porcelain", "--branch")
    before = project.git("rev-parse", "login"), project.git(*status)
    with pytest.raises(BadRequest) as caught:
        rebase(project.worktree("login"))
    assert (project.git("rev-parse", "login"), project.git(*status)) == before
    return caught.value


def test_a_branch_is_rebased_onto_its_base(project: Project) -> None:
    """The base does not change."""
    path = project.add("login")
    project.commit_in(path, "a.txt", "a")
    base = project.commit_in(project.root, "b.txt", "b")
    assert rebase(project.worktree("login")) == ("login", "main", 1)
    assert project.git("rev-parse", "login~1") == base
    assert project.git("rev-parse", "main") == base


def test_a_rebase_with_conflicts_is_undone(project: Project) -> None:
    """The branch is where it was, on its branch."""
    path = project.add("login")
    project.commit_in(path, "kept.txt", "theirs")
    project.commit_in(project.root, "kept.txt", "ours")
    refused = rebase_refused(project, path)
    assert refused.code == "conflicts"
    assert refused.message == "The rebase has conflicts in kept.txt, and was undone."
    assert (path / "kept.txt").read_text() == "theirs"


def test_a_rebase_with_uncommitted_changes_is_refused(project: Project) -> None:
    """Also if the user configured to stash them."""
    path = project.add("login")
    project.commit_in(project.root, "b.txt", "b")
    project.git("config", "rebase.autoStash", "true")
    (path / "kept.txt").write_text("edited")
    assert rebase_refused(project, path).code == "uncommitted"
    assert (path / "kept.txt").read_text() == "edited"


def test_a_branch_with_merges_is_not_rebased(project: Project) -> None:
    """The resolutions in its merges would be lost."""
    path = project.add("login")
    project.commit_in(path, "a.txt", "a")
    project.commit_in(project.root, "b.txt", "b")
    project.git("-C", str(path), "merge", "--quiet", "--no-edit", "main")
    project.commit_in(project.root, "c.txt", "c")
    assert rebase_refused(project, path).code == "has_merges"
