"""The changes of files that tool calls of Copilot CLI request. Pure and total: an unknown input requests none."""

import msgspec

from claude_headspace.kernel.tolerant_json import fit
from claude_headspace.kernel.tools import ToolKind, ToolUse
from claude_headspace.kernel.wait.requested_edit import Replacement, RequestedEdit


class WireEdit(msgspec.Struct):
    """The input of a tool that creates or edits one file."""

    path: str = ""
    file_text: str | None = None
    old_str: str = ""
    new_str: str = ""


def requested_edit(use: ToolUse) -> RequestedEdit | None:
    """What a call does to one file; None if it is not an edit, or a patch of several files."""
    given, misfit = fit(use.input, WireEdit)
    if not given.path or misfit is not None or use.kind not in (ToolKind.WRITE, ToolKind.EDIT):
        return None
    if given.file_text is not None:
        return RequestedEdit(path=given.path, content=given.file_text)
    parts = (Replacement(given.old_str, given.new_str),) if given.old_str or given.new_str else ()
    return RequestedEdit(path=given.path, replacements=parts)
