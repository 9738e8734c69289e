"""Reads text with ANSI escape sequences, as tmux prints a screen. Pure.

Only colours and styles are kept, as codes in a fixed order. All other sequences are removed, and control characters
become visible marks, so that no program in a pane can affect the terminal that shows it.
"""

import re
from collections.abc import Iterator, Sequence

from claude_headspace.surfaces.text.formatting import clean_text

_SEQUENCE = re.compile(
    r"\x1b\[([0-9;:]*)m|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|[\x0e\x0f\r]"
)
_STYLES = {"1": "bold", "2": "dim", "3": "italic", "4": "underline", "7": "reverse", "8": "hidden", "9": "strike"}
_ENDS = {"22": ("bold", "dim"), "23": ("italic",), "24": ("underline",), "27": ("reverse",), "28": ("hidden",)} | {
    "29": ("strike",),
    "39": ("colour",),
    "49": ("background",),
}
_COLOUR_SLOTS = {"38": "colour", "48": "background", "58": "line colour"}
_COLOUR_LENGTHS = {"5": 2, "2": 4}
"""After 38, 48 or 58: how many parameters name a colour."""
_SLOTS = (*_STYLES.values(), "colour", "background")

Piece = tuple[str, str]
"""A text, and the codes of its style: `1;31`. Empty: plain text."""


Codes = dict[str, str]
"""The code of each slot that is set."""


def parse_lines(text: str) -> list[list[Piece]]:
    """The lines of a text. A style continues until it is changed, also on the next line."""
    codes: Codes = {}
    return [list(_pieces(line, codes)) for line in text.split("\n")]


def _pieces(line: str, codes: Codes) -> Iterator[Piece]:
    """The pieces of a line. Changes the codes."""
    at = 0
    for found in _SEQUENCE.finditer(line):
        if found.start() > at:
            yield clean_text(line[at : found.start()]), _joined(codes)
        at = found.end()
        if found.group(1) is not None:
            _apply(found.group(1), codes)
    if line[at:]:
        yield clean_text(line[at:]), _joined(codes)


def _joined(codes: Codes) -> str:
    return ";".join(codes[slot] for slot in _SLOTS if slot in codes)


def _apply(parameters: str, codes: Codes) -> None:
    """Change the codes as a sequence says. Unknown parameters are ignored."""
    numbers = parameters.split(";")
    while numbers:
        number, *subparameters = numbers.pop(0).split(":")
        if number in _COLOUR_SLOTS:
            _set_colour(codes, number, subparameters or _take_colour(numbers))
        elif number in ("", "0"):
            codes.clear()
        elif number in _STYLES and subparameters != ["0"]:
            codes[_STYLES[number]] = number
        elif number in _STYLES:
            codes.pop(_STYLES[number], None)
        elif number in _ENDS:
            for slot in _ENDS[number]:
                codes.pop(slot, None)
        elif number.isdigit():
            _set_plain_colour(codes, int(number))


def _take_colour(numbers: list[str]) -> list[str]:
    """Remove the parameters of a colour, and return them."""
    length = _COLOUR_LENGTHS.get(numbers[0], 0) if numbers else 0
    taken = numbers[:length]
    del numbers[:length]
    return taken


def _set_colour(codes: Codes, number: str, parameters: Sequence[str]) -> None:
    """Set a colour of 256, or one with red, green and blue. Between colons, an empty parameter may come before them."""
    given = [each for each in parameters if each]
    if given and len(given) == _COLOUR_LENGTHS.get(given[0]) and all(each.isdigit() for each in given):
        codes[_COLOUR_SLOTS[number]] = ";".join((number, *given))


def _set_plain_colour(codes: Codes, number: int) -> None:
    if 30 <= number <= 37 or 90 <= number <= 97:
        codes["colour"] = str(number)
    elif 40 <= number <= 47 or 100 <= number <= 107:
        codes["background"] = str(number)
