"""The command `fleet`, with a real tmux server."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import RunningDaemon
from tests.surfaces.cli.conftest import run_headspace

NAME = "headspace-fleet-test"


@pytest.fixture
def pane(tmp_path: Path) -> Iterator[str]:
    """A pane of a tmux server of its own."""
    if shutil.which("tmux") is None:
        pytest.skip("there is no tmux")
    _tmux(tmp_path, "-f", "/dev/null", "new-session", "-d", "-s", "fleet", "-x", "80", "-y", "20", "sleep 600")
    yield _tmux(tmp_path, "list-panes", "-a", "-F", "#{pane_id}").strip()
    _tmux(tmp_path, "kill-server")


def _tmux(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["tmux", "-L", NAME, *arguments],
        env={"TMUX_TMPDIR": str(folder), "PATH": "/usr/local/bin:/usr/bin:/bin", "TERM": "xterm"},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    return done.stdout


def test_a_window_has_the_status_of_its_agents(daemon: RunningDaemon, pane: str, tmp_path: Path) -> None:
    """Grouped by session, window and pane."""
    given = {"session_id": "s", "cwd": "/app", "tmux_pane": pane}
    daemon.post("user-prompt-submit", {**given, "prompt": "Go"})
    daemon.post("permission-request", {**given, "tool_name": "Bash", "tool_input": {"command": "x"}})
    where = {"TMUX_TMPDIR": str(tmp_path)}
    done = run_headspace(daemon.home, "fleet", "--socket", NAME, "--json", **where)
    found = json.loads(done.stdout)
    assert (found["status"], found["sessions"][0]["name"]) == ("attention", "fleet")
    [window] = found["sessions"][0]["windows"]
    assert [each["id"] for each in window["panes"]] == [pane]
    lines = run_headspace(daemon.home, "fleet", "--socket", NAME, **where).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["◆", "◆", "◆"]


def test_panes_on_other_sockets_are_found(daemon: RunningDaemon, pane: str, tmp_path: Path) -> None:
    """Requirement: without `--socket`, a pane of another tmux server is found, with the name of its session."""
    daemon.post("user-prompt-submit", {"session_id": "s", "cwd": "/app", "tmux_pane": pane, "prompt": "Go"})
    done = run_headspace(daemon.home, "fleet", "--json", TMUX_TMPDIR=str(tmp_path))
    [session] = json.loads(done.stdout)["sessions"]
    assert (session["name"], Path(session["socket"]).name) == ("fleet", NAME)
    assert [each["id"] for each in session["windows"][0]["panes"]] == [pane]
