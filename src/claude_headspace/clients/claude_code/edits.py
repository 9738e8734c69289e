"""The changes of files that tool calls of Claude Code request. Pure and total: an unknown input requests none."""

from claude_headspace.clients.claude_code import wire
from claude_headspace.kernel.tolerant_json import fit
from claude_headspace.kernel.tools import ToolKind, ToolUse
from claude_headspace.kernel.wait.requested_edit import Replacement, RequestedCell, RequestedEdit

DELETE, INSERT = "delete", "insert"


def requested_edit(use: ToolUse) -> RequestedEdit | None:
    """What a call does to one file; None if it is not an edit."""
    given, misfit = fit(use.input, wire.WireFileEdit)
    path = use.path
    if not path or misfit is not None:
        return None
    match use.kind:
        case ToolKind.WRITE:
            return RequestedEdit(path=path, content=given.content)
        case ToolKind.EDIT:
            edits = given.edits or (given,)
            parts = (Replacement(each.old_string, each.new_string, each.replace_all) for each in edits)
            return RequestedEdit(path=path, replacements=tuple(parts))
        case ToolKind.NOTEBOOK:
            return RequestedEdit(path=path, cell=_cell(given))
        case _:
            return None


def _cell(given: wire.WireFileEdit) -> RequestedCell:
    source = None if given.edit_mode == DELETE else given.new_source
    return RequestedCell(id=given.cell_id or "", source=source, is_new=given.edit_mode == INSERT)
