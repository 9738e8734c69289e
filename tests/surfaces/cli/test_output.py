"""On a real terminal: colour, what to type next, and nothing wider than the screen."""

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
def test_nothing_is_wider_than_the_terminal(
    board: tuple[RunningDaemon, dict[str, str]], command: str, columns: int
) -> None:
    """Lines are cut or broken between words, with hostile and wide texts too."""
    daemon, names = board
    for session in ("asks", "hostile"):
        arguments = [command, names[session]] if command in ("show", "why") else [command]
        shown = COLOURS.sub("", on_a_terminal(daemon, columns, *arguments))
        assert "\x1b" not in shown
        assert [text for text in shown.splitlines() if cell_len(text) > columns] == []


def test_attention_is_the_only_filled_colour(board: tuple[RunningDaemon, dict[str, str]]) -> None:
    """Who waits stands on amber; nobody else has a background."""
    daemon, names = board
    shown = on_a_terminal(daemon, 100, "list")
    filled = re.findall(r"\x1b\[30;43m(.*?)\x1b\[0m", shown)
    assert f"◆ {names['asks']}" in filled
    assert all(text.startswith("◆") for text in filled)


def test_people_are_told_what_to_type_next(board: tuple[RunningDaemon, dict[str, str]]) -> None:
    """On a terminal the table ends with the next command; in a pipe it does not (see the tests of `list`)."""
    daemon, names = board
    assert f"headspace show {names['asks']}" in on_a_terminal(daemon, 100, "list")
    assert f"headspace why {names['asks']}" in on_a_terminal(daemon, 100, "show", names["asks"])
    assert "headspace list" in on_a_terminal(daemon, 100, "status")


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_without_colours(board: tuple[RunningDaemon, dict[str, str]], variables: dict[str, str]) -> None:
    """Shape and word carry the meaning alone."""
    shown = on_a_terminal(board[0], 100, "list", **variables)
    assert "\x1b" not in shown
    assert "◆" in shown


def test_a_terminal_that_knows_no_unicode_is_served(board: tuple[RunningDaemon, dict[str, str]]) -> None:
    """What cannot be written is replaced; nothing fails."""
    shown = on_a_terminal(board[0], 100, "list", PYTHONIOENCODING="latin-1", PYTHONUTF8="0")
    assert "Traceback" not in shown
    assert "npm test" in shown


def test_cells_are_padded_by_what_they_show() -> None:
    """Wide characters count twice, so columns stay straight."""
    spans = row([Span("日本"), Span("7")], [6, 3], [False, True])
    assert "".join(span.text for span in spans) == "日本      7  "


def test_a_long_text_hangs_under_its_beginning() -> None:
    """Further lines stand under the first, or at the indent that is wanted."""
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
