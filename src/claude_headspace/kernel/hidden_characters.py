"""Hidden characters: characters that change how a text looks without being visible. Pure.

A bidirectional control makes `echo safe` look like another command. A zero-width character splits a word. An escape
sequence rewrites the screen of a terminal.

Rules
- Hidden are: bidirectional controls, zero-width and other format characters, fillers, line separators, tags, and all
  control characters except line feed and tab. A carriage return before a line feed is a line end.
- Variation selectors and joiners are part of emoji. Anywhere else they are hidden characters.
- In names and paths all control characters are hidden, also line feed and tab: a name has one line.
- A mark such as ⟦U+202E⟧ replaces a hidden character. Everything else in the text stays.
"""

import re
import unicodedata
from collections.abc import Iterator

import msgspec

RANGES: tuple[tuple[int, int], ...] = (
    (0x0000, 0x0008),
    (0x000B, 0x001F),
    (0x007F, 0x009F),  # delete and the C1 controls
    (0x00AD, 0x00AD),  # soft hyphen
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x061C, 0x061C),  # Arabic letter mark
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),  # Mongolian variation selectors and vowel separator
    (0x200B, 0x200F),  # zero-width characters, directional marks
    (0x2028, 0x202E),  # line and paragraph separator, embeddings and overrides
    (0x2060, 0x206F),  # word joiner, invisible operators, isolates
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFEFF, 0xFEFF),  # byte order mark
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),  # tags, more variation selectors
)
"""The hidden characters: first and last code point."""

CONTROL_NAMES = {
    0x00: "NULL",
    0x07: "BELL",
    0x08: "BACKSPACE",
    0x09: "TAB",
    0x0A: "LINE FEED",
    0x0D: "CARRIAGE RETURN",
    0x1B: "ESCAPE",
    0x7F: "DELETE",
}
"""Names of control characters; Unicode gives them none."""

JOINER, KEYCAP_BASES, TEXT_EMOJI = "\u200d", "#*0123456789", "‼⁉ℹ〰"
EMOJI_SELECTORS = "\ufe0e\ufe0f"
EMOJI_CATEGORIES = ("So", "Sm", "Sk")

_HIDDEN = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in RANGES) + "]")

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class HiddenCharacter(msgspec.Struct, frozen=True):
    """A hidden character in a text."""

    at: int
    """Its position in code points; -1: it is in another part of the request."""
    code: str
    """Such as `U+202E`."""
    name: str


def find_hidden(text: str) -> list[HiddenCharacter]:
    """All hidden characters of a text, in order."""
    return [HiddenCharacter(at, code_of(text[at]), name_of(text[at])) for at in _positions(text)]


def has_hidden(text: str) -> bool:
    """Whether a text has a hidden character."""
    return _HIDDEN.search(text) is not None and next(_positions(text), None) is not None


def make_visible(text: str) -> str:
    """The text with a mark in place of each hidden character."""
    parts, end = list[str](), 0
    for at in _positions(text):
        parts += (text[end:at], f"⟦{code_of(text[at])}⟧")
        end = at + 1
    return "".join((*parts, text[end:])) if parts else text


def mark_controls(name: str) -> str:
    """A name or path on one line: a mark in place of each control character, also of line feeds and tabs."""
    return _CONTROLS.sub(lambda found: f"⟦{code_of(found[0])}⟧", name)


def find_controls(name: str) -> list[HiddenCharacter]:
    """The control characters of a name or path, in order."""
    return [HiddenCharacter(found.start(), code_of(found[0]), name_of(found[0])) for found in _CONTROLS.finditer(name)]


def code_of(character: str) -> str:
    """The code point of a character, such as `U+202E`."""
    return f"U+{ord(character):04X}"


def name_of(character: str) -> str:
    """The name of a character in capitals."""
    return unicodedata.name(character, "") or CONTROL_NAMES.get(ord(character), "CONTROL CHARACTER")


def _positions(text: str) -> Iterator[int]:
    return (found.start() for found in _HIDDEN.finditer(text) if not _is_harmless(text, found.start()))


def _is_harmless(text: str, at: int) -> bool:
    """Whether the character is a line end or part of an emoji."""
    character, before, after = text[at], text[at - 1] if at else "", text[at + 1 : at + 2]
    if character == "\r":
        return after == "\n"
    if character in EMOJI_SELECTORS:
        return _is_emoji(before) or before in TEXT_EMOJI or (before in KEYCAP_BASES and after == "\u20e3")
    return character == JOINER and (_is_emoji(before) or before in EMOJI_SELECTORS) and _is_emoji(after)


def _is_emoji(character: str) -> bool:
    return bool(character) and unicodedata.category(character) in EMOJI_CATEGORIES
