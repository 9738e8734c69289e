"""Reading text with ANSI escape sequences."""

import pytest

from claude_headspace.surfaces.text.ansi import parse_lines


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("plain", [("plain", "")]),
        ("\x1b[31mred\x1b[0m not", [("red", "31"), (" not", "")]),
        ("\x1b[1m\x1b[32mboth\x1b[39mbold\x1b[22mnone", [("both", "1;32"), ("bold", "1"), ("none", "")]),
        ("\x1b[38;5;208;48;2;1;2;3mx", [("x", "38;5;208;48;2;1;2;3")]),
        ("\x1b[38:2::1:2:3mx", [("x", "38;2;1;2;3")]),
        ("\x1b[4:3mcurly\x1b[4:0mnot", [("curly", "4"), ("not", "")]),
        ("\x1b[58;5;3;97;105mx", [("x", "97;105")]),
        ("\x1b[7;27;3;9mx", [("x", "3;9")]),
    ],
)
def test_colours_and_styles_are_kept(text: str, pieces: list[tuple[str, str]]) -> None:
    """As codes in a fixed order, so that the same style always has the same codes."""
    assert parse_lines(text) == [pieces]


def test_a_style_continues_on_the_next_line() -> None:
    """As tmux prints a screen."""
    assert parse_lines("\x1b[31ma\nb\x1b[m\nc") == [[("a", "31")], [("b", "31")], [("c", "")]]


@pytest.mark.parametrize(
    "hostile",
    ["\x1b]0;owned\x07", "\x1b]8;;http://x\x1b\\", "\x1b[2J", "\x1b[?1049h", "\x1bPq\x1b\\", "\x1b(B", "\x1bc", "\x0e"],
)
def test_other_sequences_are_removed(hostile: str) -> None:
    """No program in a pane can affect the terminal that shows it."""
    assert parse_lines(f"a{hostile}b") == [[("a", ""), ("b", "")]]


def test_control_characters_become_marks() -> None:
    """Also incomplete sequences and hidden characters."""
    [pieces] = parse_lines("a\x07b\x1b[3 \u202ec")
    shown = "".join(text for text, _ in pieces)
    assert not any(sign in shown for sign in "\x07\x1b\u202e")
    assert "⟦U+0007⟧" in shown
