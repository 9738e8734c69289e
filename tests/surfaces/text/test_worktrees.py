"""Texts about worktrees."""

import pytest

from claude_headspace.surfaces.text.worktrees import distance_text, worktree_text


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("main", 0, 0, 0), "no commits since main"),
        (("main", 2, 1, 3), "2 commits ahead of main, 1 behind, 3 files not committed"),
        (("main", 0, 4, 0), "4 behind main"),
        (("main", 0, 0, 1), "no commits since main, 1 file not committed"),
        ((None, 0, 0, 1), "base unknown, 1 file not committed"),
    ],
)
def test_a_distance_in_words(values: tuple[str | None, int, int, int], expected: str) -> None:
    """It names the base once."""
    assert distance_text(*values) == expected


def test_a_removed_worktree() -> None:
    """Its distance is not known any more."""
    removed = {"root": "/w", "base": None, "ahead": 0, "behind": 0, "uncommitted": 0, "removed": True}
    assert worktree_text(removed) == "removed: /w"
    assert worktree_text(None) == ""
