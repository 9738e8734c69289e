"""Parse the frontmatter of a Markdown file: the lines between two `---` at its beginning. Pure; never raises.

It understands a subset of YAML: strings, integers, booleans, lists, comments. Other lines are ignored. A block without
a closing `---` is not frontmatter and is reported as a problem.
"""

import re
from typing import Any

import msgspec

MAX_CHARACTERS = 64 * 1024

_BLOCK = re.compile(r"\A---[ \t]*\n(.*?)(?:^|\n)---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_OPENING = re.compile(r"\A---[ \t]*(?:\n|\Z)")
_ENTRY = re.compile(r"([A-Za-z_][\w-]*):[ \t]*(.*)")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
_COMMENT = re.compile(r"(?:\A|[ \t]+)#.*\Z")
_QUOTED = re.compile(r"(?P<quote>['\"])(?P<text>.*)(?P=quote)(?:[ \t]+#.*)?")


class Frontmatter(msgspec.Struct, frozen=True):
    """The settings of a file, its text after them, and a problem if there is one."""

    settings: dict[str, Any]
    body: str
    problem: str = ""


def parse_frontmatter(text: str) -> Frontmatter:
    """Split a file into settings and body."""
    text = text.removeprefix("\ufeff")[:MAX_CHARACTERS].replace("\r\n", "\n")
    block = _BLOCK.match(text)
    if block is not None:
        return Frontmatter(_parse_settings(block[1]), text[block.end() :])
    return Frontmatter({}, text, "its frontmatter has no end" if _OPENING.match(text) else "")


def as_strings(value: object) -> tuple[str, ...]:
    """The items of a list as strings; a string becomes a list of one, other values an empty list."""
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def _parse_settings(block: str) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    name = ""
    for line in block.split("\n"):
        entry, item = _ENTRY.fullmatch(line), _ITEM.fullmatch(line)
        if entry:
            name = entry[1]
            value = _parse_value(entry[2])
            settings[name] = [] if value == "" else value
        elif item and isinstance(settings.get(name), list):
            settings[name].append(_parse_value(item[1]))
        elif line[:1] in " \t" and line.strip() and settings.get(name) in ("|", ">", ">-", "|-"):
            settings[name] = line.strip()
        elif line[:1] in " \t" and line.strip() and isinstance(settings.get(name), str):
            settings[name] = f"{settings[name]} {line.strip()}"
    return settings


def _parse_value(source: str) -> Any:
    text = source.strip()
    if quoted := _QUOTED.fullmatch(text):
        return quoted["text"]
    text = _COMMENT.sub("", text)
    if text.startswith("[") and text.endswith("]"):
        return [_parse_value(part) for part in text[1:-1].split(",") if part.strip()]
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?\d{1,15}", text) else text
