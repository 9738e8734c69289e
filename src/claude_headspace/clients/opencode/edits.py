"""The changes of files that tool calls of opencode request. Pure and total: an unknown input requests none."""

import msgspec

from claude_headspace.kernel.tolerant_json import fit
from claude_headspace.kernel.tools import ToolKind, ToolUse
from claude_headspace.kernel.wait.requested_edit import Replacement, RequestedEdit


class WireFileEdit(msgspec.Struct, frozen=True):
    """The input of a tool that edits a file or writes it."""

    old_string: str = msgspec.field(default="", name="oldString")
    new_string: str = msgspec.field(default="", name="newString")
    replace_all: bool = msgspec.field(default=False, name="replaceAll")
    content: str | None = None


def requested_edit(use: ToolUse) -> RequestedEdit | None:
    """What a call does to one file; None if it is not an edit."""
    given, misfit = fit(use.input, WireFileEdit)
    if not use.path or misfit is not None:
        return None
    if use.kind is ToolKind.WRITE:
        return RequestedEdit(path=use.path, content=given.content)
    if use.kind is ToolKind.EDIT:
        part = Replacement(given.old_string, given.new_string, given.replace_all)
        return RequestedEdit(path=use.path, replacements=(part,))
    return None
