"""Roles and modes as lines."""

from collections.abc import Sequence

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, line
from claude_headspace.surfaces.text.formatting import Json


def role_list(roles: Sequence[Json], root: str) -> list[Line]:
    """Every role and mode with the files that it includes."""
    if not roles:
        return [
            line(f"There are no roles or modes in {root}/.claude."),
            dim("A role is a file .claude/roles/NAME.md; see docs/roles.md."),
        ]
    lines: list[Line] = []
    for each in roles:
        lines.append(line(Span(f"{each['kind']} {each['name']}", "strong"), Span(f"  {each['file']}", "dim")))
        lines += [line(f"  {name}") for name in each["includes"]]
        lines += [line(Span(f"  {problem}", "error")) for problem in each["left_out"]]
    first = next((each["name"] for each in roles if each["kind"] == "role"), None)
    return [*lines, *([EMPTY_LINE, dim(f"headspace role show {first}")] if first else [])]


def role_preview(found: Json) -> list[Line]:
    """The exact context of a session; or why it is empty."""
    if found["text"]:
        return [line(each) for each in found["text"].split("\n")]
    reasons = [line(f"  {each}") for each in found["left_out"]]
    return [line("A session here would start with an empty context."), *reasons, dim("headspace role list")]


def role_check_result(core: Sequence[str], roles: Sequence[Json], unknown: str = "") -> list[Line]:
    """A role that does not exist, and the missing files; or that nothing is missing."""
    first = [line(Span(unknown, "error"))] if unknown else []
    missing = [("core", each) for each in core]
    missing += [(f"{role['kind']} {role['name']}", each) for role in roles for each in role["left_out"]]
    if first or missing:
        return [*first, *(line(Span(f"{whose}: ", "strong"), what) for whose, what in missing)]
    return [line(f"All files are readable: the core files and the files of {len(roles)} roles and modes.")]
