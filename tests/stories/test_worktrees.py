"""Agents in git worktrees: started with `run --worktree`, shown on the board, merged and removed. In a real tmux."""

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_headspace.surfaces.cli.output import READING_SECONDS
from tests.inputs.repository.repositories import Repository
from tests.support import running_daemon, wait_until
from tests.terminals import Terminal, needs_tmux, run_in, terminal

pytestmark = needs_tmux


@pytest.fixture(scope="module")
def tmux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """A shared terminal and its daemon."""
    folder = tmp_path_factory.mktemp("worktrees")
    with running_daemon(folder / "home") as daemon, terminal(folder, daemon) as made:
        yield made


def repository(tmux: Terminal, name: str) -> Repository:
    """A project of the terminal with one commit."""
    made = Repository(tmux.projects / name)
    made.git("config", "user.name", "Dev")
    made.git("config", "user.email", "dev@example.org")
    return made


def commit(tmux: Terminal, path: Path, file: str) -> None:
    """Commit a file in a worktree."""
    (path / file).write_text("work\n")
    for arguments in (("add", "--all"), ("commit", "--quiet", "--message", "Work")):
        subprocess.run(["git", "-C", path, *arguments], env=tmux.env, check=True)


def test_an_agent_works_in_its_own_worktree(tmux: Terminal) -> None:
    """When it ends, its work is merged and the worktree removed, in the same terminal. Nothing is left."""
    shop = repository(tmux, "shop")
    (shop.root / "web").mkdir()
    (shop.root / "web/page.txt").write_text("page\n")
    shop.commit("Add a directory", at=1001)
    pane = tmux.start("cd web; headspace run --worktree login; echo code $?; exec sh", project="shop")
    agent = tmux.agent_in(pane)
    path = tmux.projects / "shop-worktrees/login"
    assert (agent["name"], agent["cwd"], agent["branch"]) == ("login", str(path / "web"), "login")
    assert (agent["project"]["root"], agent["worktree"]["root"]) == (str(shop.root), str(path))
    commit(tmux, path, "login.txt")
    _wait_for_distance(tmux, agent["id"], base="main", ahead=1, behind=0, uncommitted=0)
    (path / "draft.txt").write_text("draft\n")
    tmux.keys(pane, "hello", "Enter")
    _wait_for_distance(tmux, agent["id"], base="main", ahead=1, behind=0, uncommitted=1)
    assert "shop (login ↑1 ±1)" in run_in(tmux, "list").stdout
    assert "1 commit ahead of main, 1 file not committed" in run_in(tmux, "show", "login").stdout
    tmux.keys(pane, "/exit 7", "Enter")
    tmux.wait_for(pane, "login: 1 commit ahead of main, 1 file not committed.")
    tmux.keys(pane, "d", "Enter")
    tmux.wait_for(pane, "1 file not committed: draft.txt")
    assert (path / "draft.txt").exists()
    (path / "draft.txt").unlink()
    tmux.keys(pane, "m", "Enter")
    tmux.wait_for(pane, "Merged 1 commit of login into main.")
    assert (shop.root / "login.txt").exists()
    tmux.keys(pane, "d", "Enter")
    tmux.wait_for(pane, "Remove it? [y/N]")
    asked = time.monotonic()
    wait_until(lambda: time.monotonic() > asked + READING_SECONDS, "the time to read the question")
    tmux.keys(pane, "y", "Enter")
    tmux.wait_for(pane, "code 7")
    assert not path.exists()
    assert shop.git("branch", "--list", "login") == ""
    wait_until(lambda: tmux.daemon.agent(agent["id"])["worktree"]["removed"], "the removal on the board")
    resumed = run_in(tmux, "resume", "login")
    assert (resumed.returncode, "no longer exists" in resumed.stderr) == (1, True)  # not in the repository instead
    assert tmux.daemon.verified()


def _wait_for_distance(tmux: Terminal, agent_id: str, **expected: object) -> None:
    """Wait until the board shows a distance."""
    wait_until(lambda: expected.items() <= tmux.daemon.agent(agent_id)["worktree"].items(), f"{expected}")


