"""What a SKILL.md says: its frontmatter, and the phases that it works in.

Phases stand in the frontmatter (`phases:`), or are the headings that say so (`## Phase 1: Look around`).
"""

import re
from typing import Any

import msgspec

from claude_headspace.kernel.frontmatter import read_frontmatter, texts

MOST_PHASES = 50

_PHASE = re.compile(r"(?im)^#{1,4}[ \t]+(?:phase|step)[ \t]+[\w.]+[ \t]*[:.–—-][ \t]*(.+?)[ \t#]*$")


class Skill(msgspec.Struct, frozen=True, kw_only=True):
    """A skill as its file describes it."""

    name: str
    description: str = ""
    phases: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    settings: dict[str, Any] = {}
    """All of the frontmatter."""
    path: str | None = None


def read_skill(name: str, text: str, path: str | None = None) -> Skill:
    """A skill from the text of its file."""
    read = read_frontmatter(text)
    settings = read.settings
    phases = texts(settings.get("phases")) or tuple(match[1].strip() for match in _PHASE.finditer(read.body))
    return Skill(
        name=_text(settings.get("name")) or name,
        description=_text(settings.get("description")),
        phases=phases[:MOST_PHASES],
        preload=texts(settings.get("preload")),
        settings=settings,
        path=path,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
