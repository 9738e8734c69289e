"""What a SKILL.md says: its frontmatter, and the phases that it works in.

Phases stand in the frontmatter (`phases:`), or are the headings that say so (`## Phase 1: Look around`).
"""

import re
from typing import Any

import msgspec

from claude_headspace.kernel.frontmatter import as_strings, parse_frontmatter

MAX_PHASES = 50

_PHASE_HEADING = re.compile(r"(?im)^#{1,4}[ \t]+(?:phase|step)[ \t]+[\w.]+[ \t]*[:.–—-][ \t]*(.+?)[ \t#]*$")


class Skill(msgspec.Struct, frozen=True, kw_only=True):
    """A skill as its file describes it."""

    name: str
    description: str = ""
    phases: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    settings: dict[str, Any] = {}
    """All of the frontmatter."""
    path: str | None = None


def parse_skill(name: str, text: str, path: str | None = None) -> Skill:
    """A skill from the text of its file."""
    read = parse_frontmatter(text)
    settings = read.settings
    phases = as_strings(settings.get("phases")) or tuple(
        match[1].strip() for match in _PHASE_HEADING.finditer(read.body)
    )
    return Skill(
        name=_text(settings.get("name")) or name,
        description=_text(settings.get("description")),
        phases=phases[:MAX_PHASES],
        preload=as_strings(settings.get("preload")),
        settings=settings,
        path=path,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
