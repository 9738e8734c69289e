"""Who is called, and how: the bell and the desktop, only while nobody has the agent before him."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_headspace.surfaces.tui.terminal_hands import NOTIFIERS, TerminalHands
from tests.support import running_daemon, wait_until
from tests.terminals import Terminal, needs_tmux, terminal
from tests.tui.board import sample


@pytest.mark.parametrize("program", NOTIFIERS)
def test_the_desktop_is_told_who_needs_somebody_and_what_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    """Whatever program shows notifications gets the name and the words of the board, as arguments of their own."""
    told = _notifier(tmp_path, program)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    agent = sample()[0]
    assert TerminalHands(env={}).call({**agent, "tmux": {"session": None, "pane": None}})
    shown = told.read_text().splitlines()
    assert "able-ant needs you" in shown
    assert "wants to run: docker image prune --all" in shown


def test_without_a_desktop_there_is_still_the_bell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that shows notifications is no reason to be silent."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert TerminalHands(env={}).call({**sample()[0], "tmux": {"session": None, "pane": None}})


def _notifier(folder: Path, program: str) -> Path:
    """A program that writes down what it should show."""
    told = folder / "told"
    made = folder / program
    made.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >>{told}\n')
    made.chmod(0o755)
    return told


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal that knows what is in front, and its daemon."""
    with running_daemon(tmp_path / "home") as daemon, terminal(tmp_path, daemon) as made:
        made.tmux("set-option", "-g", "focus-events", "on")
        yield made


@needs_tmux
def test_only_who_is_out_of_sight_calls(tmux: Terminal) -> None:
    """Looking at one agent's pane, another one asks: bell and notification; the one in front asks in silence."""
    told = _notifier(tmux.folder / "bin", "notify-send")
    panes = {name: tmux.start("claude", session=name) for name in ("front", "away")}
    agents = {name: tmux.agent_in(pane)["name"] for name, pane in panes.items()}
    board = tmux.start("headspace top", session="board")
    tmux.wait_for(board, agents["away"])
    with tmux.attached("board"):
        wait_until(lambda: tmux.tmux("list-clients", "-F", "#{session_name}") == "board", "somebody before the board")
        tmux.tmux("switch-client", "-c", tmux.tmux("list-clients", "-F", "#{client_name}"), "-t", panes["front"])
        for name in ("front", "away"):
            tmux.keys(panes[name], "ask", "Enter")
            tmux.agent_in(panes[name], "waiting")
        wait_until(told.exists, "a notification")
        assert f"{agents['away']} needs you" in told.read_text().splitlines()
        assert agents["front"] not in told.read_text()
        bells = ("list-windows", "-t", "board", "-F", "#{window_bell_flag}")
        wait_until(lambda: tmux.tmux(*bells) == "1", "the bell")
