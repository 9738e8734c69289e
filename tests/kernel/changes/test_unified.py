"""Unified diffs: computed, applied and formatted."""

import pytest

from claude_headspace.kernel.changes import unified
from claude_headspace.kernel.changes.model import NO_NEWLINE, Hunk
from claude_headspace.kernel.changes.unified import apply, compare, format_diff

LETTERS = "".join(f"{letter}\n" for letter in "abcdefghijklmnopqrst")

PAIRS = [
    ("", "a\n"),
    ("a\n", ""),
    ("a\nb\nc\n", "a\nB\nc\n"),
    (LETTERS, LETTERS.replace("c\n", "").replace("q\n", "Q\nQ\n")),
    ("a", "a\n"),
    ("a\nb", "a\nc"),
    ("a\r\nb\r\n", "a\r\nc\r\n"),
]


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_hunks_turn_one_text_into_the_other(before: str, after: str) -> None:
    """Applying the hunks of a comparison gives the second text."""
    assert apply(before, compare(before, after)) == after


def test_equal_texts_have_no_hunks() -> None:
    """Nothing is shown for what did not change."""
    assert compare(LETTERS, LETTERS) == ()


def test_hunks_have_line_numbers_and_three_lines_of_context() -> None:
    """Changes that are far apart are two hunks, with the numbers of their first lines."""
    first, second = compare(LETTERS, LETTERS.replace("e\n", "E\n").replace("p\n", "P\np\n"))
    assert first == Hunk(2, 2, (" b", " c", " d", "-e", "+E", " f", " g", " h"))
    assert (second.old_start, second.new_start, second.added, second.removed) == (13, 13, 1, 0)


def test_a_diff_is_formatted_as_git_does() -> None:
    """With file names, ranges and the mark of a missing line break."""
    diff = format_diff("src/a.txt", compare("a\nb", "a\nc"))
    assert diff == f"--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,2 +1,2 @@\n a\n-b\n{NO_NEWLINE}\n+c\n{NO_NEWLINE}\n"


def test_the_names_in_a_diff_have_one_line() -> None:
    """A line break in a path or the name of a cell is a mark, so it forges no header."""
    [hunk] = compare("a\n", "b\n")
    diff = format_diff("x\n--- a/y", [Hunk(hunk.old_start, hunk.new_start, hunk.lines, "cell\n+++ z")])
    assert diff == ("--- a/x⟦U+000A⟧--- a/y\n+++ b/x⟦U+000A⟧--- a/y\n@@ -1 +1 @@ cell⟦U+000A⟧+++ z\n-a\n+b\n")


def test_a_new_file_comes_from_dev_null() -> None:
    """And its lines are all added."""
    diff = format_diff("a.txt", unified.added_lines("x\ny\n"), created=True)
    assert diff == "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,2 @@\n+x\n+y\n"


def test_hunks_that_do_not_fit_are_not_applied() -> None:
    """The result is unknown, never wrong."""
    assert apply("x\n", [Hunk(1, 1, ("-a", "+b"))]) is None


def test_long_texts_are_not_compared_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The differing part is shown as replaced."""
    monkeypatch.setattr(unified, "MAX_COMPARISONS", 3)
    [hunk] = compare("a\nb\n", "c\nb\nd\n")
    assert hunk.lines == ("-a", "-b", "+c", "+b", "+d")
