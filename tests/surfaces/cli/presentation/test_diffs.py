"""Diffs as lines for the terminal."""

import pytest

from claude_headspace.surfaces.cli.output import UNLIMITED_WIDTH, Line
from claude_headspace.surfaces.cli.presentation.diffs import diff_lines, parse_diff

DIFF = (
    "--- a/notes.sql\n+++ b/notes.sql\n@@ -8,3 +8,3 @@ section\n same\n--- old comment\n+++ new comment\n last\n"
    "@@ -20 +20,2 @@\n-x\n+y\n+z\n\\ No newline at end of file\n# 90 characters left out\n"
)


def texts(lines: list[Line]) -> list[str]:
    """The texts of lines."""
    return ["".join(span.text for span in each) for each in lines]


def test_lines_have_their_numbers() -> None:
    """Before and after the change. A line that looks like a header is a line of the file."""
    assert texts(diff_lines(list(parse_diff(DIFF)), 80)) == [
        "      --- a/notes.sql",
        "      +++ b/notes.sql",
        "      @@ -8,3 +8,3 @@ section",
        " 8  8  same",
        " 9    --- old comment",
        "    9 +++ new comment",
        "10 10  last",
        "      @@ -20 +20,2 @@",
        "20    -x",
        "   20 +y",
        "   21 +z",
        "      \\ No newline at end of file",
        "      # 90 characters left out",
    ]
    roles = [each.role for each in parse_diff(DIFF)]
    assert roles[:7] == ["strong", "strong", "hunk", "said", "removed", "added", "said"]


@pytest.mark.parametrize("width", [40, UNLIMITED_WIDTH])
def test_narrow_terminals_and_pipes_get_the_diff_as_it_is(width: int) -> None:
    """Without numbers."""
    assert texts(diff_lines(list(parse_diff(DIFF)), width)) == DIFF.splitlines()


def test_a_long_line_continues_below_its_text() -> None:
    """Numbers stand only in its first line."""
    lines = texts(diff_lines(list(parse_diff(f"@@ -1 +1 @@\n-{'a' * 70}\n+b\n")), 60))
    assert lines[1:3] == [f"1   -{'a' * 53}", f"    ⤷ {'a' * 17}"]
