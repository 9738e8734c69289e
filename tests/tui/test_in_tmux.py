"""`headspace top` in tmux, with a daemon."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.surfaces.tui.key_guard import QUIET_SECONDS
from tests.support import running_daemon, start_daemon, wait_until
from tests.terminals import Terminal, needs_tmux, terminal

pytestmark = needs_tmux


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal and its daemon."""
    with running_daemon(tmp_path / "home") as daemon, terminal(tmp_path, daemon) as made:
        yield made


def test_top_jumps_sends_and_resumes(tmux: Terminal) -> None:
    """From the board: a prompt arrives once, enter shows the agent's pane, r resumes an ended agent."""
    pane = tmux.start("claude", session="work")
    agent = tmux.agent_in(pane)
    board = tmux.start("headspace top", session="board")
    tmux.wait_for(board, agent["name"])
    tmux.keys(board, "s")
    tmux.wait_for(board, f"prompt to {agent['name']}")
    tmux.keys(board, "-l", "Say hello; and $(more)")
    tmux.keys(board, "Enter")
    tmux.wait_for(board, f"{agent['name']} received the prompt.")
    assert tmux.prompts() == ["Say hello; and $(more)"]
    with tmux.attached("board"):
        wait_until(lambda: tmux.tmux("list-clients", "-F", "#{session_name}") == "board", "an attached client")
        time.sleep(2 * QUIET_SECONDS)  # the terminal got the focus: until then the key would not count
        tmux.keys(board, "Enter")
        wait_until(lambda: tmux.tmux("list-clients", "-F", "#{pane_id}") == pane, "the agent's pane")
    tmux.keys(pane, "/exit", "Enter")
    tmux.wait_for(board, "ended")
    tmux.keys(board, "r")
    wait_until(lambda: tmux.daemon.agent(agent["id"])["state"] == "idle", "the resumed agent")
    back = tmux.daemon.agent(agent["id"])
    assert (back["session_id"], back["cwd"]) == (agent["session_id"], agent["cwd"])
    assert back["tmux"]["pane"] != pane
    tmux.keys(board, "q")
    wait_until(lambda: board not in tmux.tmux("list-panes", "-a", "-F", "#{pane_id}").split(), "its end")


def test_ctrl_z_suspends_top_and_fg_continues_it(tmux: Terminal) -> None:
    """The shell of the terminal is usable meanwhile; afterwards the board is shown again and reacts to keys."""
    pane = tmux.start("claude", session="work")
    agent = tmux.agent_in(pane)
    board = tmux.start("bash --norc -i", session="board")
    tmux.keys(board, "headspace top", "Enter")
    tmux.wait_for(board, agent["name"])
    tmux.keys(board, "C-z")
    tmux.wait_for(board, "Stopped")
    tmux.keys(board, "echo shell-$((40+2))", "Enter")
    tmux.wait_for(board, "shell-42")
    tmux.keys(board, "fg", "Enter")
    wait_until(lambda: "shell-42" not in tmux.screen(board) and agent["name"] in tmux.screen(board), "the board")
    tmux.keys(board, "?")
    tmux.wait_for(board, "esc close")


@pytest.mark.parametrize("typed", ["1b 79", "1b 0d", "1b 64 0d", "1b 31", "1b 5b 31 32 31 3b 33 3b 31 32 31 75"])
def test_an_escape_before_a_key_cancels(tmux: Terminal, typed: str) -> None:
    """Esc and a key in quick succession, or Alt and a key: the panel closes without an answer. The key alone counts."""
    pane = tmux.start("claude", session="work")
    agent = tmux.agent_in(pane)
    tmux.keys(pane, "permit", "Enter")
    [wait] = wait_until(
        lambda: [each for each in tmux.daemon.agent(agent["id"])["waits"] if each["held_until"]], "the dialog"
    )
    board = tmux.start("headspace top", session="board")
    tmux.wait_for(board, "wants to run")
    press_slowly(tmux, board, "a", "Down")
    tmux.keys(board, "-H", *typed.split())
    wait_until(lambda: "Allow once" not in tmux.screen(board), "the end of the panel")
    time.sleep(QUIET_SECONDS)
    assert not is_answered(tmux, wait), tmux.screen(board)
    press_slowly(tmux, board, "a", "y")
    wait_until(lambda: is_answered(tmux, wait), "the answer")


