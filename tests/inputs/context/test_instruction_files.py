"""Instruction files of a path: in its directory and its parents, up to the project root."""

import asyncio
from pathlib import Path

from claude_headspace.inputs.context.instruction_files import InstructionFileFinder, find_instruction_files


def project(root: Path) -> Path:
    """A project with instruction files at several levels."""
    (root / "src" / "deep").mkdir(parents=True)
    for name in ("AGENTS.md", "src/CLAUDE.md", "src/deep/AGENTS.md", "../outside.md"):
        (root / name).write_text(name)
    return root


def test_the_nearest_come_first_and_none_are_outside(tmp_path: Path) -> None:
    """From the directory of the path up to the project root."""
    root = project(tmp_path / "app")
    (tmp_path / "AGENTS.md").write_text("outside")
    found = find_instruction_files([str(root / "src" / "deep" / "a.py")], str(root))
    assert found == tuple(str(root / name) for name in ("src/deep/AGENTS.md", "src/CLAUDE.md", "AGENTS.md"))


def test_each_is_found_once(tmp_path: Path) -> None:
    """Several paths share the files of their common parents."""
    root = project(tmp_path / "app")
    found = find_instruction_files([str(root / "a.py"), str(root / "src" / "b.py")], str(root))
    assert found == (str(root / "AGENTS.md"), str(root / "src" / "CLAUDE.md"))


def test_a_path_outside_the_project_has_none(tmp_path: Path) -> None:
    """Also with `..`, and whether or not it exists."""
    root = project(tmp_path / "app")
    assert find_instruction_files([str(tmp_path / "x.py"), f"{root}/../x.py", "/nowhere/at/all"], str(root)) == ()


def test_an_invalid_path_has_none(tmp_path: Path) -> None:
    """A relative path, or one with a NUL."""

    async def main() -> None:
        finder = InstructionFileFinder()
        assert await finder("a.py", str(tmp_path)) == ()
        assert await finder("/a\0.py", str(tmp_path)) == ()
        (tmp_path / "AGENTS.md").write_text("x")
        assert await finder(str(tmp_path / "a.py"), str(tmp_path)) == (str(tmp_path / "AGENTS.md"),)
        finder.close()

    asyncio.run(main())
