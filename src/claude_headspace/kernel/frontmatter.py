"""The lines between two `---` at the beginning of a Markdown file, and the text after them.

Tolerant, as of every foreign file: a plain subset of YAML is read (texts, numbers, booleans, lists, comments), and what
is not understood is left out. A block that never ends is no frontmatter, and said to be a problem.
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
    """What a file says before its text."""

    settings: dict[str, Any]
    body: str
    problem: str = ""


def parse_frontmatter(text: str) -> Frontmatter:
    """The settings and the body of a file."""
    text = text.removeprefix("\ufeff")[:MAX_CHARACTERS].replace("\r\n", "\n")
    found = _BLOCK.match(text)
    if found is not None:
        return Frontmatter(_parse_settings(found[1]), text[found.end() :])
    return Frontmatter({}, text, "its frontmatter has no end" if _OPENING.match(text) else "")


def as_strings(value: object) -> tuple[str, ...]:
    """The texts of a list; one text is a list of one."""
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(str(each) for each in value) if isinstance(value, list) else ()


def _parse_settings(block: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    name = ""
    for line in block.split("\n"):
        entry, item = _ENTRY.fullmatch(line), _ITEM.fullmatch(line)
        if entry:
            name = entry[1]
            value = _parse_value(entry[2])
            found[name] = [] if value == "" else value
        elif item and isinstance(found.get(name), list):
            found[name].append(_parse_value(item[1]))
        elif line[:1] in " \t" and line.strip() and found.get(name) in ("|", ">", ">-", "|-"):
            found[name] = line.strip()
        elif line[:1] in " \t" and line.strip() and isinstance(found.get(name), str):
            found[name] = f"{found[name]} {line.strip()}"
    return found


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
