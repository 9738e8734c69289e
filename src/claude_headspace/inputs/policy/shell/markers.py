"""Signs within a text that plain text cannot have: they tell what a character meant to the shell.

A `*` that bash would expand is not the `*` of a quoted text. Both stand in one string while a word is expanded, the
meaningful ones as characters of Unicode's private use area, which are taken out of what arrives.
"""

import re

from claude_headspace.kernel.policy.call import UNKNOWN

STAR, QUESTION, BRACKET = "\ue001", "\ue002", "\ue003"
OPEN, COMMA, CLOSE = "\ue004", "\ue005", "\ue006"
SPLIT = "\ue007"
"""A gap between words that came out of an expansion."""
EMPTY_WORD = "\ue008"
"""Quotes with nothing between: a word, though an empty one."""

CHARACTER_FOR = {STAR: "*", QUESTION: "?", BRACKET: "[", OPEN: "{", COMMA: ",", CLOSE: "}", SPLIT: " ", EMPTY_WORD: ""}
MARKER_FOR = {"*": STAR, "?": QUESTION, "[": BRACKET, "{": OPEN, ",": COMMA, "}": CLOSE}

_ALL = re.compile(f"[{UNKNOWN}-{EMPTY_WORD}]")
_GLOB = re.compile(f"[{STAR}{QUESTION}{BRACKET}]")


def without_markers(text: str) -> str:
    """A text from outside, in which nothing can pass for a sign of ours."""
    return _ALL.sub("\ufffd", text)


def unmark(text: str) -> str:
    """A text as people write it; what is unknown stays so."""
    return "".join(CHARACTER_FOR.get(char, char) for char in text) if _ALL.search(text) else text


def quote(argument: str) -> str:
    """An argument that the shell takes as it is."""
    return "'" + unmark(argument).replace("'", "'\\''") + "'"


def has_glob(text: str) -> bool:
    """Whether bash would look for files of that name."""
    return _GLOB.search(text) is not None


def expand_braces(text: str, limit: int = 64) -> list[str]:
    """`a{b,c}d` → `abd`, `acd`, innermost first; braces without a comma mean nothing."""
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
    return [str(number) for number in range(first, last + step, step)][:64]


_ANSI = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


def decode_escapes(text: str) -> str:
    r"""The escapes of `$'…'`, `echo -e` and `printf`: `\x72` is an r."""
    return _ANSI.sub(_decode_escape, text)


def _decode_escape(found: re.Match[str]) -> str:
    what = found[1]
    if what[0] in "xuU" and len(what) > 1:
        number = int(what[1:], 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    if what[0] in "01234567":
        return chr(int(what, 8) & 0xFF)
    return _LETTERS.get(what, what)
