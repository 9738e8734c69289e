"""Markers: private Unicode characters that stand for characters with a meaning in the shell.

While a word is expanded, an unquoted `*` and a quoted `*` are in the same string. The unquoted one is a marker. Input
text cannot contain markers, because `without_markers` removes them first.
"""

import re
from collections.abc import Iterable

from claude_headspace.kernel.policy.call import UNKNOWN

STAR, QUESTION, BRACKET = "\ue001", "\ue002", "\ue003"
OPEN, COMMA, CLOSE = "\ue004", "\ue005", "\ue006"
SPLIT = "\ue007"
"""Separates the words of an unquoted expansion."""
EMPTY_WORD = "\ue008"
"""Empty quotes: an empty argument, which field splitting must keep."""

CHARACTER_FOR = {STAR: "*", QUESTION: "?", BRACKET: "[", OPEN: "{", COMMA: ",", CLOSE: "}", SPLIT: " ", EMPTY_WORD: ""}
MARKER_FOR = {"*": STAR, "?": QUESTION, "[": BRACKET, "{": OPEN, ",": COMMA, "}": CLOSE}

_TO_CHARACTERS = str.maketrans(CHARACTER_FOR)
_GLOBS_TO_MARKERS = str.maketrans({each: MARKER_FOR[each] for each in "*?["})
_ALL = re.compile(f"[{UNKNOWN}-{EMPTY_WORD}]")
_GLOB = re.compile(f"[{STAR}{QUESTION}{BRACKET}]")


def without_markers(text: str) -> str:
    """Replace all markers in input text by U+FFFD."""
    return _ALL.sub("\ufffd", text)


def unmark(text: str) -> str:
    """Replace markers by the characters that they stand for. `UNKNOWN` stays."""
    return text.translate(_TO_CHARACTERS) if _ALL.search(text) else text


def unmark_all(texts: Iterable[str]) -> list[str]:
    """Replace the markers of several texts."""
    return [text.translate(_TO_CHARACTERS) if _ALL.search(text) else text for text in texts]


def quote(argument: str) -> str:
    """Quote an argument for the shell."""
    return "'" + unmark(argument).replace("'", "'\\''") + "'"


def mark_globs(text: str) -> str:
    """Replace glob characters by markers: the program that gets this text expands them itself."""
    return text.translate(_GLOBS_TO_MARKERS)


def has_glob(text: str) -> bool:
    """Whether the text contains an unquoted glob character."""
    return _GLOB.search(text) is not None


MAX_RANGE = 16
"""Values of `{1..100}`. Rules rarely depend on the number."""


def expand_braces(text: str, limit: int = 64) -> list[str]:
    """Expand braces, innermost first: `a{b,c}d` → `abd`, `acd`. Braces without comma or range stay."""
    done: list[str] = []
    todo = [text]
    while todo and len(done) + len(todo) < limit:
        current = todo.pop(0)
        inner = re.search(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}", current)
        if inner is None:
            done.append(current)
            continue
        choices = inner[1].split(COMMA) if COMMA in inner[1] else _expand_range(inner[1])
        before, after = current[: inner.start()], current[inner.end() :]
        todo += [before + choice + after for choice in choices or [f"{{{inner[1]}}}"]]
    return done + todo


def _expand_range(text: str) -> list[str]:
    """`1..3` → 1, 2, 3."""
    found = re.fullmatch(r"(-?\d{1,6})\.\.(-?\d{1,6})", text)
    if found is None:
        return []
    first, last = int(found[1]), int(found[2])
    step = 1 if last >= first else -1
    return [str(number) for number in range(first, last + step, step)[:MAX_RANGE]]


_ANSI = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


def decode_escapes(text: str) -> str:
    r"""Decode the escapes of `$'…'`, `echo -e` and `printf`: `\x72` → `r`."""
    return _ANSI.sub(_decode_escape, text)


def _decode_escape(match: re.Match[str]) -> str:
    escape = match[1]
    if escape[0] in "xuU" and len(escape) > 1:
        number = int(escape[1:], 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    if escape[0] in "01234567":
        return chr(int(escape, 8) & 0xFF)
    return _LETTERS.get(escape, escape)
