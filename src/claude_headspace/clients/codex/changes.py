"""The edits of files that a finished `apply_patch` of Codex reports. Pure and total.

Rules
- A patch has no line numbers: they are relative to each chunk.
- A patch that failed changed nothing.
- A moved file appears under its new name. A deleted file is shown by the repository only: the patch has no text of it.
- Paths are relative to the directory of the thread.
"""

from collections.abc import Iterator
from posixpath import join, normpath

import msgspec

from claude_headspace.clients.codex.hook_kinds import KINDS
from claude_headspace.clients.codex.patches import ADD, UPDATE, Section, parse_patch
from claude_headspace.clients.codex.tools import PATCH
from claude_headspace.clients.codex.wire import WireTool, WireToolInput
from claude_headspace.kernel.changes.model import FileEdit
from claude_headspace.kernel.changes.unified import added_lines, compare
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.sanitize import left_out
from claude_headspace.kernel.tolerant_json import UNREADABLE, fit

EDIT_EVENTS = frozenset(name for name, kind in KINDS.items() if kind is HookKind.AFTER_TOOL)
"""The names of the events that report edits."""
SUCCESS = "Exit code: 0"
"""How the result of a patch that was applied begins."""


def file_edits(payload: bytes) -> tuple[FileEdit, ...]:
    """The edits that a stored payload reports; empty for other tools and what cannot be read."""
    try:
        call = fit(msgspec.json.decode(payload), WireTool)[0]
    except UNREADABLE:
        return ()
    if call.tool_name != PATCH or (isinstance(call.tool_response, str) and not call.tool_response.startswith(SUCCESS)):
        return ()
    patch = fit(call.tool_input, WireToolInput)[0].command or ""
    return tuple(edit for section in parse_patch(patch) for edit in _edits(section, call.cwd or "", left_out(patch)))


def _edits(section: Section, directory: str, missing: int) -> Iterator[FileEdit]:
    path = normpath(join(directory, section.moved_to or section.path))
    if section.action == ADD:
        text = None if missing else section.content
        hunks = added_lines(section.content)
        yield FileEdit(path=path, hunks=hunks, before="", after=text, created=True, left_out=missing)
    elif section.action == UPDATE:
        hunks = tuple(hunk for old, new in section.replacements() for hunk in compare(old, new))
        yield FileEdit(path=path, hunks=hunks, left_out=missing)
