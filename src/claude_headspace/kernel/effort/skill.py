"""Parse a SKILL.md: its frontmatter and its phases. Pure; never raises.

Phases are listed in the frontmatter (`phases:`) or taken from headings such as `## Phase 1: Look around`. Only listed
phases are a declaration: typing such a skill starts an effort, unless `effort: false` says otherwise. The frontmatter
also has defaults for the metadata of the effort: `heartbeat_limit`, `heartbeat_warn`, `overflow_at`, `gates`.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from claude_headspace.kernel.frontmatter import as_strings, parse_frontmatter

MAX_PHASES = 50

_PHASE_HEADING = re.compile(r"(?im)^#{1,4}[ \t]+(?:phase|step)[ \t]+[\w.]+[ \t]*[:.–—-][ \t]*(.+?)[ \t#]*$")


_TYPED = re.compile(r"\s*/([A-Za-z0-9][\w.-]{0,99})(?:\s|\Z)")


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


def starts_effort(skill: Skill) -> bool:
    """Whether typing the skill starts an effort: it says so, or it declares phases."""
    wanted = skill.settings.get("effort")
    return wanted if isinstance(wanted, bool) else bool(as_strings(skill.settings.get("phases")))


def typed_skill(prompt: str) -> str | None:
    """The name of the skill that a prompt runs: `/implement the cart`; None for other prompts."""
    found = _TYPED.match(prompt)
    return found[1] if found else None


LIMITS = ("heartbeat_limit", "heartbeat_warn", "overflow_at")
"""Limits of an effort that a skill can set."""


def skill_metadata(skill: Skill | None) -> dict[str, Any]:
    """The metadata that a skill sets for its efforts."""
    settings = skill.settings if skill else {}
    found = {name: settings[name] for name in LIMITS if type(settings.get(name)) is int}
    return {**found, **gates_metadata(as_strings(settings.get("gates")))}


def gates_metadata(gates: Sequence[str]) -> dict[str, Any]:
    """The gates of an effort as metadata: `session` is the session gate, everything else a file to read."""
    files = [gate for gate in gates if gate != "session"]
    parts = {**({"session": True} if "session" in gates else {}), **({"directives": files} if files else {})}
    return {"gates": parts} if parts else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
