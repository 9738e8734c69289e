"""The changes of files that tool calls of Gemini CLI request. Pure and total: an unknown input requests none."""

from claude_headspace.clients.gemini.wire import WireInput
from claude_headspace.kernel.tolerant_json import fit
from claude_headspace.kernel.tools import ToolKind, ToolUse
from claude_headspace.kernel.wait.requested_edit import Replacement, RequestedEdit


def requested_edit(use: ToolUse) -> RequestedEdit | None:
    """What a call does to one file; None if it is not an edit. A dialog shows the whole new text of the file."""
    given, misfit = fit(use.input, WireInput)
    if not use.path or misfit is not None or use.kind not in (ToolKind.WRITE, ToolKind.EDIT):
        return None
    if given.content is not None:
        return RequestedEdit(path=use.path, content=given.content)
    part = Replacement(given.old_string, given.new_string, given.allow_multiple)
    return RequestedEdit(path=use.path, replacements=(part,) if part.old or part.new else ())
