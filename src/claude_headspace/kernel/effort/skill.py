"""What a SKILL.md says: its frontmatter, and the phases that it works in.

Tolerant, as of every foreign file: a plain subset of YAML is read (texts, numbers, booleans, lists), and what is not
understood is left out. Phases stand in the frontmatter (`phases:`), or are the headings that say so
(`## Phase 1: Look around`).
"""

import re
from typing import Any

import msgspec

LONGEST = 64 * 1024
MOST_PHASES = 50

_FRONTMATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_ENTRY = re.compile(r"([A-Za-z_][\w-]*):[ \t]*(.*)")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
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
    text = text[:LONGEST].replace("\r\n", "\n")
    found = _FRONTMATTER.match(text)
    settings = _settings(found[1]) if found else {}
    body = text[found.end() :] if found else text
    phases = _texts(settings.get("phases")) or tuple(match[1].strip() for match in _PHASE.finditer(body))
    return Skill(
        name=_text(settings.get("name")) or name,
        description=_text(settings.get("description")),
        phases=phases[:MOST_PHASES],
        preload=_texts(settings.get("preload")),
        settings=settings,
        path=path,
    )


def _settings(block: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    name = ""
    for line in block.split("\n"):
        entry, item = _ENTRY.fullmatch(line), _ITEM.fullmatch(line)
        if entry:
            name = entry[1]
            found[name] = _value(entry[2]) if entry[2].strip() else []
        elif item and isinstance(found.get(name), list):
            found[name].append(_value(item[1]))
        elif line[:1] in " \t" and line.strip() and found.get(name) in ("|", ">", ">-", "|-"):
            found[name] = line.strip()
        elif line[:1] in " \t" and line.strip() and isinstance(found.get(name), str):
            found[name] = f"{found[name]} {line.strip()}"
    return found


def _value(told: str) -> Any:
    text = told.strip()
    if text.startswith("[") and text.endswith("]"):
        return [_value(part) for part in text[1:-1].split(",") if part.strip()]
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?\d{1,15}", text) else text


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(each) for each in value) if isinstance(value, list) else ()
