"""Reads keys with an Esc prefix. A terminal sends Alt+y as Esc and y, so Esc and y typed quickly look the same.

The parser of Textual drops the prefix of some keys (Esc and Enter become Enter), and reads others as letters of a
keyboard layout (Esc and 1 become ¡). Here every key after Esc is `alt+` and the key, so it is never taken for the key.
Keys that edit a text (Alt+f, Alt+b, Alt+Backspace) stay as they are. Terminals that report Alt together with the letter
itself are handled alike; a letter that Alt produces on some keyboards, such as [, is that letter.
"""

import re
from collections.abc import Iterable

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.events import Key

ESC = "\x1b"
SEQUENCE_STARTS = "[OPX]^_"
"""After Esc, these may start a longer sequence of the terminal."""
REPORTED_KEY = re.compile(r"\x1b\[(\d+)[\d:]*;(\d+)[\d:]*;(\d+)u")
"""A key, its modifiers plus one, and its text, in the keyboard protocol of kitty."""
ALT = 2


class KeyParser(XTermParser):
    """The parser of Textual, except for keys with an Esc prefix."""

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[Key]:
        if _is_prefixed_key(sequence):
            sequence, alt = sequence[1:], True
        alt = alt or _reports_alt(sequence)
        for event in super()._sequence_to_key_events(sequence, alt):
            yield _with_alt(event) if alt else event


def _is_prefixed_key(sequence: str) -> bool:
    is_key = len(sequence) == 2 and sequence[0] == ESC and sequence[1] not in SEQUENCE_STARTS
    return is_key and not isinstance(ANSI_SEQUENCES_KEYS.get(sequence), tuple)


def _reports_alt(sequence: str) -> bool:
    found = REPORTED_KEY.fullmatch(sequence)
    return found is not None and found[1] == found[3] and bool((int(found[2]) - 1) & ALT)


def _with_alt(event: Key) -> Key:
    return event if event.key.startswith("alt+") else Key(f"alt+{event.key}", event.character)


def use_key_parser() -> None:
    """Let the driver of Textual use this parser. It has no option for that."""
    vars(linux_driver)["XTermParser"] = KeyParser


def has_escape_prefix(event: Key) -> bool:
    """Whether Esc was pressed right before the key, or Alt with it. Keys that move the cursor have no character."""
    return event.key.startswith("alt+") and event.character is not None
