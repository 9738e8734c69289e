"""A repository with its worktrees, and git without the settings of this machine."""

import os
from pathlib import Path

import pytest

from claude_headspace.inputs.repository.worktrees import Worktree, list_worktrees
from claude_headspace.surfaces.worktrees.create import prepare_worktree
from tests.inputs.repository.repositories import Repository


class Project(Repository):
    """A repository on the branch main, whose worktrees are next to it."""

    def add(self, name: str) -> Path:
        """Create a worktree for a branch."""
        return Path(prepare_worktree(str(self.root), name, None).path)

    def commit_in(self, path: Path, file: str, text: str) -> str:
        """Commit a file in a worktree; the commit."""
        (path / file).write_text(text)
        self.git("-C", str(path), "add", "--all")
        self.git("-C", str(path), "commit", "--quiet", "--message", f"Change {file}")
        return self.git("-C", str(path), "rev-parse", "HEAD")

    def worktree(self, branch: str) -> Worktree:
        """The worktree with a branch, as it is now."""
        return next(each for each in list_worktrees(str(self.root)) if each.branch == branch)

    def hook(self, name: str, script: str) -> None:
        """Install a hook."""
        file = self.root / ".git/hooks" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    def state(self) -> tuple[str, str, bool]:
        """The commit, the status and whether a merge is in progress: what a failed merge must not change."""
        merging = (self.root / ".git/MERGE_HEAD").exists()
        return self.git("rev-parse", "HEAD"), self.git("status", "--porcelain"), merging

    def branches(self) -> list[str]:
        """The names of the branches."""
        return self.git("for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with one commit."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    project = Project(tmp_path / "shop")
    project.git("config", "user.name", "Dev")
    project.git("config", "user.email", "dev@example.org")
    return project
