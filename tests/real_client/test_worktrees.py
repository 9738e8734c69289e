"""The real client in a git worktree: it commits there, and its work is merged and the worktree removed."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_headspace.surfaces.cli.output import READING_SECONDS
from tests.inputs.repository.repositories import Repository
from tests.real_client.model import bash, reply, text
from tests.real_client.workspace import Workspace, open_workspace
from tests.support import wait_until

COMMIT = "echo done > login.txt && git add login.txt && git commit -qm Login && echo later > draft.txt"
SCRIPT = {"Fix the login": [reply(bash(COMMIT)), reply(text("The login works."))]}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A workspace with a scripted model."""
    with open_workspace(tmp_path, SCRIPT) as made:
        yield made


def test_the_real_client_works_in_a_worktree(workspace: Workspace) -> None:
    """Its files are apart from the repository until they are merged; uncommitted work is not removed."""
    shop = Repository(workspace.home.project)
    shop.git("config", "user.name", "Dev")
    shop.git("config", "user.email", "dev@example.org")
    path = shop.root.parent / f"{shop.root.name}-worktrees" / "login"
    options = ("--permission-mode", "acceptEdits", "--allowedTools", "Bash", "--prompt", "Fix the login")
    pane = workspace.in_terminal("run", "--here", "--worktree", "login", *options)
    agent = workspace.agent("idle", name="login")
    wait_until((path / "draft.txt").exists, "the work of the agent")
    assert not (shop.root / "login.txt").exists()
    assert (agent["project"]["root"], agent["worktree"]["root"]) == (str(shop.root), str(path))
    expected = {"base": "main", "ahead": 1, "behind": 0, "uncommitted": 1}
    wait_until(lambda: expected.items() <= workspace.daemon.agent("login")["worktree"].items(), "the distance")
    changed = workspace.daemon.get("/api/agents/login/changes").json()
    assert {file["path"] for file in changed["files"]} == {"login.txt", "draft.txt"}
    workspace.keys(pane, "/exit", "Enter")
    workspace.shows(pane, "1 commit ahead of main, 1 file not committed")
    workspace.agent("ended", name="login")
    workspace.keys(pane, "d", "Enter")
    workspace.shows(pane, "not committed: draft.txt")
    assert (path / "draft.txt").read_text() == "later\n"
    (path / "draft.txt").unlink()
    workspace.keys(pane, "m", "Enter")
    workspace.shows(pane, "Merged 1 commit of login into main.")
    workspace.keys(pane, "d", "Enter")
    workspace.shows(pane, "Remove it?")
    asked = time.monotonic()
    wait_until(lambda: time.monotonic() > asked + READING_SECONDS, "the time to read the question")
    workspace.keys(pane, "y", "Enter")
    wait_until(lambda: not path.exists(), "the removal")
    assert (shop.root / "login.txt").read_text() == "done\n"
    wait_until(lambda: shop.git("branch", "--list", "login") == "", "the removal of the branch")
    wait_until(lambda: workspace.daemon.agent("login")["worktree"]["removed"], "the removal on the board")
