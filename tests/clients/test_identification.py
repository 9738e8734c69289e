"""Which client a hook is from: by what the sender says, by the environment, and by the process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from claude_headspace.clients.environment import client_in
from claude_headspace.clients.hook_files import HOOK_SCRIPT
from claude_headspace.clients.processes import client_of_command, client_of_process

RUN_HOOK = "import subprocess, sys; subprocess.run(sys.argv[1:], input=b'{}', check=True)"


@pytest.mark.parametrize(
    ("command", "client"),
    [
        (["claude"], "claude-code"),
        (["/opt/bin/codex", "resume"], "codex"),
        (["node", "--max-old-space-size=8192", "/usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js"], "gemini"),
        (["/usr/bin/node", "/usr/bin/copilot", "--resume"], "copilot"),
        (["opencode", "run"], "opencode"),
        (["node", "server.js", "codex"], None),
        (["bash", "-c", "claude"], None),
        ([], None),
    ],
)
def test_a_command_line_names_its_client(command: list[str], client: str | None) -> None:
    """The program counts, or the script that an interpreter runs; other arguments do not."""
    assert client_of_command(command) == client


def test_other_processes_are_no_client() -> None:
    """This process, and one that does not exist."""
    assert client_of_process(os.getpid()) is None
    assert client_of_process(2**22 + 1) is None


@pytest.mark.parametrize(
    ("env", "client"),
    [
        ({}, "claude-code"),
        ({"CLAUDECODE": "1"}, "claude-code"),
        ({"COPILOT_CLI": "1"}, "copilot"),
        ({"CODEX_THREAD_ID": "t"}, "codex"),
        ({"GEMINI_CLI": "1"}, "gemini"),
        ({"OPENCODE": "1"}, "opencode"),
        ({"CLAUDECODE": "1", "CODEX_THREAD_ID": "t"}, "claude-code"),
    ],
)
def test_the_environment_names_the_client(env: dict[str, str], client: str) -> None:
    """Only if it has the marks of one client."""
    assert client_in(env) == client


def reported(folder: Path, arguments: tuple[str, ...], env: dict[str, str]) -> dict[str, str]:
    """The notes of a hook that a process runs. `{parent}` in a variable is that process, `{me}` the test."""
    script = folder / "notify-headspace.sh"
    script.write_text(HOOK_SCRIPT.read_text())
    script.chmod(0o700)
    (folder / "notify-headspace.state" / "spool").mkdir(parents=True)
    launcher = f"import os; names = {env!r}; pids = {{'parent': os.getpid(), 'me': os.getppid()}}\n"
    launcher += "os.environ.update({name: value.format(**pids) for name, value in names.items()})\n"
    command = [sys.executable, "-c", launcher + RUN_HOOK, str(script), *arguments]
    subprocess.run(command, env={"PATH": os.environ["PATH"]}, check=True)
    [file] = (folder / "notify-headspace.state" / "spool").glob("*.json")
    notes: dict[str, str] = json.loads(file.read_text().splitlines()[0])
    return notes


@pytest.mark.parametrize(
    ("arguments", "env", "client"),
    [
        (("Stop",), {}, "claude-code"),
        (("Stop", "codex"), {"CLAUDE_PID": "1"}, "codex"),
        (("Stop", "gemini"), {"COPILOT_CLI": "1", "CLAUDE_PID": "1"}, "gemini"),
        (("Stop",), {"COPILOT_CLI": "1", "COPILOT_LOADER_PID": "{parent}"}, "copilot"),
        (("Stop",), {"COPILOT_CLI": "1", "COPILOT_LOADER_PID": "{parent}", "CLAUDE_PID": "{me}"}, "copilot"),
        (("Stop",), {"COPILOT_CLI": "1", "COPILOT_LOADER_PID": "{me}", "CLAUDE_PID": "{parent}"}, "claude-code"),
    ],
    ids=["default", "registered", "registered inside", "Copilot's", "Copilot in Claude Code", "Claude Code in Copilot"],
)
def test_the_hook_script_names_the_client(
    tmp_path: Path, arguments: tuple[str, ...], env: dict[str, str], client: str
) -> None:
    """Copilot runs the hooks that a project has for Claude Code. Of two nested clients the nearer one runs the hook."""
    notes = reported(tmp_path, arguments, env)
    assert notes["client"] == client
    assert notes["client-pid"] not in ("1", "")
