"""The edits of files that a finished tool call of Claude Code reports. Pure and total.

Rules
- The client's own patch (`structuredPatch`) counts: it has the real line numbers. Without one, the edit is shown from
  the texts of the call's input.
- A stored result may have been cut. What is missing is counted, and a cut text never counts as complete.
- A notebook is shown by cell.
"""

import re
from collections.abc import Callable, Iterable

import msgspec

from claude_headspace.clients.claude_code.hook_kinds import hook_names
from claude_headspace.clients.claude_code.wire import WireFileEdit
from claude_headspace.kernel.changes.model import FileEdit, Hunk
from claude_headspace.kernel.changes.unified import added_lines, apply, compare
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.notebook import cell_source
from claude_headspace.kernel.sanitize import left_out
from claude_headspace.kernel.tolerant_json import UNREADABLE, fit

EDIT_EVENTS = hook_names((HookKind.AFTER_TOOL,))
"""The names of the events that report edits."""

_OMITTED = re.compile(r"… \[[\d,]+ members left out\] …")


class WirePatch(msgspec.Struct):
    """A hunk as the client writes it."""

    old_start: int = msgspec.field(default=1, name="oldStart")
    old_lines: int = msgspec.field(default=0, name="oldLines")
    new_start: int = msgspec.field(default=1, name="newStart")
    new_lines: int = msgspec.field(default=0, name="newLines")
    lines: list[str] = []


class WireEditResult(msgspec.Struct):
    """The result fields of the tools that change files."""

    type: str = ""
    patch: list[WirePatch | str] = msgspec.field(default_factory=list, name="structuredPatch")
    original: str | None = msgspec.field(default=None, name="originalFile")
    original_contents: str | None = msgspec.field(default=None, name="originalFileContents")
    content: str | None = None
    cell_id: str | None = None
    edit_mode: str = ""
    new_source: str | None = None
    original_file: str | None = None
    updated_file: str | None = None


class _Call(msgspec.Struct):
    tool_name: str = ""
    tool_input: msgspec.Raw = msgspec.Raw(b"{}")
    tool_response: msgspec.Raw = msgspec.Raw(b"{}")


def file_edits(payload: bytes) -> tuple[FileEdit, ...]:
    """The edits that a stored payload reports; empty for other tools and what cannot be read."""
    try:
        call = msgspec.json.decode(payload, type=_Call)
        read = _READERS.get(call.tool_name)
        if read is None:
            return ()
        given, result = msgspec.json.decode(call.tool_input), msgspec.json.decode(call.tool_response)
    except UNREADABLE:
        return ()
    edit = read(fit(given, WireFileEdit)[0], fit(result, WireEditResult)[0])
    return (edit,) if edit.path else ()


# --- files ------------------------------------------------------------------------------------------------------------


def _edit(given: WireFileEdit, result: WireEditResult) -> FileEdit:
    before = _complete(result.original if result.original is not None else result.original_contents)
    hunks, missing = _client_hunks(result.patch)
    if not hunks and not missing:
        replacements = given.edits or [given]
        hunks = tuple(hunk for each in replacements for hunk in compare(each.old_string, each.new_string))
        missing = sum(left_out(each.old_string) + left_out(each.new_string) for each in replacements)
    created = not (before or given.old_string or given.edits)
    before = "" if created else before
    after = apply(before, hunks) if before is not None and not missing else None
    return FileEdit(path=given.file_path, hunks=hunks, before=before, after=after, created=created, left_out=missing)


def _write(given: WireFileEdit, result: WireEditResult) -> FileEdit:
    content = result.content if result.content is not None else given.content or ""
    hunks, missing = _client_hunks(result.patch)
    created = result.type == "create"
    if created or not result.type:  # without a result, it is not known what was there before
        hunks, missing = added_lines(content), left_out(content)
    return FileEdit(
        path=given.file_path,
        hunks=hunks,
        before="" if created else _complete(result.original),
        after=_complete(content),
        created=created,
        left_out=missing,
    )


def _complete(text: str | None) -> str | None:
    """The text, unless a part of it was not stored."""
    return None if text is None or left_out(text) else text


def _client_hunks(patch: Iterable[WirePatch | str]) -> tuple[tuple[Hunk, ...], int]:
    """The hunks of the client's patch, and the number of bytes that were not stored."""
    hunks, missing = list[Hunk](), 0
    for part in patch:
        if isinstance(part, str):  # the mark in place of hunks that were not stored
            missing += max(left_out(part), 1)
            continue
        missing += sum(left_out(line) for line in part.lines)
        lines = [line.replace("\n", " ") for line in part.lines]
        gap = next((index for index, line in enumerate(lines) if _OMITTED.fullmatch(line)), None)
        if gap is None:
            hunks.append(Hunk(part.old_start, part.new_start, tuple(lines)))
        else:
            hunks += _around_gap(part, lines[:gap], lines[gap + 1 :])
            missing += max(1, part.old_lines + part.new_lines - len(lines))
    return tuple(hunks), missing


def _around_gap(part: WirePatch, head: list[str], tail: list[str]) -> list[Hunk]:
    """The two parts of a hunk whose middle was not stored, with their real line numbers."""
    old_tail = sum(line[:1] in (" ", "-") for line in tail)
    new_tail = sum(line[:1] in (" ", "+") for line in tail)
    old_start = part.old_start + part.old_lines - old_tail
    new_start = part.new_start + part.new_lines - new_tail
    return [Hunk(part.old_start, part.new_start, tuple(head)), Hunk(old_start, new_start, tuple(tail))]


# --- notebooks --------------------------------------------------------------------------------------------------------


def _notebook(given: WireFileEdit, result: WireEditResult) -> FileEdit:
    cell_id = result.cell_id or ""
    new_source = result.new_source if result.new_source is not None else given.new_source
    old_source = "" if result.edit_mode == "insert" else cell_source(result.original_file or "", cell_id) or ""
    new_source = "" if result.edit_mode == "delete" else new_source
    hunks = tuple(
        msgspec.structs.replace(hunk, section=f"cell {cell_id}".strip()) for hunk in compare(old_source, new_source)
    )
    missing = left_out(new_source) + left_out(old_source)
    return FileEdit(path=given.notebook_path, hunks=hunks, left_out=missing)


_READERS: dict[str, Callable[[WireFileEdit, WireEditResult], FileEdit]] = {
    "Edit": _edit,
    "MultiEdit": _edit,
    "Write": _write,
    "NotebookEdit": _notebook,
}
