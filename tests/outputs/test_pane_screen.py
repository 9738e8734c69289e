"""Reading the screen of an agent's pane."""

import os
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_headspace.outputs.pane_screen import read_agent_screen
from claude_headspace.outputs.tmux import Refused
from tests.support import wait_until
from tests.terminals import needs_tmux

pytestmark = needs_tmux


@pytest.fixture
def socket() -> Iterator[str]:
    """The socket of a tmux server with one pane, in which a program has printed something."""
    path = f"/tmp/hs-{uuid.uuid4().hex[:8]}"  # paths of sockets are short
    shown = "seq 1 60; printf '\\033[32mready\\033[0m'; exec cat"
    run(path, "new-session", "-d", "-x", "80", "-y", "20", shown)
    wait_until(lambda: "ready" in run(path, "capture-pane", "-p"), "the text")
    yield path
    run(path, "kill-server")
    Path(path).unlink(missing_ok=True)


def run(socket: str, *arguments: str) -> str:
    """Run a tmux command."""
    command = ["tmux", "-f", "/dev/null", "-S", socket, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_the_screen_of_a_pane(socket: str) -> None:
    """With colours, and with lines of its history if wanted."""
    pane, pid = run(socket, "list-panes", "-F", "#{pane_id} #{pane_pid}").split()
    env = {"TMUX": f"{socket},1,0"}
    found = read_agent_screen("fox", pane, int(pid), env)
    assert found.pane.id == pane
    assert "\x1b[32mready" in found.text
    assert "\n41\n" not in found.text
    assert "\n41\n" in read_agent_screen("fox", pane, int(pid), env, history=10).text


def test_only_the_pane_of_the_client_is_read(socket: str) -> None:
    """Another program may run in the pane now, or the pane may be gone."""
    env = {"TMUX": f"{socket},1,0"}
    pane = run(socket, "list-panes", "-F", "#{pane_id}")
    with pytest.raises(Refused, match="no longer runs fox"):
        read_agent_screen("fox", pane, os.getpid(), env)
    with pytest.raises(Refused, match="no longer exists"):
        read_agent_screen("fox", "%99", os.getpid(), env)
    with pytest.raises(Refused, match="does not run in tmux"):
        read_agent_screen("fox", None, os.getpid(), env)
