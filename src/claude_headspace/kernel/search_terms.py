"""The tokenizer of search and its queries, the same for every database.

Rules
- A word is a run of letters and digits in any script. `_`, `/`, `.` and all other characters separate words:
  `auth` finds `src/auth_test.py`. Each Han character, kana and emoji is a word.
- Case and accents are ignored. Of a very long word only the beginning counts, of a very long text both ends.
- Any input is a valid query: all its words must occur. Words in quotes, and parts of one word (`auth_test`), must be
  adjacent. The last word matches as a prefix, unless it is in quotes.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

MAX_WORD_CHARACTERS = 64
MAX_QUERY_CHARACTERS = 1_000
MAX_TERMS = 16
SNIPPET_CHARACTERS = 200
"""The length of a snippet in characters."""

_ONE_CHARACTER_WORDS = "\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e01-\u0e30\U00020000-\U0003134f"
_EMOJI = "\u203c-\u3299\U0001f000-\U0001faff"
_WORD = re.compile(
    rf"[{_ONE_CHARACTER_WORDS}]|[^\W_{_ONE_CHARACTER_WORDS}](?:[^\W_{_ONE_CHARACTER_WORDS}]|[\u0300-\u036f])*|(?=[^\w\s])[{_EMOJI}]"
)
_ASCII_WORD = re.compile("[a-z0-9]+")
_PART = re.compile(r'"([^"]*)"?|([^\s"]+)')
_SPACE = re.compile(r"\s+")


class Term(msgspec.Struct, frozen=True):
    """Adjacent words. With `open_end` the last one matches as a prefix."""

    words: tuple[str, ...]
    is_prefix: bool = False


class Query(msgspec.Struct, frozen=True):
    """A query: all terms must occur, and the excluded term must not."""

    terms: tuple[Term, ...] = ()
    excluded: Term | None = None


class Piece(msgspec.Struct, frozen=True):
    """A part of a snippet, and whether it matches."""

    text: str
    match: bool


def split_words(text: str) -> list[str]:
    """The words of a text, in order."""
    if text.isascii():
        return [word[:MAX_WORD_CHARACTERS] for word in _ASCII_WORD.findall(text.lower())]
    return [_normalize(word) for word in _WORD.findall(text)]


@lru_cache(maxsize=8_192)
def _normalize(word: str) -> str:
    if word.isascii():
        return word.lower()[:MAX_WORD_CHARACTERS]
    plain = unicodedata.normalize("NFKD", word.casefold())
    return (
        "".join(each for each in plain if not unicodedata.combining(each))[:MAX_WORD_CHARACTERS]
        or word[:MAX_WORD_CHARACTERS]
    )


def parse_query(text: str) -> Query:
    """Parse a query. Any text is valid."""
    terms: list[Term] = []
    for part in _PART.finditer(text[:MAX_QUERY_CHARACTERS]):
        is_quoted = part[2] is None
        if words := tuple(split_words(part[1] if is_quoted else part[2])):
            terms.append(Term(words[:MAX_TERMS], is_prefix=not is_quoted))
    exact = [Term(term.words) for term in terms[-MAX_TERMS:-1]]
    return Query((*exact, *terms[-1:]))


def query_steps(query: Query) -> tuple[Query, ...]:
    """The queries to run in order: first with the exact last word, then with longer words that start with it."""
    *others, last = query.terms or (Term(()),)
    if not last.is_prefix:
        return (query,)
    exact = Term(last.words)
    return Query((*others, exact)), Query(query.terms, excluded=exact)


def find_terms(query: Query, words: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """All occurrences of the terms among words: index of the term, first word, word after the last."""
    for index, term in enumerate(query.terms):
        for start in range(len(words) - len(term.words) + 1):
            if _matches_at(term, words, start):
                yield index, start, start + len(term.words)


def _matches_at(term: Term, words: Sequence[str], start: int) -> bool:
    *exact, last = term.words
    word = words[start + len(exact)]
    if not (word.startswith(last) if term.is_prefix else word == last):
        return False
    return all(words[start + offset] == each for offset, each in enumerate(exact))


# --- snippets ---------------------------------------------------------------------------------------------------------


def snippet(text: str, query: Query, width: int = SNIPPET_CHARACTERS) -> list[Piece]:
    """The part of a text that contains the most terms, with the matches marked."""
    spans = [match.span() for match in _WORD.finditer(text)]
    words = [_normalize(text[start:end]) for start, end in spans]
    marks = sorted((spans[first][0], spans[last - 1][1], term) for term, first, last in find_terms(query, words))
    start, end = _snippet_range(text, marks, width)
    pieces = [] if start == 0 else [Piece("… ", False)]
    at = start
    for begin, finish, _term in marks:
        if begin >= at and finish <= end:
            pieces += [Piece(text[at:begin], False), Piece(text[begin:finish], True)]
            at = finish
    pieces += [Piece(text[at:end], False), Piece(" …" if end < len(text) else "", False)]
    return _merge_pieces(pieces)


def _snippet_range(text: str, marks: Sequence[tuple[int, int, int]], width: int) -> tuple[int, int]:
    """Start and end of the snippet: around the match with the most terms nearby, cut between words."""
    best, most = 0, -1
    for begin, _finish, _term in marks[:500]:
        together = {term for other, finish, term in marks[:500] if begin <= other and finish <= begin + width}
        if len(together) > most:
            best, most = begin, len(together)
    start = max(0, min(best - width // 4, len(text) - width))
    end = min(len(text), start + width)
    if start > 0 and (space := _SPACE.search(text, start, max(best, start))):
        start = space.end()
    if end < len(text):
        end = max(text.rfind(" ", start + width // 2, end), text.rfind("\n", start + width // 2, end), -1)
        end = min(start + width, len(text)) if end < 0 else end
    return start, end


def _merge_pieces(pieces: Sequence[Piece]) -> list[Piece]:
    """Adjacent pieces of the same kind joined, white space collapsed, empty pieces removed."""
    result: list[Piece] = []
    for piece in pieces:
        text = _SPACE.sub(" ", piece.text)
        if result and result[-1].match == piece.match:
            result[-1] = Piece(result[-1].text + text, piece.match)
        elif text:
            result.append(Piece(text, piece.match))
    return result
