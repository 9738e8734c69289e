r"""Finds the rules that a payload could match, at a cost that does not depend on their number.

The payload becomes words (runs of letters and digits, in lower case), which are looked up in tables:

| keyword | example | found by |
|---|---|---|
| words | `ghp_`, `client-secret` | its rarest word: `ghp`, `secret`; also after an escape such as `\n`: `nghp` |
| the beginning of a long word | `AKIA*` | the first letters of the word: `akia`, `naki` |
| the end of a word | `*token` | the last letters of the word: `oken` |
| anything else | `?://` | a search in every payload |
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import product

from claude_headspace.kernel.redaction.rule import RedactionRule

PART = 4
"""How many letters of the beginning or the end of a word are looked up."""
MIN_LONG_WORD = 6
"""The length of a word from which they are."""
COMMON = frozenset(
    {"access", "api", "client", "data", "discord", "encryption", "private", "session", "signing", "user"}
)
"""Words that are not looked up if a keyword has another one."""

COLOURS = b"\\u001b["
"""A control sequence of a terminal. Its last letter joins with the next word, so every rule is a candidate."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_ESCAPES = ("", "n", "r", "t", "b", "f")
_TO_WORDS = bytes(ord(char.lower()) if char.isascii() and char.isalnum() else 32 for char in map(chr, range(256)))
_WORD = re.compile("[a-z0-9]+")


Anchor = tuple[bytes, tuple[RedactionRule, ...]]
"""A keyword in lower case, and its rules. Every match of a rule starts with one of its keywords."""


class WordIndex:
    """The keywords of all rules, by the words that contain them."""

    def __init__(self, rules: Iterable[RedactionRule]) -> None:
        by_keyword = defaultdict[str, list[RedactionRule]](list)
        for rule in rules:
            for keyword in rule.keywords:
                by_keyword[keyword.lower()].append(rule)
        self._always = list[Anchor]()
        self._words, self._starts, self._ends = (defaultdict[bytes, list[Anchor]](list) for _ in range(3))
        for keyword, found in by_keyword.items():
            self._add(keyword, (keyword.strip("*").removeprefix("?").encode(), tuple(found)))
        self._all = _distinct(self._anchors())
        self._known_words = frozenset(self._words)

    def _add(self, keyword: str, anchor: Anchor) -> None:
        if keyword.startswith("?"):
            self._always.append(anchor)
        elif keyword.endswith("*"):
            for start in _starts(keyword[:-1]):
                self._starts[start.encode()].append(anchor)
        else:
            name = _rarest_word(keyword)
            for word in (name,) if keyword.strip("*")[0] != name[0] else (escape + name for escape in _ESCAPES):
                self._words[word.encode()].append(anchor)
            if keyword.startswith("*"):
                for before in product(_LETTERS, repeat=max(0, PART - len(name))):
                    self._ends["".join((*before, name))[-PART:].encode()].append(anchor)

    def _anchors(self) -> Iterator[Anchor]:
        yield from self._always
        for table in (self._words, self._starts, self._ends):
            for anchors in table.values():
                yield from anchors

    def candidates(self, payload: bytes) -> list[Anchor]:
        """The keywords that the payload may contain. None of those that it contains is missing."""
        if COLOURS in payload:
            return self._all
        starts, ends, words = self._starts, self._ends, payload.translate(_TO_WORDS).split()
        known = self._known_words.intersection(words)
        long = [
            word for word in words if len(word) >= MIN_LONG_WORD and (word[-PART:] in ends or word[:PART] in starts)
        ]
        if not known and not long:
            return self._always
        found = [*self._always, *(anchor for word in known for anchor in self._words[word])]
        for word in {*long}:
            found += [*ends.get(word[-PART:], ()), *starts.get(word[:PART], ())]
        return _distinct(found)


def _distinct(anchors: Iterable[Anchor]) -> list[Anchor]:
    return list({id(anchor): anchor for anchor in anchors}.values())


def _rarest_word(keyword: str) -> str:
    """The word by which a keyword is found."""
    words: list[str] = _WORD.findall(keyword)
    return max(words, key=lambda word: (word not in COMMON, -words.index(word)))


def _starts(stem: str) -> Iterator[str]:
    """The beginnings of the words with a stem. At the start of the stem, they can be joined with an escape."""
    word = _WORD.findall(stem)[-1]
    for escape in _ESCAPES if word == stem else ("",):
        for rest in product(_LETTERS, repeat=max(0, PART - len(escape + word))):
            yield (escape + word)[:PART] + "".join(rest)
