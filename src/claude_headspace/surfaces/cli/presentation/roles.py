"""Roles and modes: a table, a preview, what is missing."""

from collections.abc import Sequence

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, line
from claude_headspace.surfaces.text.labels import Json


def listed(roles: Sequence[Json], root: str) -> list[Line]:
    """Every role and mode with what it includes."""
    if not roles:
        return [
            line(f"There are no roles and no modes below {root}/.claude."),
            dim("A role is a file .claude/roles/NAME.md: docs/roles.md shows how."),
        ]
    lines: list[Line] = []
    for each in roles:
        lines.append(line(Span(f"{each['kind']} {each['name']}", "strong"), Span(f"  {each['file']}", "quiet")))
        lines += [line(f"  {name}") for name in each["includes"]]
        lines += [line(Span(f"  {problem}", "error")) for problem in each["left_out"]]
    first = next((each["name"] for each in roles if each["kind"] == "role"), None)
    return [*lines, *([EMPTY_LINE, dim(f"headspace role show {first}")] if first else [])]


def previewed(found: Json) -> list[Line]:
    """What the model would read, and nothing else; without anything, why."""
    if found["text"]:
        return [line(each) for each in found["text"].split("\n")]
    reasons = [line(f"  {each}") for each in found["left_out"]]
    return [line("A session here would begin with nothing."), *reasons, dim("headspace role list")]


def checked(core: Sequence[str], roles: Sequence[Json]) -> list[Line]:
    """What is missing, or that nothing is."""
    missing = [("core", each) for each in core]
    missing += [(f"{role['kind']} {role['name']}", each) for role in roles for each in role["left_out"]]
    if missing:
        return [line(Span(f"{whose}: ", "strong"), what) for whose, what in missing]
    return [line(f"Everything is there: the core files, and what {len(roles)} roles and modes include.")]
