"""Answers as keystrokes, in a real tmux, with a program that shows a dialog as Copilot CLI does."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from claude_headspace.clients.dialog_readers import DIALOG_READERS
from claude_headspace.kernel.agent import Agent, Project, Wait
from claude_headspace.kernel.tools import ToolKind, ToolUse
from claude_headspace.kernel.wait.answers import Answer
from claude_headspace.outputs.dialog_pane import is_stopped
from claude_headspace.outputs.keystroke_answers import KeystrokeChannel
from claude_headspace.outputs.pane_input import PaneInput
from claude_headspace.outputs.tmux import Refused
from tests.support import running_daemon, wait_until
from tests.terminals import Terminal, needs_tmux, terminal

pytestmark = needs_tmux

PROGRAM = r'''
"""Shows a permission as Copilot CLI does, and records the answer."""
import json, os, sys, termios, time, tty
command, result, until = sys.argv[1], sys.argv[2], sys.argv[3]
labels, refusal = ["Yes", "Yes, and do not ask again"], "No, and tell Copilot what to do differently"
old = termios.tcgetattr(0)
tty.setcbreak(0)
selected, typed, raw = 0, "", b""

def draw():
    options = [*labels, (typed or refusal) + " (Esc to stop)"]
    rows = ["Run it", "╭" + "─" * 70 + "╮", "│ " + command.ljust(69) + "│", "╰" + "─" * 70 + "╯", ""]
    rows += [("❯" if at == selected else " ") + f" {at + 1}. {label}" for at, label in enumerate(options)]
    rows += ["", "↑/↓ to navigate · enter to select · esc to cancel"]
    shown = ["╭" + "─" * 76 + "╮", *("│ " + row.ljust(75) + "│" for row in rows), "╰" + "─" * 76 + "╯"]
    sys.stdout.write("\x1b[H\x1b[2J" + "\r\n".join(shown))
    sys.stdout.flush()

try:
    draw()
    while True:
        key = os.read(0, 3)
        if key == b"\x1b[A":
            selected = max(0, selected - 1)
        elif key == b"\x1b[B":
            selected = min(2, selected + 1)
        elif key in (b"\r", b"\n"):
            if selected < 2 or typed:
                break
        elif selected == 2:
            typed += key.decode()
        draw()
    while until and not os.path.exists(until):
        time.sleep(0.05)
    json.dump([selected, typed], open(result, "w"))
    sys.stdout.write("\x1b[H\x1b[2Jdone\r\n")
    sys.stdout.flush()
    os.read(0, 1)
finally:
    termios.tcsetattr(0, termios.TCSADRAIN, old)
'''

WAIT = Wait(id="w", agent_id="a", kind="permission", text="bash: touch x", opened_at=1, tool="bash")


class Shown:
    """A client with an open dialog, and the channel that answers it."""

    def __init__(self, tmux: Terminal, folder: Path, command: str, until: Path | None = None) -> None:
        """`until`: the client does not react to an answer until this file exists."""
        self.tmux, self.result = tmux, folder / "answer.json"
        source = folder / "dialog.py"
        source.write_text(PROGRAM)
        # A shell is the process of the pane, as for people: tmux continues its own child as soon as that is suspended.
        self.pane = tmux.start(f"{sys.executable} {source} '{command}' {self.result} '{until or ''}'; true")
        tmux.wait_for(self.pane, "to navigate")
        shell = int(tmux.tmux("display-message", "-p", "-t", self.pane, "#{pane_pid}"))
        pid = psutil.Process(shell).children()[0].pid
        project = Project("p", "p", "/p")
        self.agent = Agent(
            id="a",
            name="calm-otter",
            host="h",
            client="copilot",
            project=project,
            created_at=1,
            pid=pid,
            tmux_pane=self.pane,
        )

    def answer(self, answer: Answer, asked: str = "touch x") -> None:
        """Answer as the daemon does. `asked` is the command that people were shown."""
        use = ToolUse(name="bash", kind=ToolKind.SHELL, input={"command": asked}, command=asked)
        channel = KeystrokeChannel(DIALOG_READERS["copilot"], lambda _wait: use, PaneInput())
        assert channel.find_obstacle(self.agent, WAIT) is None
        asyncio.run(channel.deliver(self.agent, WAIT, answer))

    def given(self) -> list[object]:
        """The selected option and the typed text."""
        wait_until(lambda: self.result.exists() and self.result.read_text(), "an answer")
        found: list[object] = json.loads(self.result.read_text())
        return found


@pytest.fixture
def shown(tmp_path: Path) -> Iterator[Shown]:
    """A client that asks whether it may run `touch x`."""
    with running_daemon(tmp_path / "home") as daemon, terminal(tmp_path / "terminal", daemon) as tmux:
        yield Shown(tmux, tmp_path, "touch x")


def test_allow(shown: Shown) -> None:
    """The first option is taken."""
    shown.answer(Answer(decision="allow"))
    assert shown.given() == [0, ""]


def test_allow_after_somebody_moved_the_selection(shown: Shown) -> None:
    """The selection is moved back first."""
    shown.tmux.keys(shown.pane, "Down")
    shown.tmux.wait_for(shown.pane, "❯ 2. Yes")
    shown.answer(Answer(decision="allow"))
    assert shown.given() == [0, ""]


def test_deny_with_a_reason(shown: Shown) -> None:
    """The reason is typed into the last option."""
    shown.answer(Answer(decision="deny", message="Use make instead; it is faster"))
    assert shown.given() == [2, "Use make instead; it is faster"]


def test_another_command_is_not_answered(shown: Shown) -> None:
    """The dialog is open, and nobody pressed a key."""
    with pytest.raises(Refused, match="something else"):
        shown.answer(Answer(decision="allow"), asked="touch y")
    assert "❯ 1. Yes" in shown.tmux.screen(shown.pane)
    assert not shown.result.exists()


def test_a_dialog_with_typed_text_is_left_alone(shown: Shown) -> None:
    """The text of the person stays as it is."""
    shown.tmux.keys(shown.pane, "Down")
    shown.tmux.keys(shown.pane, "Down")
    shown.tmux.wait_for(shown.pane, "❯ 3.")
    shown.tmux.keys(shown.pane, "n")
    shown.tmux.wait_for(shown.pane, "3. n (Esc")
    with pytest.raises(Refused, match="typed"):
        shown.answer(Answer(decision="deny", message="no"))
    assert "3. n (Esc" in shown.tmux.screen(shown.pane)


def test_a_screen_without_a_dialog_gets_no_keys(shown: Shown) -> None:
    """The person answered first."""
    shown.tmux.keys(shown.pane, "Enter")
    shown.tmux.wait_for(shown.pane, "done")
    with pytest.raises(Refused, match="no dialog"):
        shown.answer(Answer(decision="allow"))


def test_a_suspended_client_gets_no_keys(shown: Shown) -> None:
    """It would take them when it continues, although the person was told that it did not receive the answer."""
    pid = shown.agent.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: is_stopped(pid), "a suspended client")
    try:
        with pytest.raises(Refused, match="suspended"):
            shown.answer(Answer(decision="allow"))
    finally:
        os.kill(pid, signal.SIGCONT)
    shown.answer(Answer(decision="deny", message="not now"))
    assert shown.given() == [2, "not now"]


def test_a_dialog_that_stays_open_is_reported_as_unconfirmed(tmp_path: Path) -> None:
    """The client has the keys, and may take them later."""
    with running_daemon(tmp_path / "home") as daemon, terminal(tmp_path / "terminal", daemon) as tmux:
        busy = Shown(tmux, tmp_path, "touch x", until=tmp_path / "ready")
        with pytest.raises(Refused, match="it may still take the answer"):
            busy.answer(Answer(decision="allow"))
        (tmp_path / "ready").touch()
        assert busy.given() == [0, ""]


def test_a_pane_of_another_program_gets_no_keys(shown: Shown) -> None:
    """The client ended, and its pane belongs to something else."""
    shown.agent.pid = 1
    with pytest.raises(Refused, match="no longer"):
        shown.answer(Answer(decision="allow"))
