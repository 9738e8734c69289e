"""The lines of a screen for a page: parts of one style, without secrets. Pure.

A secret can be broken over two lines by the width of the pane, so each full line is also searched together with the
next one. A line in which a secret was replaced loses its styles.
"""

from collections.abc import Callable, Iterator
from difflib import SequenceMatcher

import msgspec
from rich.cells import cell_len

from claude_headspace.kernel.redaction.redactor import REDACTED
from claude_headspace.surfaces.text.ansi import Piece, parse_lines

MARGIN = 4
"""How many columns may be free at the end of a full line: frames and padding."""
FRAME = " │|▌┃"


class LinePart(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of a line."""

    text: str
    style: str = ""
    """ANSI codes, such as `1;31`."""
    wide: bool = False
    """Whether it is one character that takes two columns."""


Line = list[LinePart]


def screen_lines(screen: str, width: int, redact: Callable[[str], str]) -> list[Line]:
    """The lines of a screen, which has this many columns."""
    lines = parse_lines(screen.removesuffix("\n"))
    texts = ["".join(text for text, _ in line) for line in lines]
    shown = _without_broken_secrets(_without_secrets(texts, redact), width, redact)
    return [
        list(_parts(line if before == after else [(after, "")]))
        for line, before, after in zip(lines, texts, shown, strict=True)
    ]


def _without_secrets(texts: list[str], redact: Callable[[str], str]) -> list[str]:
    """The same number of lines. A secret of several lines, such as a key, leaves empty ones."""
    after = redact("\n".join(texts)).split("\n")
    if after == texts:
        return texts
    shown: list[str] = []
    for what, start, end, new_start, new_end in SequenceMatcher(None, texts, after, autojunk=False).get_opcodes():
        block = texts[start:end] if what == "equal" else after[new_start:new_end]
        shown += (block + [""] * (end - start))[: max(end - start, 0)]
    return shown


def _without_broken_secrets(texts: list[str], width: int, redact: Callable[[str], str]) -> list[str]:
    shown = list(texts)
    for at in range(len(shown) - 1):
        first, second = shown[at].rstrip(FRAME), shown[at + 1].strip(FRAME)
        if not second or cell_len(first) < width - MARGIN:
            continue
        joined = first + second
        if (after := redact(joined)) != joined:
            start = after.find(REDACTED)
            if start < len(first):
                shown[at], shown[at + 1] = first[:start] + REDACTED, REDACTED
    return shown


def _parts(pieces: list[Piece]) -> Iterator[LinePart]:
    """The pieces of a line, with each wide character on its own."""
    for text, style in pieces:
        if text.isascii():
            yield LinePart(text, style)
        else:
            yield from _split(text, style)


def _split(text: str, style: str) -> Iterator[LinePart]:
    """Narrow characters together, and each wide one with the marks and joiners that follow it."""
    narrow = wide = ""
    for sign in text:
        size = cell_len(sign)
        if wide and size == 0:
            wide += sign
            continue
        if wide:
            yield LinePart(wide, style, wide=True)
            wide = ""
        if size == 2:
            if narrow:
                yield LinePart(narrow, style)
            narrow, wide = "", sign
        else:
            narrow += sign
    if wide:
        yield LinePart(wide, style, wide=True)
    if narrow:
        yield LinePart(narrow, style)
