"""Saved prompts: one private file each, also written by people."""

from pathlib import Path

import pytest

from claude_headspace.config import find_paths
from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.surfaces.client.saved_prompts import SavedPrompts


@pytest.fixture
def saved(tmp_path: Path) -> SavedPrompts:
    """The saved prompts of a scratch home."""
    return SavedPrompts(find_paths({"HEADSPACE_HOME": str(tmp_path)}))


def test_a_prompt_is_saved_replaced_and_removed(saved: SavedPrompts, tmp_path: Path) -> None:
    """Saving tells whether another text was replaced. Files are private to the user."""
    assert saved.names() == []
    assert saved.save("review", "Review it.\n") is False
    assert saved.save("review", "Review it.\nTwice.") is True
    assert (saved.names(), saved.read("review")) == (["review"], "Review it.\nTwice.")
    assert (tmp_path / "prompts/review.md").stat().st_mode & 0o777 == 0o600
    saved.remove("review")
    assert saved.names() == []


def test_files_of_the_user_are_prompts(saved: SavedPrompts, tmp_path: Path) -> None:
    """A file with a valid name is a prompt; other files are ignored."""
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/plan.md").write_text("Make a plan.\n")
    (tmp_path / "prompts/Notes.txt").write_text("Not a prompt.")
    assert (saved.names(), saved.read("plan")) == (["plan"], "Make a plan.")


@pytest.mark.parametrize("name", ["../secret", "A B", "", ".hidden", "x" * 60])
def test_a_name_is_never_a_path(saved: SavedPrompts, name: str) -> None:
    """Names cannot leave the directory."""
    with pytest.raises(BadRequest, match="not a valid name"):
        saved.read(name)


@pytest.mark.parametrize("text", ["", " \n", "a\x1b[31m"])
def test_a_text_that_cannot_be_typed_is_not_saved(saved: SavedPrompts, text: str) -> None:
    """It is refused when it is saved, not when it is sent."""
    with pytest.raises(HeadspaceError, match="The text"):
        saved.save("bad", text)
    assert saved.names() == []


def test_an_unknown_prompt_lists_the_known_ones(saved: SavedPrompts) -> None:
    """The hint has the names that exist."""
    saved.save("plan", "Make a plan.")
    with pytest.raises(BadRequest) as refused:
        saved.read("plans")
    assert "plan." in refused.value.hint
