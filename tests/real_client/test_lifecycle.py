"""The life of agents with the real client in a real terminal: new, prompt, fork, crash, restart, stop.

Also in a git worktree, from its creation to its removal.
"""

import json
import os
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.inputs.repository.repositories import Repository
from tests.real_client.model import bash, reply, text
from tests.real_client.program import VERSIONS
from tests.real_client.workspace import Workspace, open_workspace
from tests.support import wait_until

SCRIPT = {
    "Say hello": [reply(text("Hello, I am here."))],
    "Count to two": [reply(text("One, two."))],
    "Try it differently": [reply(text("Differently."))],
    "Go on": [reply(text("I went on."))],
    "Never end": [reply(text("This takes long."), held="never")],
    "Fix the login": [
        reply(bash("echo done > login.txt && git add login.txt && git commit -qm Login")),
        reply(text("The login works.")),
    ],
    "Start the logout": [reply(bash("echo later > logout.txt")), reply(text("The logout is a draft."))],
}


def idle_after(workspace: Workspace, name: str, *prompts: str) -> dict[str, Any]:
    """The agent, once it is idle and has had these prompts."""

    def found() -> list[dict[str, Any]]:
        prompted = {each["id"] for each in workspace.daemon.agents() if workspace.user_turns(each) == list(prompts)}
        agents = [each for each in workspace.daemon.agents() if each["id"] in prompted]  # read after its prompts
        return [each for each in agents if each["name"] == name and each["state"] == "idle"]

    return wait_until(found, f"{name} after {prompts}, among {workspace.daemon.agents()}")[0]


def left_behind(workspace: Workspace) -> list[str]:
    """The tmux sessions and the processes of clients that still exist."""
    sessions = workspace.terminals("list-sessions", "-F", "#{session_name}").split()
    running = [each.info["name"] for each in psutil.process_iter(["name", "environ"]) if _is_of(each, workspace)]
    return [each for each in sessions if each != "keeper"] + running


def _is_of(process: psutil.Process, workspace: Workspace) -> bool:
    return (process.info["environ"] or {}).get("HOME") == str(workspace.home.root)


@pytest.mark.parametrize("version", VERSIONS)
def test_an_agent_is_started_prompted_forked_and_stopped(tmp_path: Path, version: str) -> None:
    """The fork knows the conversation and is another agent; the first one goes on. Nothing is left behind."""
    with open_workspace(tmp_path, SCRIPT, version) as workspace:
        workspace.in_terminal("new", "--name", "first", "--permission-mode", "plan", "--prompt", "Say hello")
        first = idle_after(workspace, "first", "Say hello")
        assert (first["cwd"], first["permission_mode"]) == (str(workspace.home.project), "plan")
        sent = workspace.headspace("send", "first", "Count to two")
        assert sent.stdout == "first received the prompt.\n", sent.stderr
        workspace.in_terminal("fork", "first", "--name", "second", "--prompt", "Try it differently")
        second = idle_after(workspace, "second", "Try it differently")
        assert second["id"] != first["id"]
        assert second["session_id"] != first["session_id"]
        [forked] = [each for each in map(json.dumps, workspace.model.requests) if "Try it differently" in each][-1:]
        assert "Hello, I am here." in forked
        sent = workspace.headspace("send", "first", "Go on")
        assert sent.stdout == "first received the prompt.\n", sent.stderr
        after = idle_after(workspace, "first", "Say hello", "Count to two", "Go on")
        assert (after["id"], after["session_id"]) == (first["id"], first["session_id"])
        for name in ("first", "second"):
            stopped = workspace.headspace("stop", "--yes", name)
            assert stopped.stdout == f"{name} has ended.\n", stopped.stderr
        assert {each["end_reason"] for each in workspace.daemon.agents()} == {"stopped"}
        assert len(workspace.daemon.agents()) == 2
        wait_until(lambda: not left_behind(workspace), "the end of everything that was started")
        assert workspace.daemon.verified()


def test_a_crashed_agent_is_restarted_and_a_working_one_is_stopped(tmp_path: Path) -> None:
    """A killed client is resumed as the same agent, in its permission mode. A client in a turn ends, too."""
    with open_workspace(tmp_path, SCRIPT) as workspace:
        workspace.in_terminal("new", "--name", "phoenix", "--permission-mode", "acceptEdits", "--prompt", "Say hello")
        agent = idle_after(workspace, "phoenix", "Say hello")
        os.kill(agent["pid"], signal.SIGKILL)
        wait_until(lambda: workspace.daemon.agent(agent["id"])["crashed"], "the crash")
        workspace.in_terminal("restart", "--crashed")
        back = workspace.agent("idle", id=agent["id"])
        assert (back["session_id"], back["pid"] != agent["pid"]) == (agent["session_id"], True)
        # The client restores its mode itself.
        wait_until(lambda: "accept edits on" in workspace.headspace("peek", "phoenix").stdout, "the permission mode")
        workspace.headspace("send", "phoenix", "Never end")
        workspace.agent("working", id=agent["id"])
        stopped = workspace.headspace("stop", "--yes", "phoenix")
        assert stopped.stdout.startswith("phoenix has ended"), stopped.stderr  # Esc puts the prompt back as a draft
        assert workspace.daemon.agent(agent["id"])["end_reason"] == "stopped"
        wait_until(lambda: not left_behind(workspace), "the end of everything that was started")
        assert workspace.daemon.verified()


