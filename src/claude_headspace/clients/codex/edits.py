"""The changes of files that tool calls of Codex request. Pure and total: an unknown input requests none."""

from claude_headspace.clients.codex import wire
from claude_headspace.clients.codex.patches import ADD, UPDATE, parse_patch
from claude_headspace.clients.codex.tools import PATCH
from claude_headspace.kernel.tolerant_json import fit
from claude_headspace.kernel.tools import ToolUse
from claude_headspace.kernel.wait.requested_edit import Replacement, RequestedEdit


def requested_edit(use: ToolUse) -> RequestedEdit | None:
    """What a patch does to its file; None if it is no patch, or one of several files, which is shown as it is."""
    sections = parse_patch(fit(use.input, wire.WireToolInput)[0].command or "") if use.name == PATCH else []
    if len(sections) != 1 or sections[0].moved_to:
        return None
    section = sections[0]
    if section.action == ADD:
        return RequestedEdit(path=section.path, content=section.content)
    if section.action == UPDATE:
        parts = tuple(Replacement(old, new) for old, new in section.replacements())
        return RequestedEdit(path=section.path, replacements=parts)
    return None
