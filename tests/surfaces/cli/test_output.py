"""Output on a real terminal: colours, next commands and widths."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest
from rich.cells import cell_len

from claude_headspace.surfaces.cli.output import Span, hanging, line, row
from tests.support import LIMIT_SECONDS, RunningDaemon, environment

COLOURS = re.compile(r"\x1b\[[0-9;]+m")


def on_a_terminal(daemon: RunningDaemon, columns: int, *arguments: str, **variables: str) -> str:
    """What a command shows on a terminal of that width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "claude_headspace", *arguments],
        env={**environment(daemon.home), "TERM": "xterm-256color", **variables},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65_536):
            shown += chunk
    except OSError:  # Linux: the other side was closed
        pass
    finally:
        process.wait(LIMIT_SECONDS)
        os.close(ours)
    return shown.decode("utf-8", "replace").replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("command", ["list", "status", "show", "why"])
def test_no_line_is_wider_than_the_terminal(
    board: tuple[RunningDaemon, dict[str, str]], command: str, columns: int
) -> None:
    """Lines are cut or wrapped, also with wide characters and control sequences."""
    daemon, names = board
    for session in ("asks", "hostile"):
        arguments = [command, names[session]] if command in ("show", "why") else [command]
        shown = COLOURS.sub("", on_a_terminal(daemon, columns, *arguments))
        assert "\x1b" not in shown
        assert [text for text in shown.splitlines() if cell_len(text) > columns] == []


def test_only_waiting_agents_have_a_background_colour(board: tuple[RunningDaemon, dict[str, str]]) -> None:
    """All other states have none."""
    daemon, names = board
    shown = on_a_terminal(daemon, 100, "list")
    filled = re.findall(r"\x1b\[30;43m(.*?)\x1b\[0m", shown)
    assert f"◆ {names['asks']}" in filled
    assert all(text.startswith("◆") for text in filled)


def test_next_commands_are_shown_on_a_terminal(board: tuple[RunningDaemon, dict[str, str]]) -> None:
    """In a pipe they are not."""
    daemon, names = board
    assert f"headspace show {names['asks']}" in on_a_terminal(daemon, 100, "list")
    assert f"headspace why {names['asks']}" in on_a_terminal(daemon, 100, "show", names["asks"])
    assert "headspace list" in on_a_terminal(daemon, 100, "status")


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_without_colours(board: tuple[RunningDaemon, dict[str, str]], variables: dict[str, str]) -> None:
    """Symbols and words carry the meaning."""
    shown = on_a_terminal(board[0], 100, "list", **variables)
    assert "\x1b" not in shown
    assert "◆" in shown


def test_a_terminal_without_unicode(board: tuple[RunningDaemon, dict[str, str]]) -> None:
    """Other characters are replaced."""
    shown = on_a_terminal(board[0], 100, "list", PYTHONIOENCODING="latin-1", PYTHONUTF8="0")
    assert "Traceback" not in shown
    assert "npm test" in shown


def test_cells_are_padded_by_display_width() -> None:
    """Wide characters count twice."""
    spans = row([Span("日本"), Span("7")], [6, 3], [False, True])
    assert "".join(span.text for span in spans) == "日本      7  "


def test_hanging_indent() -> None:
    """Further lines start below the first, or at the given indent."""
    text = "one two three four five six seven"
    under = hanging(line("label  "), text, 27)
    indented = hanging(line("label  "), text, 27, indent=2)
    assert ["".join(span.text for span in each) for each in under] == [
        "label  one two three four",
        "       five six seven",
    ]
    assert ["".join(span.text for span in each) for each in indented] == [
        "label  one two three four",
        "  five six seven",
    ]