def test_an_agent_in_a_worktree_from_new_to_remove(tmp_path: Path) -> None:
    """New, preview, answer, prompt, fork, stop, merge, remove. Uncommitted work is never removed; nothing is left."""
    with open_workspace(tmp_path, SCRIPT) as workspace:
        shop = Repository(workspace.home.project)
        shop.git("config", "user.name", "Dev")
        shop.git("config", "user.email", "dev@example.org")
        path = shop.root.parent / f"{shop.root.name}-worktrees" / "login"
        options = ("--permission-mode", "default", "--prompt", "Fix the login")
        workspace.in_terminal("new", "--worktree", "login", *options)
        preview_and_approve(workspace, "login", "git commit -qm Login")
        first = idle_after(workspace, "login", "Fix the login")
        assert (first["cwd"], first["project"]["root"]) == (str(path), str(shop.root))
        assert "The login works." in workspace.headspace("peek", "login").stdout

        succeeds(workspace, "login received the prompt.", "send", "login", "Start the logout")
        preview_and_approve(workspace, "login", "echo later > logout.txt")
        idle_after(workspace, "login", "Fix the login", "Start the logout")
        workspace.in_terminal("fork", "login", "--name", "second", "--prompt", "Try it differently")
        second = idle_after(workspace, "second", "Try it differently")
        assert (second["cwd"], second["session_id"] != first["session_id"]) == (str(path), True)
        [forked] = [each for each in map(json.dumps, workspace.model.requests) if "Try it differently" in each][-1:]
        assert "The logout is a draft." in forked

        refuses(workspace, "runs in", "worktree", "remove", "login", "--yes")
        for name in ("login", "second"):
            succeeds(workspace, f"{name} has ended.", "stop", "--yes", name)
        for command in (
            ("merge", "login"),
            ("remove", "login", "--yes"),
            ("remove", "login", "--yes", "--keep-branch"),
        ):
            refuses(workspace, "logout.txt", "worktree", *command)
            assert (path / "logout.txt").read_text() == "later\n"
        shop.git("-C", str(path), "add", "--all")
        shop.git("-C", str(path), "commit", "--quiet", "--message", "Logout")
        refuses(workspace, "2 commits", "worktree", "remove", "login", "--yes")
        succeeds(workspace, "Merged 2 commits of login into main.", "worktree", "merge", "login")
        succeeds(workspace, f"Removed {path} and the branch login.", "worktree", "remove", "login", "--yes")

        assert [(shop.root / name).read_text() for name in ("login.txt", "logout.txt")] == ["done\n", "later\n"]
        assert [line.split()[0] for line in shop.git("worktree", "list").splitlines()] == [str(shop.root)]
        assert (shop.git("branch", "--format=%(refname:short)"), shop.git("status", "--short")) == ("main", "")
        assert "login" not in shop.git("config", "--local", "--list")
        assert not path.parent.exists()
        wait_until(lambda: not left_behind(workspace), "the end of everything that was started")
        assert workspace.daemon.verified()


def test_a_question_at_the_start_of_a_client_is_shown(tmp_path: Path) -> None:
    """In a directory that the client does not trust yet, it asks before its first report. Its screen is shown."""
    with open_workspace(tmp_path, SCRIPT) as workspace:
        other = workspace.home.root / "other"
        other.mkdir()
        workspace.in_terminal("new", "--name", "careful", "--project", str(other), "--prompt", "Say hello")
        agent = workspace.agent("starting", name="careful")
        wait_until(lambda: "trust" in workspace.headspace("peek", "careful").stdout, "the question in the preview")
        assert workspace.daemon.agent(agent["id"])["pid"] is None
        stopped = workspace.headspace("stop", "--yes", "careful")
        assert stopped.stdout.startswith("careful has ended"), stopped.stderr


def preview_and_approve(workspace: Workspace, name: str, command: str) -> None:
    """Wait for the dialog on the screen of the agent, then allow its command."""
    workspace.held()
    wait_until(lambda: command in workspace.headspace("peek", name).stdout, f"{command!r} in the preview")
    approved = workspace.headspace("approve", name, "--yes")
    assert (approved.returncode, command in approved.stdout) == (0, True), approved


def succeeds(workspace: Workspace, output: str, *command: str) -> None:
    """A command prints exactly this line."""
    done = workspace.headspace(*command)
    assert done.stdout == f"{output}\n", done.stderr


def refuses(workspace: Workspace, reason: str, *command: str) -> None:
    """A command changes nothing and names the reason."""
    done = workspace.headspace(*command)
    assert (done.returncode, reason in done.stderr) == (1, True), done
