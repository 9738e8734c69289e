"""Whether a dialog of Gemini CLI shows exactly the edit of a call. Pure. Recorded with 0.61.0.

The title names the file, relative to the directory of the client. A new file is shown with the numbers of its lines, a
change as a diff: each row has a number, a sign (`-`, `+` or blank) and the text. Rows without a number continue the one
before. Between parts of a diff is a line.

Rules
- The diff determines the call. The text before, with the replacement of the call applied, must be the text after.
- A file that is written as a whole must be visible as a whole.
- White space is not compared, because the screen wraps lines.
"""

import re
from collections.abc import Sequence

from claude_headspace.clients.dialog import Dialog, squeeze
from claude_headspace.clients.dialog_match import shows_call as dialog_shows_call
from claude_headspace.clients.gemini import tools
from claude_headspace.clients.gemini.wire import WireInput
from claude_headspace.kernel.tolerant_json import fit
from claude_headspace.kernel.tools import ToolUse

TITLES = {tools.WRITE: "? WriteFile Writing to {path}", tools.EDIT: "? Edit {path}:"}
"""How the title of a dialog begins, by tool."""

_NUMBERED = re.compile(r"(\d+)(?: (.*))?")
_CHANGED = re.compile(r"\d+(?: ([-+ ])(?: (.*))?)?")
_GAP = "═─"


def shows_call(dialog: Dialog, use: ToolUse, cwd: str) -> bool:
    """Whether a dialog shows exactly this call."""
    if use.name not in TITLES:
        return dialog_shows_call(dialog, use)
    given, misfit = fit(use.input, WireInput)
    title, _, _ = dialog.text.partition("\n")
    if misfit is not None or not given.file_path or not _names(title, use.name, given.file_path, cwd):
        return False
    rows = dialog.command.split("\n")
    return _shows_content(rows, given.content) if given.content is not None else _shows_replacement(rows, given)


def _names(title: str, tool: str, path: str, cwd: str) -> bool:
    """Whether a title names the file."""
    shown = path.removeprefix(f"{cwd.rstrip('/')}/") if cwd else path
    wanted = squeeze(TITLES[tool].format(path=shown))
    return squeeze(title).startswith(wanted) if tool == tools.EDIT else squeeze(title) == wanted


def _shows_content(rows: Sequence[str], content: str) -> bool:
    """Whether the rows show a whole file: a new one, or one that was changed. Its lines are numbered from 1 on."""
    wanted, texts = squeeze(content), _texts(rows)
    if not wanted:
        return False
    kept = [row for row in rows if (found := _CHANGED.fullmatch(row)) is None or found.group(1) != "-"]
    if texts is not None and texts[0] and texts[1] == wanted:
        return _are_all(kept, _CHANGED)
    new = (found.group(2) or "" if (found := _NUMBERED.fullmatch(row)) is not None else row for row in rows)
    return _are_all(rows, _NUMBERED) and squeeze("".join(new)) == wanted


def _are_all(rows: Sequence[str], pattern: re.Pattern[str]) -> bool:
    """Whether no line is left out: the numbers of the rows count from 1 on."""
    numbers = [int(row.partition(" ")[0]) for row in rows if pattern.fullmatch(row)]
    return numbers == list(range(1, len(numbers) + 1))


def _shows_replacement(rows: Sequence[str], given: WireInput) -> bool:
    """Whether the rows show this replacement, and nothing else."""
    texts, old = _texts(rows), squeeze(given.old_string)
    if texts is None or texts[0] == texts[1]:
        return False
    before, after = texts
    if not old:
        return not before and after == squeeze(given.new_string)
    number = -1 if given.allow_multiple else 1
    starts = [0] if given.allow_multiple else [each.start() for each in re.finditer(re.escape(old), before)]
    return any(
        before[:start] + before[start:].replace(old, squeeze(given.new_string), number) == after for start in starts
    )


def _texts(rows: Sequence[str]) -> tuple[str, str] | None:
    """The text before and after a change, without white space; None if the rows are no diff."""
    before, after, sign = list[str](), list[str](), ""
    for row in rows:
        if row and not row.strip(_GAP):
            continue
        found = _CHANGED.fullmatch(row)
        sign = (found.group(1) or " ") if found is not None else sign
        text = squeeze((found.group(2) or "") if found is not None else row)
        if not sign:
            return None
        before += [text] if sign != "+" else []
        after += [text] if sign != "-" else []
    return "".join(before), "".join(after)
