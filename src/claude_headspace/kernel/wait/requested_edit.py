"""The change of a file that a tool call requests. Pure.

Rules
- The change is applied to the text of the file. If that is not possible, the diff shows the old and new text of the
  call itself, and its first line says why.
- A file that is written as a whole loses its old text. If that text is not shown, the diff says so: it never looks like
  the diff of a new file.
- A call can change several files. The diff of each then starts with a line `diff --git`.
- Secrets are redacted in both texts before. A change inside a redacted secret is not visible, and the diff says so.
"""

from collections.abc import Sequence

import msgspec

from claude_headspace.kernel.changes.unified import added_lines, compare, format_diff
from claude_headspace.kernel.hidden_characters import mark_controls
from claude_headspace.kernel.notebook import cell_source
from claude_headspace.kernel.redaction.redactor import REDACTED

DELETED_COMMENT = "# the whole file is deleted; the request does not contain its text"
OVERWRITTEN_COMMENT = "# overwrites an existing file; its old text is not known here and will be lost"
WRITTEN_COMMENT = "# writes the whole file; if it exists, its old text is not known here and will be lost"
SAME_COMMENT = "# no line of the file changes"
LINE_ENDS_COMMENT = "# only the line ends of the file change"
HIDDEN_COMMENT = "# no visible line of the file changes"
UNKNOWN_COMMENT = "# the request does not contain the change; see the agent's terminal"
REDACTED_COMMENT = f"# {REDACTED}: secrets are not shown, and neither are changes inside them"


class Replacement(msgspec.Struct, frozen=True):
    """One text that is replaced by another."""

    old: str
    new: str
    everywhere: bool = False
    """Every occurrence is replaced, not only the first one."""


