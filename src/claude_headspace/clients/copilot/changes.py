"""The edits of files that a finished tool call of Copilot CLI reports, from its input. Pure and total.

The result has no text of the file. Patches of several files are not read.
"""

import msgspec

from claude_headspace.clients.copilot import tools, wire
from claude_headspace.clients.copilot.edits import WireEdit
from claude_headspace.clients.copilot.hook_kinds import KINDS
from claude_headspace.kernel.changes.model import FileEdit
from claude_headspace.kernel.changes.unified import added_lines, compare
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.sanitize import left_out
from claude_headspace.kernel.tolerant_json import fit, parse

EDIT_EVENTS = frozenset(name for name, kind in KINDS.items() if kind is HookKind.AFTER_TOOL)
"""The names of the events that report edits."""
EDIT_TOOLS = ("create", "edit")


def file_edits(payload: bytes) -> tuple[FileEdit, ...]:
    """The edits that a stored payload reports; empty for other tools and what cannot be read."""
    hook = fit(wire.in_snake_case(parse(payload)[0]), wire.WireTool)[0]
    result = fit(wire.in_snake_case(hook.tool_result), wire.WireToolResult)[0]
    given = fit(hook.tool_input, WireEdit)[0]
    if tools.own_name(hook.tool_name) not in EDIT_TOOLS or result.result_type != "success" or not given.path:
        return ()
    if given.file_text is None:
        missing = left_out(given.old_str) + left_out(given.new_str)
        return (FileEdit(path=given.path, hunks=compare(given.old_str, given.new_str), left_out=missing),)
    missing = left_out(given.file_text)
    edit = FileEdit(path=given.path, hunks=added_lines(given.file_text), created=True, left_out=missing)
    return (edit if missing else msgspec.structs.replace(edit, after=given.file_text),)
