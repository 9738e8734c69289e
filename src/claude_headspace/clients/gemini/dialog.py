"""The dialogs of Gemini CLI, read from its screen: permissions and questions. Pure.

A dialog is a box at the bottom of the screen. A permission shows what it is about, in an inner box the command or the
change, and numbered options. A question has numbered options, the last of which takes a text, or only a line for a
text. Several questions are asked one after the other; a row above them shows which ones have an answer, and at the end
all answers are listed. Recorded with 0.61.0.

Rules
- The dialog is the last thing on the screen. Text above it may look like one.
- Options, titles and keys that are not known make no dialog. Several answers to one question cannot be
  given.
"""

import re
from collections.abc import Sequence

import msgspec

from claude_headspace.clients.dialog import Dialog, DialogOption, Role

_ALLOW = "Allow once"
_DENY = "No, suggest changes (esc)"
_QUESTION_TITLE = "Answer Questions"
_QUESTION_KEYS = (
    "Enter to select · ↑/↓ to navigate · Esc to cancel",
    "Enter to submit · Esc to cancel",
    "Enter to select · ←/→ to switch questions · Esc to cancel",
    "Enter to submit · Tab/Shift+Tab to switch questions · Esc to cancel",
)
_REVIEW_TITLE = "Review your answers:"
_REVIEW_KEYS = "Enter to submit · Tab/Shift+Tab to edit answers · Esc to cancel"
_TABS = re.compile(r"← (?:[□✓] .+? │ )+≡ Review →")
_MARK = re.compile(r"(?:← |│ )([□✓]) ")
_OTHER = "Enter a custom value"
_PLACEHOLDER = "Enter your response"
_DECLINE_KEY = "Escape"
_OPTION = re.compile(r"(●| ) (\d+)\. +(.*)")
_INPUT = "> "


def read_dialog(lines: Sequence[str]) -> Dialog | None:
    """The dialog on a screen; None if it shows none."""
    shown = [line.rstrip() for line in lines]
    while shown and not shown[-1]:
        shown.pop()
    if not shown or not shown[-1].startswith("╰") or not shown[-1].endswith("╯"):
        return None
    start = next((at for at in range(len(shown) - 2, -1, -1) if not _is_inside(shown[at])), -1)
    rows = [line[2:-1].rstrip() for line in shown[start + 1 : -1]]
    is_complete = start >= 0 and shown[start].startswith("╭") and shown[start].endswith("╮")
    return _read_question(rows, is_complete) or _read_permission(rows, is_complete)


def _is_inside(line: str) -> bool:
    return line.startswith("│ ") and line.endswith("│")


# --- permissions ------------------------------------------------------------------------------------------------------


def _read_permission(rows: Sequence[str], is_complete: bool) -> Dialog | None:
    first = next((at for at, row in enumerate(rows) if _label(row) == _ALLOW), None)
    if first is None:
        return None
    options = [_OPTION.fullmatch(row) for row in rows[first:]]
    labels = [found.group(3) for found in options if found is not None]
    marked = [at for at, found in enumerate(options) if found is not None and found.group(1) == "●"]
    if len(labels) != len(options) or labels[-1] != _DENY or len(marked) != 1:
        return None
    others = (DialogOption(label) for label in labels[1:-1])
    text = [row for row in rows[:first] if row]
    return Dialog(
        kind="permission",
        text="\n".join(_unbox(row) for row in text),
        command=_inner_text(text),
        options=(DialogOption(_ALLOW, Role.ALLOW), *others, DialogOption(_DENY, Role.DENY)),
        selected=marked[0],
        is_complete=is_complete,
    )


def _label(row: str) -> str:
    found = _OPTION.fullmatch(row)
    return found.group(3) if found is not None else ""


def _unbox(row: str) -> str:
    """A row without the sides of an inner box."""
    return row[2:-1].strip() if _is_inside(row) else row.strip()


def _inner_text(rows: Sequence[str]) -> str:
    """The text of the inner box, if there is exactly one."""
    tops = [at for at, row in enumerate(rows) if row.startswith("╭")]
    bottoms = [at for at, row in enumerate(rows) if row.startswith("╰")]
    if len(tops) != 1 or len(bottoms) != 1:
        return ""
    return "\n".join(_unbox(row) for row in rows[tops[0] + 1 : bottoms[0]])


# --- questions --------------------------------------------------------------------------------------------------------


def _read_question(rows: Sequence[str], is_complete: bool) -> Dialog | None:
    if len(rows) < 4 or rows[0].strip() != _QUESTION_TITLE or rows[-1].strip() not in (*_QUESTION_KEYS, _REVIEW_KEYS):
        return None
    body = [row for row in rows[1:-1] if row]
    marks: tuple[bool, ...] = ()
    if body and _TABS.fullmatch(body[0].strip()):
        marks = tuple(mark == "✓" for mark in _MARK.findall(body.pop(0)))
    if rows[-1].strip() == _REVIEW_KEYS:
        return _read_review(body, marks, is_complete)
    found = _read_one_question(body, is_complete)
    return msgspec.structs.replace(found, marks=marks) if found is not None else None


def _read_review(rows: Sequence[str], marks: tuple[bool, ...], is_complete: bool) -> Dialog | None:
    """The list of all answers."""
    if not marks or not rows or rows[0].strip() != _REVIEW_TITLE:
        return None
    text = "\n".join(row.strip() for row in rows[1:])
    found = _question(text, (DialogOption("Submit", Role.SUBMIT),), 0, "", is_complete)
    return msgspec.structs.replace(found, marks=marks)


def _read_one_question(body: Sequence[str], is_complete: bool) -> Dialog | None:
    first = next((at for at, row in enumerate(body) if _OPTION.fullmatch(row) or row.startswith(_INPUT)), None)
    if first is None:
        return None
    text = "\n".join(row.strip() for row in body[:first])
    if body[first].startswith(_INPUT):
        typed = " ".join(row.strip() for row in body[first:]).removeprefix(">").strip()
        option = DialogOption("Text", Role.TEXT, takes_text=True)
        return _question(text, (option,), 0, "" if typed == _PLACEHOLDER else typed, is_complete)
    return _read_choice(text, body[first:], is_complete)


def _read_choice(text: str, rows: Sequence[str], is_complete: bool) -> Dialog | None:
    """A question with options. Rows without a number are descriptions. The last option takes a text."""
    options = [found for row in rows if (found := _OPTION.fullmatch(row)) is not None]
    marked = [at for at, found in enumerate(options) if found.group(1) == "●"]
    numbers = [int(found.group(2)) for found in options]
    if len(marked) != 1 or numbers != list(range(1, len(options) + 1)) or len(options) < 2:
        return None
    if any(found.group(3).startswith("[") for found in options):
        return None
    label = options[-1].group(3)
    typed = "" if label == _OTHER else label
    if typed and marked[0] != len(options) - 1:
        return None
    answers = (DialogOption(found.group(3), Role.ANSWER) for found in options[:-1])
    return _question(text, (*answers, DialogOption(_OTHER, Role.TEXT, takes_text=True)), marked[0], typed, is_complete)


def _question(text: str, options: tuple[DialogOption, ...], selected: int, typed: str, is_complete: bool) -> Dialog:
    return Dialog(
        kind="question",
        text=text,
        options=options,
        selected=selected,
        typed=typed,
        decline_key=_DECLINE_KEY,
        is_complete=is_complete,
    )
