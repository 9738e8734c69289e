"""Shows the picker below the cursor, reads keys until an agent is chosen, and removes it again."""

import os
import select
import shutil
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from claude_headspace.surfaces.cli.options import now
from claude_headspace.surfaces.cli.presentation.picker import Picker
from claude_headspace.surfaces.cli.redraw import below_cursor
from claude_headspace.surfaces.text.formatting import Json

MAX_HEIGHT = 14
ESCAPE_SECONDS = 0.05
"""How long the rest of a key that begins with Esc may take."""

KEYS = {
    "\r": "enter",
    "\n": "enter",
    "\x1b": "escape",
    "\x04": "escape",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x15": "clear",
    "\x17": "clear",
    "\x10": "up",
    "\x0b": "up",
    "\x0e": "down",
    "\t": "down",
    "\x1b[A": "up",
    "\x1bOA": "up",
    "\x1b[B": "down",
    "\x1bOB": "down",
    "\x1b[Z": "up",
    "\x1b[5~": "pageup",
    "\x1b[6~": "pagedown",
}
"""What a terminal sends for a key."""


def pick(agents: Sequence[Json]) -> Json | None:
    """The agent that the person chooses; None if they cancel."""
    picker = Picker(agents)
    with _single_keys() as descriptor, below_cursor() as draw:
        while True:
            size = shutil.get_terminal_size()
            draw(picker.lines(now(), size.columns, min(size.lines - 1, MAX_HEIGHT)))
            for key in read_keys(descriptor):
                if key == "escape":
                    return None
                if key == "enter" and picker.selected is not None:
                    return picker.selected
                picker.press(key)


@contextmanager
def _single_keys() -> Iterator[int]:
    """The descriptor of the terminal, which passes on each key at once. What was typed before is dropped."""
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor, termios.TCSAFLUSH)
        yield descriptor
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def read_keys(descriptor: int) -> list[str]:
    """Wait for keys, and return their names; a character is its own name. The end of the input is `escape`."""
    text = os.read(descriptor, 1024)
    if text.endswith(b"\x1b") and select.select([descriptor], [], [], ESCAPE_SECONDS)[0]:
        text += os.read(descriptor, 1024)
    return split_keys(text.decode("utf-8", "ignore")) if text else ["escape"]


def split_keys(text: str) -> list[str]:
    """The names of the keys in a text. Unknown sequences and control characters are left out."""
    keys: list[str] = []
    while text:
        known = max((each for each in KEYS if text.startswith(each)), key=len, default=text[0])
        if known == "\x1b" and len(text) > 1:
            return keys  # the sequence of an unknown key
        text = text[len(known) :]
        name = KEYS.get(known, known if known.isprintable() else "")
        keys += [name] if name else []
    return keys
