"""The bell rings only if the user is not looking at the agent's pane."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_headspace.surfaces.tui.actions import TerminalActions
from tests.support import running_daemon, wait_until
from tests.terminals import Terminal, needs_tmux, terminal
from tests.tui.board import sample_agents


def test_the_bell_rings_for_an_agent_without_pane() -> None:
    """Without a pane, the user cannot be looking at it."""
    assert TerminalActions(env={}).should_ring({**sample_agents()[0], "tmux": {"session": None, "pane": None}})


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal with focus events, and its daemon."""
    with running_daemon(tmp_path / "home") as daemon, terminal(tmp_path, daemon) as made:
        made.tmux("set-option", "-g", "focus-events", "on")
        yield made


@needs_tmux
def test_the_visible_agent_does_not_ring_the_bell(tmux: Terminal) -> None:
    """The agent in the visible pane asks without a bell; for another agent the bell rings."""
    panes = {name: tmux.start("claude", session=name) for name in ("front", "away")}
    agents = {name: tmux.agent_in(pane)["name"] for name, pane in panes.items()}
    board = tmux.start("headspace top", session="board")
    tmux.wait_for(board, agents["away"])
    bells = ("list-windows", "-t", "board", "-F", "#{window_bell_flag}")
    with tmux.attached("board"):
        wait_until(lambda: tmux.tmux("list-clients", "-F", "#{session_name}") == "board", "an attached client")
        tmux.tmux("switch-client", "-c", tmux.tmux("list-clients", "-F", "#{client_name}"), "-t", panes["front"])
        tmux.keys(panes["front"], "ask", "Enter")
        tmux.agent_in(panes["front"], "waiting")
        tmux.wait_for(board, "◆")
        assert tmux.tmux(*bells) == "0"
        tmux.keys(panes["away"], "ask", "Enter")
        tmux.agent_in(panes["away"], "waiting")
        wait_until(lambda: tmux.tmux(*bells) == "1", "the bell")
