"""Words: one way to take a text apart, and queries that are never wrong."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_headspace.kernel.search_terms import (
    GAP,
    MAX_WORD_CHARACTERS,
    Piece,
    Query,
    Term,
    find_terms,
    parse_query,
    query_steps,
    snippet,
    split_words,
    truncate_middle,
)


@pytest.mark.parametrize(
    ("text", "found"),
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
def test_a_text_is_taken_apart(text: str, found: list[str]) -> None:
    """Letters and digits of any script are words, signs stand between, case and accents do not matter."""
    assert split_words(text) == found


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
def test_a_query_is_read(text: str, query: Query) -> None:
    """Words, phrases in quotes, and the last word as a beginning."""
    assert parse_query(text) == query


@pytest.mark.parametrize("text", ["one_two three, four " * 99, "x" * 999, "日本語" * 333, "wörter 😀 " * 99, " " * 999])
def test_a_long_text_is_cut_between_words(text: str) -> None:
    """Both ends are words of the text as they stand there; where there is no border it is cut all the same."""
    cut = truncate_middle(text, 300)
    head, gap, tail = cut.partition(GAP)
    assert gap
    assert 300 - 2 * MAX_WORD_CHARACTERS <= len(cut) <= 300
    assert text.startswith(head)
    assert text.endswith(tail)
    if "x" not in text:
        assert split_words(text)[: len(split_words(head))] == split_words(head)
        assert split_words(text)[len(split_words(text)) - len(split_words(tail)) :] == split_words(tail)


def test_no_phrase_reaches_across_what_was_cut_out() -> None:
    """Words that only stand together because others were left out are not found together; a snippet shows the gap."""
    text = truncate_middle("alpha " * 30 + "and then " * 90 + "omega " * 30, 100)
    assert matches(parse_query("alpha omega"), split_words(text))
    assert not matches(parse_query('"alpha omega"'), split_words(text))
    assert "[alpha] ⋯ omega" in shown(snippet(text, parse_query("alpha")))


def test_a_snippet_shows_the_end_that_matched() -> None:
    """What was found at the end of a long text is shown from there."""
    text = truncate_middle(
        "collected 900 items\n" + "tests/shop.py ....\n" * 900 + "FAILED rejects_expired_cards", 4_096
    )
    around = shown(snippet(text, parse_query("failed")))
    assert around.endswith("[FAILED] rejects_expired_cards")
    assert "collected" not in around


def test_words_must_all_occur_and_phrases_in_order() -> None:
    """A text matches when every term stands in it somewhere."""
    text = split_words("the rate limit was reached")
    assert matches(parse_query("limit rea"), text) == 2
    assert matches(parse_query('"rate limit"'), text) == 1
    assert matches(parse_query('"limit rate"'), text) == 0
    assert matches(parse_query("limit missing"), text) == 0
    assert matches(Query(), text) == 0


def test_the_last_word_is_looked_for_before_what_begins_with_it() -> None:
    """Every text that matches does so in one step alone; words in quotes are only looked for as they stand."""
    first, second = query_steps(parse_query("expired car"))
    finds = {"expired car": (2, 0), "expired cards": (0, 2), "car cards expired": (2, 0), "car": (0, 0)}
    assert {text: (matches(first, split_words(text)), matches(second, split_words(text))) for text in finds} == finds
    assert query_steps(parse_query('"expired car"')) == (parse_query('"expired car"'),)
    assert query_steps(Query()) == (Query(),)


def matches(query: Query, found: Sequence[str]) -> int:
    """How often the terms occur among words; 0 if any term is missing or an excluded term occurs."""
    if query.excluded and any(find_terms(Query((query.excluded,)), found)):
        return 0
    places = [number for number, _start, _end in find_terms(query, found)]
    return len(places) if query.terms and set(places) == set(range(len(query.terms))) else 0


def shown(pieces: list[Piece]) -> str:
    """A snippet with its finds in brackets."""
    return "".join(f"[{piece.text}]" if piece.match else piece.text for piece in pieces)


def test_a_snippet_shows_where_the_terms_stand_together() -> None:
    """Of a long text the part with most of them, cut between words, white space folded."""
    text = "cards here. " + "nothing to see " * 40 + "the expired\n  cards came " + "and more " * 40
    assert "[expired] [cards]" in shown(snippet(text, parse_query("expired cards")))
    around = shown(snippet(text, parse_query("expired cards"), 60))
    assert around.startswith("… ")
    assert around.endswith(" …")
    assert len(around) < 80


def test_a_short_text_is_shown_whole() -> None:
    """Nothing is cut that fits."""
    assert shown(snippet("Fix src/auth_test.py now", parse_query("auth_te"))) == "Fix src/[auth_test].py now"
    assert shown(snippet("", parse_query("x"))) == ""


@given(st.text(max_size=300), st.text(max_size=60))
def test_any_text_is_a_query(text: str, query: str) -> None:
    """Nothing raises, and a snippet loses no character between its cuts."""
    read = parse_query(query)
    matches(read, split_words(text))
    whole = "".join(piece.text for piece in snippet(text, read, 1_000))
    assert whole == " ".join(text.split()) or whole.split() == text.split()


@given(st.lists(st.text("abc ", min_size=1, max_size=8), min_size=1, max_size=6))
def test_a_text_is_found_by_its_own_words(parts: list[str]) -> None:
    """Every text matches the query that is made of its words."""
    text = " ".join(parts)
    if split_words(text):
        assert matches(parse_query(" ".join(split_words(text)[:16])), split_words(text))
