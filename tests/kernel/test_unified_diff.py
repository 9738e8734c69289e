"""Unified diffs are those of `diff -u`."""

import subprocess
from pathlib import Path

import pytest

from claude_headspace.kernel.unified_diff import FileTexts, unified_diff

TEN = "".join(f"line {number}\n" for number in range(1, 11))
LONG = "".join(f"line {number}\n" for number in range(1, 60))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (TEN, TEN.replace("line 5\n", "line five\n")),
        (TEN, TEN.removesuffix("\n")),
        (TEN.removesuffix("\n"), TEN),
        (TEN, "new first\n" + TEN),
        (TEN, ""),
        (LONG, LONG.replace("line 3\n", "").replace("line 50\n", "line 50\nand more\n")),
        (LONG, LONG.replace("line 20\n", "x\n").replace("line 26\n", "y\n")),
        ("a\rb\n", "a\rc\n"),
        ("same\n", "same\n"),
    ],
)
def test_a_diff_is_that_of_the_program_diff(tmp_path: Path, old: str, new: str) -> None:
    """Hunks, line numbers, context and missing line ends are the same."""
    for name, text in (("old", old), ("new", new)):
        (tmp_path / name).write_bytes(text.encode())
    done = subprocess.run(
        ["diff", "-u", "--label", "a/f.py", "--label", "b/f.py", "old", "new"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    expected = done.stdout.decode().replace(",1 ", " ").replace(",1 @@", " @@")
    assert unified_diff(FileTexts("f.py", old, new)).replace(",1 ", " ").replace(",1 @@", " @@") == expected


def test_a_new_and_a_deleted_file() -> None:
    """The other side is /dev/null."""
    assert unified_diff(FileTexts("/a/f.py", None, "x\n")) == "--- /dev/null\n+++ b/a/f.py\n@@ -0,0 +1,1 @@\n+x\n"
    assert unified_diff(FileTexts("f.py", "x\n", None)) == "--- a/f.py\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n"


def test_large_texts_without_common_lines_are_replaced_as_a_whole() -> None:
    """Comparing them line by line would take too long."""
    old, new = ("".join(f"{mark} {number}\n" for number in range(3_000)) for mark in "ab")
    diff = unified_diff(FileTexts("f", f"same\n{old}", f"same\n{new}"))
    assert diff.count("\n-") - 1 + diff.count("\n+") - 1 + 1 == 6_000
    assert "@@ -1,3001 +1,3001 @@" in diff
