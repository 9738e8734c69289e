"""Hidden characters are found, named and replaced by marks. Ordinary text of any language stays."""

import re
from pathlib import Path

import pytest

from claude_headspace.kernel.hidden_characters import RANGES, HiddenCharacter, find_hidden, has_hidden, make_visible

PAGE = Path(__file__).resolve().parents[2] / "web/src/lib/hidden-characters.ts"


def test_a_hidden_character_is_found_with_position_code_and_name() -> None:
    """The position counts code points."""
    assert find_hidden("é\u202e✓") == [HiddenCharacter(1, "U+202E", "RIGHT-TO-LEFT OVERRIDE")]


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("safe \u202e/~ fr- mr", "safe ⟦U+202E⟧/~ fr- mr"),
        ("\x1b[31mred\x1b[0m", "⟦U+001B⟧[31mred⟦U+001B⟧[0m"),
        ("pay\u200bpal", "pay⟦U+200B⟧pal"),
        ("\u2066a\u2069", "⟦U+2066⟧a⟦U+2069⟧"),
        ("a\rb", "a⟦U+000D⟧b"),
        ("x\x00\x7f\x9b", "x⟦U+0000⟧⟦U+007F⟧⟦U+009B⟧"),
        ("tag\U000e0041", "tag⟦U+E0041⟧"),
        ("a\ufe0f", "a⟦U+FE0F⟧"),
        ("a\u200db", "a⟦U+200D⟧b"),
        ("l\u2028n", "l⟦U+2028⟧n"),
        ("\ufeffa\u3164", "⟦U+FEFF⟧a⟦U+3164⟧"),
    ],
)
def test_hidden_characters_become_marks(text: str, visible: str) -> None:
    """Everything else in the text stays."""
    assert make_visible(text) == visible
    assert has_hidden(text)


@pytest.mark.parametrize(
    "text", ["", "plain\n\ttext", "line\r\nend", "שלום עולם", "日本語", "❤️ 👩‍💻 1️⃣ ‼️ 👍🏽", "café", "a\u00a0b"]
)
def test_ordinary_text_stays(text: str) -> None:
    """Line ends, other scripts and emoji have no hidden characters."""
    assert make_visible(text) == text
    assert not has_hidden(text)


def test_control_characters_have_names() -> None:
    """Unicode has no names for them."""
    assert [each.name for each in find_hidden("\x1b\x01")] == ["ESCAPE", "CONTROL CHARACTER"]


def test_the_page_has_the_same_table() -> None:
    """The dashboard marks the characters that the kernel finds."""
    found = re.findall(r"^  \[0x([0-9a-f]+), 0x([0-9a-f]+)\],$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert tuple((int(first, 16), int(last, 16)) for first, last in found) == RANGES
