"""Runs the shell examples of the documentation, page by page, from top to bottom.

Hooks are installed, the daemon runs, and there is an agent `calm-otter`. Options replace interactive answers. Examples
that cannot run here are listed with the reason and the test that covers them.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_headspace.config import find_paths
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.client.running_daemon import find_daemon
from tests.support import LIMIT_SECONDS, environment

ROOT = Path(__file__).resolve().parents[2]
BASH = re.compile(r"```bash\n(.*?)```", re.DOTALL)
PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if BASH.search(page.read_text())]

NOT_RUN = {
    "tailscale serve": "it is a program of others, which publishes an address",
    "mkcert": "it is a program of others, which installs a certificate",
    "caddy": "it is a program of others, which publishes an address",
    "headspace demo": "tests/demo runs it to the end",
    "headspace top": "it fills a screen: tests/tui",
    "headspace tail": "it never ends: tests/surfaces/cli/test_follow.py",
    "cd ~/shop": "it is your project: tests/real_client/test_tour.py follows the tour",
    "headspace new": "it needs Claude Code: tests/stories/test_lifecycle.py",
    "headspace peek login-fix": "it needs the agent of the tour: tests/real_client/test_tour.py",
    "headspace peek calm-otter --follow": "it never ends: tests/surfaces/cli has it",
    "headspace stop": "it needs Claude Code: tests/stories/test_lifecycle.py",
    "headspace fork": "it needs Claude Code: tests/stories/test_lifecycle.py",
    "headspace restart": "it needs Claude Code: tests/stories/test_lifecycle.py",
    "headspace queue cancel": "it needs a pending prompt: tests/stories/test_pending_prompts.py",
    "headspace worktree": "it needs a worktree: tests/stories/test_worktrees.py",
    "headspace run": "it needs Claude Code: tests/stories/test_terminal.py",
    "headspace send": "it needs tmux: tests/stories/test_terminal.py",
    "headspace jump": "it needs tmux: tests/stories/test_terminal.py",
    "headspace resume": "it needs Claude Code: tests/stories/test_terminal.py",
    "headspace approve": "it needs a dialog: tests/stories/test_answers.py",
    "headspace deny": "it needs a dialog: tests/stories/test_answers.py",
    "headspace answer": "it needs a dialog: tests/stories/test_answers.py",
    "headspace note": "it is for agents: tests/stories/test_claude_os.py",
    "headspace mission start": "it needs Claude Code: tests/stories/test_missions.py",
    "headspace mission show": "it needs a mission: tests/stories/test_missions.py",
    "headspace mission finish": "it needs a mission: tests/stories/test_missions.py",
    "headspace report": "it is for workers: tests/stories/test_missions.py",
    "headspace db copy": "it needs PostgreSQL: tests/journal/test_copying.py",
    "headspace policy test": "it needs the file: tests/inputs/policy/test_cookbook.py has those of the page",
    "headspace role show chief": "it needs the role: tests/test_docs.py has those of the page",
    "bin/test": "this test is part of it",
    "git ": "the repository is already cloned",
    "pipx ": "tests/clean_room installs the wheel",
}
"""Commands that are not run here, by their first words, and the reason."""

TIMES_OUT_OF_RANGE = ("--at 14:30", "?at=")
"""Examples with a time at which the agent may not exist yet, or in the future. The command then reports that."""

ANSWERS = {"headspace up": "--yes --no-open", "headspace install": "--yes", "headspace uninstall": "--yes"}
"""Options that replace interactive answers."""


def examples(page: Path) -> list[str]:
    """Return the commands of a page, in order."""
    text = "\n".join(BASH.findall(page.read_text(encoding="utf-8"))).replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def entry_for(command: str, table: dict[str, str]) -> str | None:
    """Return the table entry whose key is a prefix of the command."""
    bare = command.removeprefix("bin/") if command.startswith("bin/headspace") else command
    return next((entry for start, entry in table.items() if bare.startswith(start)), None)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with a project, an agent and a daemon that stops after the tests."""
    place = tmp_path_factory.mktemp("docs") / "home"
    (place / "shop" / ".git").mkdir(parents=True)
    for program in (place.parent / "bin/headspace", place / "shop/bin/headspace"):
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m claude_headspace "$@"\n')
        program.chmod(0o755)
    run(place, "headspace up --yes --no-open")
    create_agent(place)
    yield place
    run(place, "headspace down")
    assert find_daemon(find_paths({"HEADSPACE_HOME": str(place)})) is None


@pytest.fixture
def home(machine: Path) -> Path:
    """The same home, with the daemon running again if a page stopped it."""
    run(machine, "headspace up --yes --no-open")
    return machine


def run(home: Path, command: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in the project of a home."""
    path = f"{home.parent / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", command],
        cwd=home / "shop",
        env={**environment(home), "PATH": path, "TZ": "UTC"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_SECONDS,
        check=False,
    )


def create_agent(home: Path) -> None:
    """Create a working agent with the name that the pages use."""
    url = address(home)
    hook = {"session_id": "docs", "cwd": str(home / "shop"), "prompt": "Fix the login with expired cards."}
    for event in ("session-start", "user-prompt-submit"):
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{url}/hook/{event}", json.dumps(hook).encode(), headers)  # noqa: S310
        with urllib.request.urlopen(request, timeout=LIMIT_SECONDS) as reply:  # noqa: S310  # our own daemon
            agent = json.load(reply)["agent"]
    ApiClient.local(find_paths({"HEADSPACE_HOME": str(home)})).rename(agent, "calm-otter")


def address(home: Path) -> str:
    """Return the URL of the daemon."""
    daemon = find_daemon(find_paths({"HEADSPACE_HOME": str(home)}))
    assert daemon is not None
    return daemon.url


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_work(page: Path, home: Path) -> None:
    """Every command succeeds, after the commands above it on the page."""
    for example in examples(page):
        if entry_for(example, NOT_RUN):
            continue
        command = example.partition("  #")[0].replace("<agent>", "calm-otter")
        if ":5055" in command:
            command = command.replace("localhost:5055", address(home).removeprefix("http://"))
        done = run(home, f"{command} {entry_for(example, ANSWERS) or ''}")
        output = done.stdout + done.stderr
        refused = "did not exist yet at" in output or "is in the future" in output
        is_out_of_range = refused and any(time in example for time in TIMES_OUT_OF_RANGE)
        assert is_out_of_range or (done.returncode == 0 and '{"error"' not in output), f"{example}\n{output}"


def test_the_tables_have_no_unused_entries() -> None:
    """Every entry of the tables matches an example on a page."""
    written = [example for page in PAGES for example in examples(page)]
    for table in (NOT_RUN, ANSWERS):
        unused = [start for start in table if not any(entry_for(each, {start: "x"}) for each in written)]
        assert unused == []
