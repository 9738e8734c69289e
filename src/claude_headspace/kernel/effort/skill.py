"""Parse a SKILL.md: its frontmatter and its phases. Pure; never raises.

Phases are listed in the frontmatter (`phases:`) or taken from headings such as `## Phase 1: Look around`.
"""

import re
from typing import Any

import msgspec

from claude_headspace.kernel.frontmatter import as_strings, parse_frontmatter

MAX_PHASES = 50

_PHASE_HEADING = re.compile(r"(?im)^#{1,4}[ \t]+(?:phase|step)[ \t]+[\w.]+[ \t]*[:.–—-][ \t]*(.+?)[ \t#]*$")


class Skill(msgspec.Struct, frozen=True, kw_only=True):
    """A skill as described by its file."""

    name: str
    description: str = ""
    phases: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    settings: dict[str, Any] = {}
    """The complete frontmatter."""
    path: str | None = None


def parse_skill(name: str, text: str, path: str | None = None) -> Skill:
    """Parse the text of a skill file. The frontmatter can replace `name`."""
    frontmatter = parse_frontmatter(text)
    settings = frontmatter.settings
    phases = as_strings(settings.get("phases")) or tuple(
        match[1].strip() for match in _PHASE_HEADING.finditer(frontmatter.body)
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
