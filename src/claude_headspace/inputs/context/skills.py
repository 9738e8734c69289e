"""Finds the file of a skill: first in the project, then in the config dirs of Claude Code.

A skill is `skills/<name>/SKILL.md`, or a command: `commands/<name>.md`.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from claude_headspace.kernel.effort.skill import Skill, parse_skill
from claude_headspace.kernel.frontmatter import MAX_CHARACTERS

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")


def find_skill(name: str, project_root: str, config_dirs: Iterable[Path]) -> Skill | None:
    """The skill with this name; None if it does not exist or cannot be read."""
    if not _NAME.fullmatch(name):
        return None
    for base in (Path(project_root) / ".claude", *config_dirs):
        for path in (base / "skills" / name / "SKILL.md", base / "commands" / f"{name}.md"):
            text = _read(path)
            if text is not None:
                return parse_skill(name, text, str(path))
    return None


def preload_paths(skill: Skill | None, project_root: str) -> tuple[str, ...]:
    """The absolute paths of the files that a skill preloads: next to it, or in the project."""
    if skill is None or skill.path is None:
        return ()
    directory, root = Path(skill.path).parent, Path(project_root)
    paths = (directory / name if (directory / name).exists() else root / name for name in skill.preload)
    return tuple(os.path.normpath(path) for path in paths)


def _read(path: Path) -> str | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        try:
            return file.read(MAX_CHARACTERS).decode("utf-8", "replace")
        except OSError:
            return None
