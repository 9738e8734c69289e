"""The lines of a screen for a page: styles, wide characters, secrets."""

from claude_headspace.inputs.redaction.rules import build_redactor
from claude_headspace.surfaces.text.screen_lines import LinePart, screen_lines

redact = build_redactor().text
KEY = "ghp_" + "a1B2" * 9


def texts(screen: str, width: int = 80) -> list[str]:
    """The lines without their styles."""
    return ["".join(part.text for part in line) for line in screen_lines(screen, width, redact)]


def test_styles_and_wide_characters_are_parts() -> None:
    """A wide character is a part of its own, with the marks that follow it."""
    (line,) = screen_lines("\x1b[31mab\x1b[0m 日e\u0301🐧\ufe0f!", 80, redact)
    assert line == [
        LinePart("ab", "31"),
        LinePart(" "),
        LinePart("日", wide=True),
        LinePart("e\u0301"),
        LinePart("🐧\ufe0f", wide=True),
        LinePart("!"),
    ]


def test_a_secret_is_replaced_and_the_other_lines_keep_their_styles() -> None:
    """Only its own line loses the styles."""
    first, second = screen_lines(f"\x1b[32mtoken {KEY}\n\x1b[31mred", 80, redact)
    assert first == [LinePart("token [redacted]")]
    assert second == [LinePart("red", "31")]


def test_a_secret_over_two_lines_is_replaced() -> None:
    """The width of the pane breaks it, perhaps inside of a frame."""
    first, second = f"token {KEY[:14]}", KEY[14:]
    assert KEY[14:] not in "".join(texts(f"{first}\n{second}", width=20))
    framed = texts(f"│ {first} │\n│ {second} │", width=24)
    assert (framed[0], KEY[14:] in framed[1]) == ("│ token [redacted]", False)
    assert texts(f"short\n{second}", width=80)[0] == "short"


def test_a_secret_of_several_lines_leaves_the_number_of_lines() -> None:
    """What is below it stays where it is."""
    body = "\n".join("QUJD" * 16 for _ in range(4))
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    shown = texts(f"above\n{key}\nbelow", width=100)
    assert (len(shown), shown[0], shown[-1]) == (8, "above", "below")
    assert "QUJDQUJD" not in "".join(shown)
