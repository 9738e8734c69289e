"""The tour of docs/terminal.md: its commands are typed into a shell in tmux, and the real client does the work."""

import re
import sys
import time
from pathlib import Path

from claude_headspace.surfaces.cli.output import READING_SECONDS
from tests.inputs.repository.repositories import Repository
from tests.real_client.client import DIALOG_PAUSE
from tests.real_client.model import bash, reply, text
from tests.real_client.workspace import Workspace, open_workspace
from tests.support import wait_until

PAGE = Path(__file__).resolve().parents[2] / "docs" / "terminal.md"
SCRIPT = {
    "Fix the login": [
        reply(bash("echo done > login.txt && git add login.txt && git commit -qm Login")),
        reply(text("The login works."), held="login"),
    ],
    "Check the logout": [reply(text("The logout works, too."))],
}


def tour() -> list[str]:
    """The commands of the tour, in order."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition("## Two-minute tour\n")
    blocks = re.findall(r"```bash\n(.*?)```", rest.partition("\n## ")[0], re.DOTALL)
    return "".join(blocks).splitlines()


def open_shell(workspace: Workspace) -> str:
    """A shell with `headspace` and `claude` on its PATH; the pane."""
    program = workspace.home.root / "bin" / "headspace"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m claude_headspace "$@"\n')
    program.chmod(0o755)
    env = {**workspace.home.environment(workspace.model.url), "HEADSPACE_HOME": str(workspace.root), "PS1": r"\w $ "}
    given = [f"{name}={value}" for name, value in env.items()]
    return workspace.terminals.open([*given, "bash", "--norc"], workspace.home.root)[0]


def test_the_tour_works_as_written(tmp_path: Path) -> None:
    """Each command does what the text says, and at the end only the merged work is left."""
    with open_workspace(tmp_path, SCRIPT) as workspace:
        shop = Repository(workspace.home.project)
        shop.git("config", "user.name", "Dev")
        shop.git("config", "user.email", "dev@example.org")
        shell, commands = open_shell(workspace), iter(tour())

        def type_next(expected: str, shown: str) -> None:
            """Type the next command of the page, and wait for its output."""
            command = next(commands)
            assert command.startswith(expected), command
            workspace.keys(shell, "-l", f"clear; {command}")
            workspace.keys(shell, "Enter")
            workspace.shows(shell, shown)

        def confirm() -> None:
            """Read a question, then agree."""
            asked = time.monotonic()
            wait_until(lambda: time.monotonic() > asked + READING_SECONDS, "the time to read the question")
            workspace.keys(shell, "y", "Enter")

        type_next("cd ~/shop", "~/shop $")
        type_next("headspace new --worktree login-fix", "in the tmux session login-fix.")
        workspace.held()
        type_next("headspace top", "wants to run")
        workspace.keys(shell, "a")
        workspace.shows(shell, "Allow this?")
        time.sleep(DIALOG_PAUSE)  # keys do not count while the panel is new
        workspace.keys(shell, "y")
        wait_until(workspace.model.reached("login").is_set, "the answer to reach the client")
        workspace.keys(shell, "Escape")
        workspace.keys(shell, "q")
        workspace.shows(shell, "~/shop $")
        type_next("headspace peek login-fix", "Fix the login, and commit it.")
        type_next("headspace send login-fix --when-idle", "Queued for login-fix")
        type_next("headspace queue", "Check the logout, too.")
        workspace.model.gate("login").set()
        agent = workspace.daemon.agent("login-fix")
        wait_until(lambda: len(workspace.user_turns(agent)) == 2, "the prompt that waited")
        workspace.agent("idle", name="login-fix")
        type_next("headspace stop login-fix", "[y/N]")
        confirm()
        workspace.shows(shell, "login-fix has ended.")
        type_next("headspace worktree merge login-fix", "Merged 1 commit of login-fix into main.")
        type_next("headspace worktree remove login-fix", "Remove it?")
        confirm()
        workspace.shows(shell, "and the branch login-fix.")
        assert list(commands) == []
        assert (shop.root / "login.txt").read_text() == "done\n"
        assert (shop.git("branch", "--format=%(refname:short)"), shop.git("status", "--short")) == ("main", "")
        assert not (shop.root.parent / "shop-worktrees").exists()
