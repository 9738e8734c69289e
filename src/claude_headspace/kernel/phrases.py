"""Phrases that are looked for in sentences: their notation, and the one lookup that answers for all tables at once.

    DONE = Phrases("en: all {tests|checks} pass; ^done$")
    DONE.find(words_of("All tests pass."))      # "all tests pass"

Rules of the notation
- A phrase is lower case, without punctuation, and matches whole words: `ok to` is not in `book tours`.
- `{a|b|}` is one of these, or nothing; `…` is anything between; `^` and `$` are the sentence's start and end.
- `*` is any ending of the last word before a gap or the end (`bitte bestätig*`); another word must be whole.
- A semicolon ends a phrase; a line may break between words and after `|`.
- Chinese, Japanese and Korean phrases match anywhere, as they have no word borders that could be relied on.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain

import msgspec

_PHRASE_SEPARATOR = re.compile(r";|^\s*[a-z]{2}: ", re.MULTILINE)
_LINE_WRAP = re.compile(r"\|\n\s*")
_CHOICE = re.compile(r"\{([^{}]*)\}")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")
_UNSPACED = re.compile("[\u2e80-\uffff]")
_FREQUENT_WORDS = frozenset(
    "a all and any are as at be been but by can do does for from has have here how i if in is it its me my no not "
    "now of on one or our so test that the then there they this to up was we were what when will with work x you "
    "your".split()
)
"""Words that nearly every message has: a phrase is looked up by a better one, if it has any."""


class IndexedSentence(msgspec.Struct, frozen=True):
    """A sentence as the tables want it: lower case, one space around each word, and what every table finds in it."""

    text: str
    keys: frozenset[str]
    matches: dict["PhraseTable", str]


def index_sentence(sentence: str) -> IndexedSentence:
    """Take a sentence apart; a key is a word, or one character of a script without spaces."""
    sentence = sentence.lower()
    in_ascii = sentence.isascii()
    words = (_ASCII_WORD if in_ascii else _WORD).findall(sentence)
    text = f" {' '.join(words)} "
    keys = frozenset(words if in_ascii else (*words, *_UNSPACED.findall(text)))
    return IndexedSentence(text, keys, _search(text, keys))


def _search(text: str, keys: frozenset[str]) -> dict["PhraseTable", str]:
    """Look a sentence up in all tables at once: of each the phrase that is in it, of several the first by name."""
    found: dict[PhraseTable, str] = {}
    for key in _INDEX.keys() & keys:
        for other, entries in _INDEX[key].items():
            if other in keys:
                for phrase, table in entries:
                    if phrase.is_in(text) and (table not in found or phrase.name < found[table]):
                        found[table] = phrase.name
    return found


class _Phrase(msgspec.Struct):
    """One phrase as it is written. It is cut at its gaps when it is first looked for: most never are."""

    pattern: str
    at_start: bool
    at_end: bool
    parts: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What it is called in a reason."""
        return self.pattern.strip("^$* ")

    def is_in(self, text: str) -> bool:
        """Find the parts one after the other; neighbours share the space between them."""
        parts = self.parts = self.parts or _split_at_gaps(self)
        if self.at_start and not text.startswith(parts[0]):
            return False
        if self.at_end and not text.endswith(parts[-1]):
            return False
        position = 0
        for part in parts:
            position = text.find(part, position)
            if position < 0:
                return False
            position += len(part) - 1
        return True


class PhraseTable:
    """A table that answers: which of its phrases is in this sentence?"""

    def __init__(self, table: str) -> None:
        keys = {variant: _required_keys(variant) for variant in _expand_table(table)}
        common = Counter(chain.from_iterable(keys.values()))
        for variant, found in keys.items():
            rarest, *others = sorted(found, key=lambda key: (key in _FREQUENT_WORDS, common[key], key))
            beside = _INDEX.setdefault(rarest, {}).setdefault(others[0] if others else rarest, [])
            beside.append((_Phrase(variant, variant[0] == "^", variant[-1] == "$"), self))

    def find(self, words: IndexedSentence) -> str:
        """Give a phrase that is in the sentence, or nothing."""
        return words.matches.get(self, "")


_INDEX: dict[str, dict[str, list[tuple[_Phrase, PhraseTable]]]] = {}
"""Every phrase of every table, under the two rarest of the keys that a sentence with it must have."""


def _required_keys(variant: str) -> set[str]:
    """The keys that a sentence with this phrase must have: its whole words."""
    text = variant.strip("^$")
    if _UNSPACED.match(text):
        return {text[0]}
    keys: set[str] = set()
    for part in text.split("…"):
        words = part.split()
        keys.update(words[:-1] if words[-1][-1] == "*" else words)
    return keys if text.isascii() else {key for key in keys if not _UNSPACED.search(key)}


def _expand_table(table: str) -> Iterator[str]:
    """Read a table: semicolons end a phrase, and so does the name of the next language, which is for people only."""
    for phrase in _PHRASE_SEPARATOR.split(_LINE_WRAP.sub("|", table).strip()):
        yield from sorted(_expand_choices(phrase) - {""})


def _expand_choices(phrase: str) -> set[str]:
    """Write out every choice of a phrase, the innermost braces first."""
    choice = _CHOICE.search(phrase)
    if choice is None:
        return {" ".join(phrase.split())}
    before, after = phrase[: choice.start()], phrase[choice.end() :]
    return {variant for option in choice[1].split("|") for variant in _expand_choices(before + option + after)}


def _split_at_gaps(phrase: _Phrase) -> tuple[str, ...]:
    """What stands between the gaps of a phrase, with spaces where words begin and end."""
    texts = [text.strip() for text in phrase.pattern.strip("^$").split("…")]
    last = len(texts) - 1
    return tuple(_pad(text, phrase.at_start and i == 0, phrase.at_end and i == last) for i, text in enumerate(texts))


def _pad(text: str, at_start: bool, at_end: bool) -> str:
    """Put a space where a word must begin or end."""
    spaced = not _UNSPACED.match(text)
    left = " " if spaced or at_start else ""
    right = " " if (spaced and not text.endswith("*")) or at_end else ""
    return left + text.rstrip("*") + right