def press_slowly(tmux: Terminal, board: str, *keys: str) -> None:
    """Press keys, with more than the required half second after each."""
    for key in keys:
        tmux.keys(board, key)
        tmux.wait_for(board, "Allow")
        time.sleep(2 * QUIET_SECONDS)


def is_answered(tmux: Terminal, wait: dict[str, Any]) -> bool:
    """Whether someone has answered a wait."""
    return bool(tmux.daemon.get(f"/api/waits/{wait['id']}").json()["answered"])


def test_top_survives_a_restart_of_the_daemon(tmp_path: Path) -> None:
    """It keeps the board, shows the lost connection, and reconnects."""
    home = tmp_path / "home"
    with running_daemon(home) as daemon, terminal(tmp_path, daemon) as tmux:
        daemon.post("session-start", {"session_id": "one", "cwd": "/projects/one"})
        board = tmux.start("headspace top")
        tmux.wait_for(board, "○ 1 idle")
        daemon.stop()
        tmux.wait_for(board, "reconnecting")
        again = start_daemon(home)
        try:
            tmux.wait_for(board, "live")
            again.url = wait_until(lambda: _url(home), "the address")
            again.post("session-start", {"session_id": "two", "cwd": "/projects/two"})
            tmux.wait_for(board, "○ 2 idle")
        finally:
            again.stop()


def _url(home: Path) -> str:
    import json

    try:
        return str(json.loads((home / "run" / "daemon.json").read_bytes())["url"])
    except (OSError, ValueError):
        return ""


@pytest.mark.parametrize(("width", "height"), [(200, 50), (100, 30), (60, 15)])
def test_top_fits_every_terminal(tmp_path: Path, width: int, height: int) -> None:
    """The board and the footer are visible at each size."""
    size = {"width": width, "height": height}
    with running_daemon(tmp_path / "home") as daemon, terminal(tmp_path, daemon, **size) as tmux:
        daemon.post("session-start", {"session_id": "one", "cwd": "/projects/one"})
        daemon.post("user-prompt-submit", {"session_id": "one", "cwd": "/projects/one", "prompt": "Go on. " * 40})
        shown = tmux.wait_for(tmux.start("headspace top"), daemon.agents()[0]["name"])
        assert "working" in shown
        assert shown.splitlines()[-1].lstrip().startswith("enter jump")


def test_top_shows_screens_and_finds_agents(tmux: Terminal) -> None:
    """`p` shows the screen of an agent, live. `f` finds an agent by its prompt, and enter goes to its pane."""
    pane = tmux.start("claude", session="work")
    agent = tmux.agent_in(pane)
    tmux.keys(pane, "-l", "Count the marbles.")
    tmux.keys(pane, "Enter")
    board = tmux.start("headspace top", session="board")
    tmux.wait_for(board, agent["name"])
    tmux.keys(board, "p")
    tmux.keys(pane, "-l", "my draft")
    tmux.wait_for(board, "my draft")
    with tmux.attached("board"):
        wait_until(lambda: tmux.tmux("list-clients", "-F", "#{session_name}") == "board", "an attached client")
        tmux.keys(board, "f")
        tmux.wait_for(board, "search all agents")
        tmux.keys(board, "-l", "marbles")
        tmux.wait_for(board, f"▌ {agent['name']}")
        tmux.keys(board, "Enter")
        wait_until(lambda: tmux.tmux("list-clients", "-F", "#{pane_id}") == pane, "the agent's pane")


def test_top_needs_a_terminal(tmux: Terminal) -> None:
    """In a pipe, the error recommends `headspace list`."""
    from tests.terminals import run_in

    done = run_in(tmux, "top")
    assert (done.returncode, "headspace list" in done.stderr) == (1, True)