class RequestedEdit(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool call does to one file: replace texts, write, move or delete it, or change one cell of a notebook."""

    path: str
    replacements: tuple[Replacement, ...] = ()
    content: str | None = None
    """The new text of the whole file."""
    cell: "RequestedCell | None" = None
    moved_to: str = ""
    """The new path of a file that is moved."""
    deleted: bool = False
    """The whole file is deleted."""


class RequestedCell(msgspec.Struct, frozen=True, kw_only=True):
    """The change of one cell of a notebook. A new cell has no old source; a deleted one no new source."""

    id: str
    source: str | None
    is_new: bool = False


class FileTexts(msgspec.Struct, frozen=True):
    """A file before and after a change. None: it does not exist."""

    path: str
    old: str | None
    new: str | None


class NotApplicable(Exception):
    """Why an edit cannot be applied to the file. The diff says so in its first line."""

    def __init__(self, reason: str, *, exists: bool = False) -> None:
        super().__init__(reason)
        self.exists = exists
        """Whether the file is known to exist."""


def edit_diff(edit: RequestedEdit, name: str, text: str | None) -> str:
    """The diff of an edit against the text of its file, with the file's name. None: the file does not exist."""
    if not _has_change(edit):
        return f"{UNKNOWN_COMMENT}\n"
    diff = unified_diff(apply_edit(edit, name, text))
    if not diff and not edit.moved_to and text is not None:
        return _nothing_visible(edit, text)
    return _rename(edit) + _with_comment(diff)


def _nothing_visible(edit: RequestedEdit, text: str) -> str:
    """What an edit does to a file if no line of its diff shows it."""
    if REDACTED in text:
        return f"{HIDDEN_COMMENT}\n{REDACTED_COMMENT}\n"
    is_same = edit.content is None or edit.content == text
    return f"{SAME_COMMENT if is_same else LINE_ENDS_COMMENT}\n"


def join_diffs(diffs: Sequence[tuple[str, str]]) -> str:
    """The diffs of several files with their names as one. That of a single file stays as it is."""
    if len(diffs) == 1:
        return diffs[0][1]
    return "".join(f"diff --git a/{mark_controls(name)} b/{mark_controls(name)}\n{diff}" for name, diff in diffs)


def unified_diff(texts: FileTexts) -> str:
    """The unified diff of a file; empty if nothing changes."""
    hunks = compare(texts.old or "", texts.new or "")
    return format_diff(texts.path, hunks, created=texts.old is None, deleted=texts.new is None) if hunks else ""


def apply_edit(edit: RequestedEdit, name: str, text: str | None) -> FileTexts:
    """The file before and after the edit."""
    if edit.deleted:
        if text is None:
            raise NotApplicable("it does not exist")
        return FileTexts(name, text, None)
    if edit.cell is not None:
        return _apply_to_cell(edit.cell, name, text)
    if edit.content is not None:
        return FileTexts(name, _same_line_ends(text, edit.content), edit.content)
    changed = _same_line_ends(text, "")
    before = changed
    for part in edit.replacements:
        changed = _replace(changed, part)
    return FileTexts(name, before, changed)


def own_diff(edit: RequestedEdit, name: str, problem: NotApplicable) -> str:
    """The diff of the call's own texts. Its first line says why it is not a diff of the file."""
    parts = [unified_diff(FileTexts(name, part.old, part.new)) for part in edit.replacements]
    if edit.content is not None:
        written = format_diff(name, added_lines(edit.content))
        parts.append(f"{OVERWRITTEN_COMMENT if problem.exists else WRITTEN_COMMENT}\n{written}")
    if edit.cell is not None:
        parts.append(unified_diff(FileTexts(_cell_name(name, edit.cell), None, edit.cell.source)))
    if edit.deleted:
        parts.append(f"{format_diff(name, (), deleted=True)}{DELETED_COMMENT}\n")
    if not _has_change(edit):
        parts.append(f"{UNKNOWN_COMMENT}\n")
    first, *others = [part for part in parts if part] or [""]
    body = _rename(edit) + "".join((first, *(_without_header(part) for part in others)))
    return f"# file not readable: {mark_controls(str(problem))}; line numbers are relative\n{_with_comment(body)}"


def _has_change(edit: RequestedEdit) -> bool:
    """Whether the call says what it changes. A client may name only the file."""
    return bool(edit.replacements or edit.moved_to or edit.deleted or edit.cell) or edit.content is not None


def _rename(edit: RequestedEdit) -> str:
    """The lines of a diff that name both paths of a file that is moved."""
    return (
        f"rename from {mark_controls(edit.path)}\nrename to {mark_controls(edit.moved_to)}\n" if edit.moved_to else ""
    )


def _without_header(diff: str) -> str:
    return diff.split("\n", 2)[2]


def _replace(text: str | None, part: Replacement) -> str:
    if not part.old and not text:
        return part.new
    if text is None:
        raise NotApplicable("it does not exist")
    if not part.old or part.old not in text:
        raise NotApplicable("it does not contain the old text")
    return text.replace(part.old, part.new, -1 if part.everywhere else 1)


def _same_line_ends(text: str | None, other: str) -> str | None:
    """The text with plain line feeds, unless the other text has carriage returns: clients edit it that way."""
    return text.replace("\r\n", "\n") if text is not None and "\r\n" not in other else text


def _with_comment(diff: str) -> str:
    return f"{REDACTED_COMMENT}\n{diff}" if REDACTED in diff else diff


# --- notebooks --------------------------------------------------------------------------------------------------------


def _apply_to_cell(cell: RequestedCell, name: str, text: str | None) -> FileTexts:
    old = None if cell.is_new else _source(cell, text)
    return FileTexts(_cell_name(name, cell), old, cell.source)


def _cell_name(name: str, cell: RequestedCell) -> str:
    where = "new cell" if cell.is_new and not cell.id else f"new cell after {cell.id}" if cell.is_new else cell.id
    return f"{name} ({where})"


def _source(cell: RequestedCell, text: str | None) -> str:
    """The current source of a cell."""
    if text is None:
        raise NotApplicable("it does not exist")
    if (found := cell_source(text, cell.id)) is None:
        raise NotApplicable(f"it has no cell {cell.id}")
    return found
