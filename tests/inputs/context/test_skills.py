"""Finding the file of a skill, and the files that it preloads."""

from pathlib import Path

import pytest

from claude_headspace.inputs.context.skills import find_skill, preload_paths


def write(base: Path, name: str, description: str) -> Path:
    """Write a skill."""
    path = base / "skills" / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"---\ndescription: {description}\npreload: [notes.md, docs.md]\n---\n")
    return path


def test_a_skill_of_the_project_comes_first(tmp_path: Path) -> None:
    """Then those of the config dirs, in their order."""
    root, user = tmp_path / "app", tmp_path / "config"
    write(user, "fix", "the user's")
    found = find_skill("fix", str(root), [tmp_path / "none", user])
    assert found is not None
    assert found.description == "the user's"
    write(root / ".claude", "fix", "the project's")
    found = find_skill("fix", str(root), [user])
    assert found is not None
    assert found.description == "the project's"


def test_preloaded_files_are_next_to_the_skill_or_in_the_project(tmp_path: Path) -> None:
    """Names become absolute paths."""
    path = write(tmp_path / ".claude", "fix", "x")
    (path.parent / "notes.md").write_text("x")
    skill = find_skill("fix", str(tmp_path), [])
    assert preload_paths(skill, str(tmp_path)) == (str(path.parent / "notes.md"), str(tmp_path / "docs.md"))
    assert preload_paths(None, str(tmp_path)) == ()


@pytest.mark.parametrize("name", ["../fix", "a/b", "", "x\0y", ".hidden", "unknown"])
def test_an_invalid_or_unknown_name_finds_nothing(tmp_path: Path, name: str) -> None:
    """No name leads out of the skills directory."""
    write(tmp_path, "fix", "x")
    assert find_skill(name, str(tmp_path / "app"), [tmp_path]) is None