def test_a_detached_agent_is_not_asked(tmux: Terminal) -> None:
    """Its worktree stays, for the commands. They refuse while it runs."""
    api = repository(tmux, "api")
    script = f"cd {api.root}; headspace run --detached --worktree fix-1; exec sh"
    tmux.start(script, project="api")
    pane = wait_until(
        lambda: tmux.tmux("list-panes", "-t", "=fix-1", "-F", "#{pane_id}", check=False), "the session of the agent"
    )
    agent = tmux.agent_in(pane)
    path = tmux.projects / "api-worktrees/fix-1"
    assert agent["cwd"] == str(path)
    (listed,) = _json(tmux, api, "worktree", "list")
    assert (listed["branch"], listed["base"], listed["agents"]) == ("fix-1", "main", ["fix-1"])
    refused = in_directory(tmux, api, "worktree", "remove", "fix-1", "--yes")
    assert (refused.returncode, "fix-1 runs in" in refused.stderr) == (1, True)
    assert "`headspace stop fix-1`" in refused.stderr
    (api.root / ".git/info").mkdir(exist_ok=True)
    (api.root / ".git/info/exclude").write_text("*.secret\n")
    (path / "my.secret").write_text("x")
    tmux.keys(pane, "/exit", "Enter")
    wait_until(lambda: tmux.daemon.agent(agent["id"])["state"] == "ended", "the end of the agent")
    wait_until(lambda: "fix-1" not in tmux.tmux("list-sessions", "-F", "#{session_name}"), "the end of its session")
    asked = in_directory(tmux, api, "worktree", "remove", "fix-1")
    assert (asked.returncode, "--yes" in asked.stderr, path.exists()) == (1, True, True)
    assert "my.secret" in asked.stderr
    done = in_directory(tmux, api, "worktree", "remove", "fix-1", "--yes")
    assert done.stdout == f"Removed {path} and the branch fix-1. With files that git ignores: my.secret.\n"
    assert not path.exists()


def test_new_starts_an_agent_in_a_worktree(tmux: Terminal) -> None:
    """In a tmux session of its own, from another directory. One that cannot be started leaves no worktree."""
    wiki = repository(tmux, "wiki")
    done = run_in(tmux, "new", "--project", str(wiki.root), "--worktree", "search", "--json")
    assert done.returncode == 0, done.stderr
    agent = json.loads(done.stdout)
    path = tmux.projects / "wiki-worktrees/search"
    assert (agent["name"], agent["cwd"], agent["worktree"]["root"]) == ("search", str(path), str(path))
    refused = run_in(tmux, "new", "--project", str(wiki.root), "--worktree", "index", "--name", "search")
    assert refused.returncode != 0
    assert not (tmux.projects / "wiki-worktrees/index").exists()
    tmux.keys(agent["tmux"]["pane"], "/exit", "Enter")
    wait_until(lambda: tmux.daemon.agent(agent["id"])["state"] == "ended", "the end of the agent")
    assert path.exists()


def test_the_commands_find_a_worktree_by_its_exact_name(tmux: Terminal) -> None:
    """Another name is refused with the names that exist."""
    docs = repository(tmux, "docs")
    docs.git("worktree", "add", "--quiet", "-b", "links", str(tmux.projects / "links-directory"))
    refused = in_directory(tmux, docs, "worktree", "merge", "link")
    assert (refused.returncode, refused.stderr) == (1, "There is no worktree link.\nThere are: links.\n")
    commit(tmux, tmux.projects / "links-directory", "links.txt")
    merged = in_directory(tmux, docs, "worktree", "merge", "links-directory")
    assert merged.stdout == "Merged 1 commit of links into main.\n"
    again = in_directory(tmux, docs, "worktree", "merge", "links")
    assert again.stdout == "Nothing to merge: main has all commits of links.\n"
    rebased = in_directory(tmux, docs, "worktree", "rebase", "links")
    assert rebased.stdout == "Nothing to rebase: links has all commits of main.\n"


def test_a_worktree_is_removed_again_if_its_agent_is_rejected(tmux: Terminal) -> None:
    """The name is in use."""
    blog = repository(tmux, "blog")
    tmux.daemon.post("session-start", {"session_id": "taken", "cwd": "/projects/taken"})
    name = next(agent["name"] for agent in tmux.daemon.agents() if agent["session_id"] == "taken")
    refused = in_directory(tmux, blog, "run", "--here", "--worktree", "post", "--name", name)
    assert refused.returncode == 4
    assert not (tmux.projects / "blog-worktrees/post").exists()
    assert blog.git("branch", "--list", "post") == ""


def in_directory(tmux: Terminal, project: Repository, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of Headspace in a project."""
    return run_in(tmux, *arguments, directory=project.root)


def _json(tmux: Terminal, project: Repository, *arguments: str) -> list[dict[str, object]]:
    done = in_directory(tmux, project, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    found: list[dict[str, object]] = json.loads(done.stdout)
    return found
