"""Formatting of texts and times."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from claude_headspace.surfaces.text import formatting

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)


def before(**length: float) -> str:
    """A time before now, in the format of the API."""
    return (NOW - timedelta(**length)).isoformat()


# --- clean and wrap ---


def test_a_mark_is_not_split() -> None:
    """Unless it is wider than the line."""
    assert formatting.chop("abc⟦U+202E⟧def", 6) == ["abc", "⟦U+202", "E⟧def"]
    assert formatting.chop("abc⟦U+202E⟧def", 9) == ["abc", "⟦U+202E⟧d", "ef"]
    assert formatting.wrap("abcdefgh⟦U+202E⟧", 10) == ["abcdefgh", "⟦U+202E⟧"]
    assert formatting.chop("ab⟦cdefgh", 4) == ["ab⟦c", "defg", "h"]


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("\x1b[31mred\x1b[0m", "⟦U+001B⟧[31mred⟦U+001B⟧[0m"),
        ("\x1b]0;title\x07text", "⟦U+001B⟧]0;title⟦U+0007⟧text"),
        ("\x1b]52;c;c2VjcmV0\x07", "⟦U+001B⟧]52;c;c2VjcmV0⟦U+0007⟧"),
        ("\x9b31mred", "⟦U+009B⟧31mred"),
        ("\x9d0;title\x9ctext", "⟦U+009D⟧0;title⟦U+009C⟧text"),
        ("bell\a back\b delete\x7f null\0", "bell⟦U+0007⟧ back⟦U+0008⟧ delete⟦U+007F⟧ null⟦U+0000⟧"),
        ("ab\u202egnp.exe", "ab⟦U+202E⟧gnp.exe"),
        ("zero\u200bwidth\ufeff", "zero⟦U+200B⟧width⟦U+FEFF⟧"),
        ("half \ud83d emoji", "half ⟦U+D83D⟧ emoji"),
        ("one\r\ntwo\rthree", "one\ntwo⟦U+000D⟧three"),
        ("a\tb", "a    b"),
        ("日本語 ünïcode 👩‍👩‍👧 [red]stays[/red]", "日本語 ünïcode 👩‍👩‍👧 [red]stays[/red]"),
    ],
)
def test_hidden_characters_become_marks(hostile: str, harmless: str) -> None:
    """Escape sequences and hidden characters are visible and have no effect; all other text stays."""
    assert formatting.clean_text(hostile) == harmless


@given(st.text())
def test_cleaned_text_has_no_control_characters(text: str) -> None:
    """Only newlines remain, and cleaning is idempotent."""
    once = formatting.clean_text(text)
    assert not [char for char in once if (ord(char) < 32 and char != "\n") or 127 <= ord(char) < 160]
    assert formatting.clean_text(once) == once


def test_json_is_cleaned_recursively() -> None:
    """Texts and keys are cleaned; other values stay."""
    assert formatting.clean_json({"a\x1b[1m": ["\x07b", {"c": "\x1b[0m"}], "n": 1.5, "none": None, "yes": True}) == {
        "a⟦U+001B⟧[1m": ["⟦U+0007⟧b", {"c": "⟦U+001B⟧[0m"}],
        "n": 1.5,
        "none": None,
        "yes": True,
    }


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("fits", 4, "fits"),
        ("one two three", 9, "one two…"),
        ("one two three", 8, "one two…"),
        ("one two, three", 10, "one two…"),
        ("/a/very/long/path/without/spaces", 12, "/a/very/lon…"),
        ("a averyveryverylongword", 12, "a averyvery…"),
        ("日本語のテキスト", 7, "日本語…"),
        ("anything", 1, "…"),
        ("anything", 0, ""),
        ("", 0, ""),
    ],
)
def test_a_text_is_cut_at_the_end_of_a_word(text: str, width: int, expected: str) -> None:
    """A text that is too long ends with … after a complete word, unless that leaves less than half."""
    assert formatting.cut(text, width) == expected


@given(st.text(alphabet="ab 日é👩", max_size=60), st.integers(0, 30))
def test_a_cut_text_fits(text: str, width: int) -> None:
    """No text is wider than the given width."""
    assert cell_len(formatting.cut(text, width)) <= width


@given(st.text(alphabet="ab 日\n", max_size=80), st.integers(4, 30), st.integers(0, 3))
def test_wrapped_lines_fit_and_lose_nothing(text: str, width: int, taken: int) -> None:
    """Every line fits, and all characters except white space are kept in order."""
    lines = formatting.wrap(text, width, taken)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_the_first_line_can_be_shorter() -> None:
    """`taken` shortens the first line."""
    assert formatting.wrap("one two three", 9, 4) == ["one", "two three"]


# --- time ---


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (-30, "just now"),
        (0, "just now"),
        (4.9, "just now"),
        (12, "12 s ago"),
        (59.9, "59 s ago"),
        (60, "1 min ago"),
        (4 * 60 + 59, "4 min ago"),
        (2 * 3600, "2 h ago"),
        (47 * 3600, "47 h ago"),
        (3 * 86400, "3 d ago"),
        (400 * 86400, "400 d ago"),
    ],
)
def test_times_relative_to_now(seconds: float, expected: str) -> None:
    """One unit, rounded down; a future time is "just now"."""
    assert formatting.ago(before(seconds=seconds), NOW) == expected


def test_an_invalid_timestamp_is_not_an_error() -> None:
    """It counts as very old. A timestamp without a zone is UTC."""
    assert formatting.ago("nonsense", NOW).endswith(" d ago")
    assert formatting.parse_timestamp("2026-03-14T11:59:00") == NOW - timedelta(minutes=1)


def test_clock_times_of_other_days_have_a_date() -> None:
    """Times of today have none."""
    assert formatting.clock_time(before(hours=1), NOW) == "11:00:00"
    assert formatting.clock_time(before(days=1), NOW) == "2026-03-13 12:00"


@pytest.mark.parametrize(
    ("cost", "shown"), [(0.0, "$0.00"), (0.0026, "<$0.01"), (0.005, "$0.01"), (1204.5, "$1,204.50"), (-0.5, "-$0.50")]
)
def test_a_small_cost_does_not_look_like_nothing(cost: float, shown: str) -> None:
    """Only a cost of zero is shown as zero."""
    assert formatting.dollars(cost) == shown
