"""The tokenizer of search, queries and snippets."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_headspace.kernel.search_documents import truncate_middle
from claude_headspace.kernel.search_terms import (
    MAX_WORD_CHARACTERS,
    Piece,
    Query,
    Term,
    find_terms,
    parse_query,
    query_steps,
    snippet,
    split_words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("src/auth_test.py", ["src", "auth", "test", "py"]),
        ("Café CAFE\u0301 naïve", ["cafe", "cafe", "naive"]),
        ("日本語 テスト", ["日", "本", "語", "テ", "ス", "ト"]),
        ("Привет, мир", ["привет", "мир"]),
        ("ok 👍🏽 done", ["ok", "👍", "🏽", "done"]),
        ("x" * 100, ["x" * MAX_WORD_CHARACTERS]),
        ("", []),
        ("- * \" ' ( \0", []),
    ],
)
def test_text_is_split_into_words(text: str, expected: list[str]) -> None:
    """Words are letters and digits of any script; other characters separate them; case and accents are ignored."""
    assert split_words(text) == expected


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("expired car", Query((Term(("expired",)), Term(("car",), True)))),
        ('"rate limit" now', Query((Term(("rate", "limit")), Term(("now",), True)))),
        ('now "rate limit"', Query((Term(("now",)), Term(("rate", "limit"))))),
        ("auth_test", Query((Term(("auth", "test"), True),))),
        ('never "closed', Query((Term(("never",)), Term(("closed",))))),
        ("word --", Query((Term(("word",), True),))),
        (' " ', Query()),
    ],
)
def test_a_query_is_parsed(text: str, query: Query) -> None:
    """Words, phrases in quotes, and the last word as a prefix."""
    assert parse_query(text) == query


def test_no_phrase_matches_across_the_gap() -> None:
    """Words around the gap are not adjacent; a snippet shows the gap."""
    text = truncate_middle("alpha " * 30 + "and then " * 90 + "omega " * 30, 100)
    assert matches(parse_query("alpha omega"), split_words(text))
    assert not matches(parse_query('"alpha omega"'), split_words(text))
    assert "[alpha] ⋯ omega" in marked(snippet(text, parse_query("alpha")))


def test_a_snippet_shows_the_end_that_matched() -> None:
    """A match at the end of a long text is shown with its surroundings."""
    text = truncate_middle(
        "collected 900 items\n" + "tests/shop.py ....\n" * 900 + "FAILED rejects_expired_cards", 4_096
    )
    around = marked(snippet(text, parse_query("failed")))
    assert around.endswith("[FAILED] rejects_expired_cards")
    assert "collected" not in around


def test_all_words_must_occur_and_phrases_in_order() -> None:
    """A text matches if every term occurs."""
    text = split_words("the rate limit was reached")
    assert matches(parse_query("limit rea"), text) == 2
    assert matches(parse_query('"rate limit"'), text) == 1
    assert matches(parse_query('"limit rate"'), text) == 0
    assert matches(parse_query("limit missing"), text) == 0
    assert matches(Query(), text) == 0


def test_the_exact_last_word_is_searched_before_longer_words() -> None:
    """Every matching text matches in exactly one step; words in quotes only match exactly."""
    first, second = query_steps(parse_query("expired car"))
    finds = {"expired car": (2, 0), "expired cards": (0, 2), "car cards expired": (2, 0), "car": (0, 0)}
    assert {text: (matches(first, split_words(text)), matches(second, split_words(text))) for text in finds} == finds
    assert query_steps(parse_query('"expired car"')) == (parse_query('"expired car"'),)
    assert query_steps(Query()) == (Query(),)


def matches(query: Query, words: Sequence[str]) -> int:
    """The number of occurrences of the terms; 0 if any term is missing or an excluded term occurs."""
    if query.excluded and any(find_terms(Query((query.excluded,)), words)):
        return 0
    matched = [index for index, _start, _end in find_terms(query, words)]
    return len(matched) if query.terms and set(matched) == set(range(len(query.terms))) else 0


def marked(pieces: list[Piece]) -> str:
    """A snippet with its matches in brackets."""
    return "".join(f"[{piece.text}]" if piece.match else piece.text for piece in pieces)


def test_a_snippet_shows_where_the_terms_occur_together() -> None:
    """The part of a long text with the most terms, cut between words, white space collapsed."""
    text = "cards here. " + "nothing to see " * 40 + "the expired\n  cards came " + "and more " * 40
    assert "[expired] [cards]" in marked(snippet(text, parse_query("expired cards")))
    around = marked(snippet(text, parse_query("expired cards"), 60))
    assert around.startswith("… ")
    assert around.endswith(" …")
    assert len(around) < 80


def test_a_short_text_is_shown_completely() -> None:
    """A text that fits is not cut."""
    assert marked(snippet("Fix src/auth_test.py now", parse_query("auth_te"))) == "Fix src/[auth_test].py now"
    assert marked(snippet("", parse_query("x"))) == ""


@given(st.text(max_size=300), st.text(max_size=60))
def test_any_text_is_a_query(text: str, query: str) -> None:
    """Nothing raises, and a snippet loses no characters between its cuts."""
    parsed = parse_query(query)
    matches(parsed, split_words(text))
    joined = "".join(piece.text for piece in snippet(text, parsed, 1_000))
    assert joined == " ".join(text.split()) or joined.split() == text.split()


@given(st.lists(st.text("abc ", min_size=1, max_size=8), min_size=1, max_size=6))
def test_a_text_is_found_by_its_own_words(parts: list[str]) -> None:
    """Every text matches the query that consists of its words."""
    text = " ".join(parts)
    if split_words(text):
        assert matches(parse_query(" ".join(split_words(text)[:16])), split_words(text))
