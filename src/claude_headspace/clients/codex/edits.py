"""The changes of files that tool calls of Codex request. Pure and total: an unknown input requests none."""

from claude_headspace.clients.codex import wire
from claude_headspace.clients.codex.patches import ADD, DELETE, Section, is_understood, parse_patch
from claude_headspace.clients.codex.tools import PATCH
from claude_headspace.kernel.tolerant_json import fit
from claude_headspace.kernel.tools import ToolUse
from claude_headspace.kernel.wait.requested_edit import Replacement, RequestedEdit


def requested_edits(use: ToolUse) -> tuple[RequestedEdit, ...]:
    """What a patch does to each of its files; empty if it is no patch, or has lines that would not be shown."""
    patch = fit(use.input, wire.WireToolInput)[0].command or "" if use.name == PATCH else ""
    return tuple(map(_edit, parse_patch(patch))) if is_understood(patch) else ()


def _edit(section: Section) -> RequestedEdit:
    if section.action == ADD:
        return RequestedEdit(path=section.path, content=section.content)
    if section.action == DELETE:
        return RequestedEdit(path=section.path, deleted=True)
    parts = tuple(Replacement(old, new) for old, new in section.replacements())
    return RequestedEdit(path=section.path, replacements=parts, moved_to=section.moved_to or "")
