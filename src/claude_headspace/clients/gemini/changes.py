"""The edits of files that a finished tool call of Gemini CLI reports. Pure and total.

The result has the text of the file before and after. Without it, the edit is shown from the input of the call.
"""

from typing import Any

import msgspec

from claude_headspace.clients.gemini.hook_kinds import KINDS
from claude_headspace.clients.gemini.tools import EDIT, WRITE
from claude_headspace.clients.gemini.wire import WireDiff, WireHook, WireInput, WireResponse
from claude_headspace.kernel.changes.model import FileEdit, Hunk
from claude_headspace.kernel.changes.unified import added_lines, compare
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.sanitize import left_out
from claude_headspace.kernel.tolerant_json import fit, parse

EDIT_EVENTS = frozenset(name for name, kind in KINDS.items() if kind is HookKind.AFTER_TOOL)
"""The names of the events that report edits."""


def file_edits(payload: bytes) -> tuple[FileEdit, ...]:
    """The edits that a stored payload reports; empty for other tools and what cannot be read."""
    hook = fit(parse(payload)[0], WireHook)[0]
    response = fit(hook.tool_response, WireResponse)[0]
    if hook.tool_name not in (WRITE, EDIT) or response.error is not None:
        return ()
    given = fit(hook.tool_input, WireInput)[0]
    diff = fit(response.display, WireDiff)[0] if isinstance(response.display, dict) else WireDiff()
    edit = _from_result(given, diff) if diff.before is not None and diff.after is not None else _from_input(given)
    return (edit,) if edit.path else ()


def _from_result(given: WireInput, diff: WireDiff) -> FileEdit:
    before, after = diff.before or "", diff.after or ""
    missing = left_out(before) + left_out(after)
    known: dict[str, Any] = {} if missing else {"before": before, "after": after}
    hunks = added_lines(after) if diff.is_new else compare(before, after)
    path = diff.file_path or given.file_path
    return FileEdit(path=path, hunks=hunks, created=diff.is_new, left_out=missing, **known)


def _from_input(given: WireInput) -> FileEdit:
    hunks: tuple[Hunk, ...]
    if given.content is not None:
        hunks, missing = added_lines(given.content), left_out(given.content)
    else:
        hunks = compare(given.old_string, given.new_string)
        missing = left_out(given.old_string) + left_out(given.new_string)
    edit = FileEdit(path=given.file_path, hunks=hunks, left_out=missing)
    return edit if given.content is None or missing else msgspec.structs.replace(edit, after=given.content)
