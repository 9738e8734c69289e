"""When the bell rings: only while nobody has the agent before him."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_headspace.surfaces.tui.terminal_actions import TerminalHands
from tests.support import running_daemon, wait_until
from tests.terminals import Terminal, needs_tmux, terminal
from tests.tui.board import sample


def test_an_agent_that_is_nowhere_rings_the_bell() -> None:
    """Nothing is known of its pane, so nobody can have it before him."""
    assert TerminalHands(env={}).call({**sample()[0], "tmux": {"session": None, "pane": None}})


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal that knows what is in front, and its daemon."""
    with running_daemon(tmp_path / "home") as daemon, terminal(tmp_path, daemon) as made:
        made.tmux("set-option", "-g", "focus-events", "on")
        yield made


@needs_tmux
def test_only_who_is_out_of_sight_calls(tmux: Terminal) -> None:
    """Looking at one agent's pane, that one asks in silence; then another one asks, and the bell rings."""
    panes = {name: tmux.start("claude", session=name) for name in ("front", "away")}
    agents = {name: tmux.agent_in(pane)["name"] for name, pane in panes.items()}
    board = tmux.start("headspace top", session="board")
    tmux.wait_for(board, agents["away"])
    bells = ("list-windows", "-t", "board", "-F", "#{window_bell_flag}")
    with tmux.attached("board"):
        wait_until(lambda: tmux.tmux("list-clients", "-F", "#{session_name}") == "board", "somebody before the board")
        tmux.tmux("switch-client", "-c", tmux.tmux("list-clients", "-F", "#{client_name}"), "-t", panes["front"])
        tmux.keys(panes["front"], "ask", "Enter")
        tmux.agent_in(panes["front"], "waiting")
        tmux.wait_for(board, "◆")
        assert tmux.tmux(*bells) == "0"
        tmux.keys(panes["away"], "ask", "Enter")
        tmux.agent_in(panes["away"], "waiting")
        wait_until(lambda: tmux.tmux(*bells) == "1", "the bell")
