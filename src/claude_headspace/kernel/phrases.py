"""Phrase tables: their notation, and one lookup that searches all tables at once. Pure.

    DONE = PhraseTable("en: all {tests|checks} pass; ^done$")
    DONE.find(index_sentence("All tests pass."))      # "all tests pass"

Notation
- A phrase is lower case without punctuation and matches whole words: `ok to` does not match `book tours`.
- `{a|b|}` is one of these or nothing. `…` is any text. `^` and `$` are the start and end of the sentence.
- `*` is any ending of the last word before a gap or the end (`bitte bestätig*`). All other words match exactly.
- A semicolon ends a phrase. Lines can break between words and after `|`.
- Chinese, Japanese and Korean phrases match anywhere, because these scripts have no spaces between words.
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
"""Words of nearly every message. A phrase is indexed by its rarer words, if it has any."""


class IndexedSentence(msgspec.Struct, frozen=True):
    """A sentence in lower case with one space around each word, its keys, and the matching phrase of each table."""

    text: str
    keys: frozenset[str]
    matches: dict["PhraseTable", str]


def index_sentence(sentence: str) -> IndexedSentence:
    """Index a sentence. A key is a word, or one character of a script without spaces."""
    sentence = sentence.lower()
    is_ascii = sentence.isascii()
    words = (_ASCII_WORD if is_ascii else _WORD).findall(sentence)
    text = f" {' '.join(words)} "
    keys = frozenset(words if is_ascii else (*words, *_UNSPACED.findall(text)))
    return IndexedSentence(text, keys, _search(text, keys))


def _search(text: str, keys: frozenset[str]) -> dict["PhraseTable", str]:
    """Search all tables at once. If several phrases of a table match, the alphabetically first is returned."""
    matches: dict[PhraseTable, str] = {}
    for key in _INDEX.keys() & keys:
        for other, entries in _INDEX[key].items():
            if other in keys:
                for phrase, table in entries:
                    if phrase.is_in(text) and (table not in matches or phrase.name < matches[table]):
                        matches[table] = phrase.name
    return matches


class _Phrase(msgspec.Struct):
    """A phrase. It is split at its gaps on first use, because most phrases are never compared."""

    pattern: str
    at_start: bool
    at_end: bool
    parts: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The phrase as shown in a reason."""
        return self.pattern.strip("^$* ")

    def is_in(self, text: str) -> bool:
        """Whether all parts occur in order. Adjacent parts share the space between them."""
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
    """A table of phrases, added to the common index."""

    def __init__(self, table: str) -> None:
        keys = {variant: _required_keys(variant) for variant in _expand_table(table)}
        frequency = Counter(chain.from_iterable(keys.values()))
        for variant, required in keys.items():
            rarest, *others = sorted(required, key=lambda key: (key in _FREQUENT_WORDS, frequency[key], key))
            entries = _INDEX.setdefault(rarest, {}).setdefault(others[0] if others else rarest, [])
            entries.append((_Phrase(variant, variant[0] == "^", variant[-1] == "$"), self))

    def find(self, sentence: IndexedSentence) -> str:
        """The phrase of this table that occurs in the sentence; empty if none does."""
        return sentence.matches.get(self, "")


_INDEX: dict[str, dict[str, list[tuple[_Phrase, PhraseTable]]]] = {}
"""All phrases of all tables by the two rarest keys that a matching sentence must contain."""


def _required_keys(variant: str) -> set[str]:
    """The keys that a matching sentence must contain: the complete words of the phrase."""
    text = variant.strip("^$")
    if _UNSPACED.match(text):
        return {text[0]}
    keys: set[str] = set()
    for part in text.split("…"):
        words = part.split()
        keys.update(words[:-1] if words[-1][-1] == "*" else words)
    return keys if text.isascii() else {key for key in keys if not _UNSPACED.search(key)}


def _expand_table(table: str) -> Iterator[str]:
    """All phrases of a table, with choices expanded. A semicolon or a language name (`de:`) separates phrases."""
    for phrase in _PHRASE_SEPARATOR.split(_LINE_WRAP.sub("|", table).strip()):
        yield from sorted(_expand_choices(phrase) - {""})


def _expand_choices(phrase: str) -> set[str]:
    """All variants of a phrase, one for each choice; innermost braces first."""
    choice = _CHOICE.search(phrase)
    if choice is None:
        return {" ".join(phrase.split())}
    before, after = phrase[: choice.start()], phrase[choice.end() :]
    return {variant for option in choice[1].split("|") for variant in _expand_choices(before + option + after)}


def _split_at_gaps(phrase: _Phrase) -> tuple[str, ...]:
    """The texts between the gaps of a phrase, with spaces where words start and end."""
    texts = [text.strip() for text in phrase.pattern.strip("^$").split("…")]
    last = len(texts) - 1
    return tuple(_pad(text, phrase.at_start and i == 0, phrase.at_end and i == last) for i, text in enumerate(texts))


def _pad(text: str, at_start: bool, at_end: bool) -> str:
    """Add a space where a word must start or end."""
    spaced = not _UNSPACED.match(text)
    left = " " if spaced or at_start else ""
    right = " " if (spaced and not text.endswith("*")) or at_end else ""
    return left + text.rstrip("*") + right
