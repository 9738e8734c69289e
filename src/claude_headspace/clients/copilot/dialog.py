"""The dialogs of Copilot CLI, read from its screen: permissions, and questions with one field. Pure.

A permission is a box at the bottom of the screen with numbered options. In an inner box it shows the command; if a hook
asks, the tool and its arguments as JSON. A refusal is typed into the last option, whose label the text replaces. A
question stands between two lines. If the option "Other" is selected, its text is typed into a box below. Recorded with
1.0.102.

Rules
- The dialog is the last thing on the screen. Text above it may look like one.
- Keys and titles that are not known make no dialog.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from claude_headspace.clients.dialog import Dialog, DialogOption, Role
from claude_headspace.clients.dialog import shows_call as dialog_shows_call
from claude_headspace.kernel.tools import ToolUse

_PERMISSION_KEYS = "↑/↓ to navigate · enter to select · esc to cancel"
_QUESTION_KEYS = (
    "↑/↓ select · enter accept · ctrl+d decline · esc cancel",
    "enter accept · ctrl+d decline · esc cancel",
)
_QUESTION_TITLE = "Copilot needs information."
_DECLINE_KEY = "C-d"
_OPTION = re.compile(r"(❯| ) (\d+)\. (.*)")
_REFUSAL, _REFUSAL_WITH_TEXT = "No", "No, and tell Copilot what to do differently"
_WITH_TEXT, _WITHOUT_TEXT = " (Esc to stop)", " (Esc)"
"""The ends of a refusal's label. The first takes a text and nothing happens without one, even if the label does not ask
for it."""
_TOOL, _ARGUMENTS = "Tool: ", "Args: "
_OTHER = "Other (type your answer"
_PLACEHOLDER = "Type your answer..."
_MIN_LINE = 20
_CHANGE = re.compile(r"\s*cd\s+([^\s'\"\\$`~*?;&|()<>]+)\s*&&\s*(\S.*)", re.DOTALL)
"""A command that first changes the directory, which is written out."""


def read_dialog(lines: Sequence[str]) -> Dialog | None:
    """The dialog on a screen; None if it shows none."""
    shown = [line.rstrip() for line in lines]
    while shown and not shown[-1]:
        shown.pop()
    return _read_permission(shown) or _read_question(shown)


def shows_call(dialog: Dialog, use: ToolUse, cwd: str) -> bool:
    """Whether a dialog shows exactly this call. It leaves out a change to the directory in which the client runs."""
    found = _CHANGE.fullmatch(use.command)
    if found is not None and cwd and found.group(1).rstrip("/") == cwd.rstrip("/"):
        inside = msgspec.structs.replace(use, command=found.group(2))
        return dialog_shows_call(dialog, use) or dialog_shows_call(dialog, inside)
    return dialog_shows_call(dialog, use)


# --- permissions ------------------------------------------------------------------------------------------------------


def _read_permission(lines: Sequence[str]) -> Dialog | None:
    if not lines or not lines[-1].startswith("╰") or not lines[-1].endswith("╯"):
        return None
    start = next((at for at in range(len(lines) - 2, -1, -1) if not _is_inside(lines[at])), -1)
    rows = [line[2:-1].rstrip() for line in lines[start + 1 : -1]]
    if len(rows) < 3 or rows[-1] != _PERMISSION_KEYS:
        return None
    first = next((at for at in range(len(rows) - 1) if _OPTION.fullmatch(rows[at])), None)
    if first is None:
        return None
    labels, selected = _labels(rows[first:-1])
    options, typed = _options(labels)
    if selected is None or options is None:
        return None
    text = [row for row in rows[:first] if row]
    return Dialog(
        kind="permission",
        text="\n".join(_unbox(row) for row in text),
        **_request(_inner_box(text)),
        options=options,
        selected=selected,
        typed=typed,
        is_complete=start >= 0 and lines[start].startswith("╭") and lines[start].endswith("╮"),
    )


def _is_inside(line: str) -> bool:
    return line.startswith("│ ") and line.endswith("│")


def _unbox(row: str) -> str:
    """A row without the sides of an inner box."""
    return row[2:-1].strip() if _is_inside(row) else row


def _request(inner: Sequence[str]) -> dict[str, Any]:
    """What the inner box shows: a command, or the call that a hook asks about."""
    if len(inner) > 1 and inner[0].startswith(_TOOL) and inner[1].startswith(_ARGUMENTS):
        arguments = "\n".join(inner[1:]).removeprefix(_ARGUMENTS)
        return {"tool": inner[0].removeprefix(_TOOL), "arguments": arguments}
    return {"command": "\n".join(inner)}


def _inner_box(rows: Sequence[str]) -> list[str]:
    """The text of the inner box, if there is exactly one."""
    tops = [at for at, row in enumerate(rows) if row.startswith("╭")]
    if len(tops) != 1:
        return []
    inner = rows[tops[0] + 1 :]
    bottom = next((at for at, row in enumerate(inner) if row.startswith("╰")), 0)
    return [_unbox(row) for row in inner[:bottom]]


def _labels(rows: Sequence[str]) -> tuple[list[str], int | None]:
    """The labels of numbered options, and which one is selected. Further lines of a label have no number."""
    labels: list[str] = []
    selected = None
    for row in rows:
        if (found := _OPTION.fullmatch(row)) is not None and int(found.group(2)) == len(labels) + 1:
            selected = len(labels) if found.group(1) == "❯" else selected
            labels.append(found.group(3))
        elif row and labels:
            labels[-1] += f" {row.strip()}"
    return labels, selected


def _options(labels: Sequence[str]) -> tuple[tuple[DialogOption, ...] | None, str]:
    """The options of a permission, and the text that was typed into the last one."""
    end = next((end for end in (_WITH_TEXT, _WITHOUT_TEXT) if labels and labels[-1].endswith(end)), None)
    if end is None or labels[0] != "Yes":
        return None, ""
    label = labels[-1].removesuffix(end)
    deny = DialogOption(_REFUSAL, Role.DENY, takes_text=end == _WITH_TEXT)
    others = (DialogOption(each) for each in labels[1:-1])
    return (DialogOption("Yes", Role.ALLOW), *others, deny), "" if label in (_REFUSAL, _REFUSAL_WITH_TEXT) else label


# --- questions --------------------------------------------------------------------------------------------------------


def _read_question(lines: Sequence[str]) -> Dialog | None:
    top = next((at for at in range(len(lines) - 1, -1, -1) if lines[at].strip() == _QUESTION_TITLE), None)
    if top is None or top == 0 or not _is_line(lines[top - 1]):
        return None
    rows = lines[top + 1 :]
    keys = next((at for at, row in enumerate(rows) if row.strip() in _QUESTION_KEYS), None)
    if keys is None or keys + 1 >= len(rows) or not _is_line(rows[keys + 1]):
        return None
    body = [row for row in rows[:keys] if row]
    if body and _is_line(body[-1].strip()):
        return _read_text_question(body)
    title = next((at for at in range(len(body) - 1, -1, -1) if body[at].endswith(":")), None)
    typed = _typed(rows[keys + 2 :])
    return _choice_question(body[: title + 1], body[title + 1 :], typed) if title and typed is not None else None


def _choice_question(text: Sequence[str], rows: Sequence[str], typed: str) -> Dialog | None:
    labels = [row[3:].strip() for row in rows]
    marked = [at for at, row in enumerate(rows) if row.startswith(" ❯ ")]
    if len(marked) != 1 or any(not row.startswith((" ❯ ", "   ")) for row in rows):
        return None
    options = tuple(
        DialogOption("Other", Role.TEXT, takes_text=True)
        if label.startswith(_OTHER)
        else DialogOption(label, Role.ANSWER)
        for label in labels
    )
    return _question(text, options, marked[0], typed)


def _read_text_question(body: Sequence[str]) -> Dialog | None:
    """A question whose answer is typed between two lines."""
    edges = [at for at, row in enumerate(body) if _is_line(row.strip())]
    if len(edges) != 2 or edges[1] != len(body) - 1:
        return None
    typed = " ".join(row.strip() for row in body[edges[0] + 1 : edges[1]]).removeprefix("❯").strip()
    return _question(body[: edges[0]], (DialogOption("Text", Role.TEXT, takes_text=True),), 0, typed)


def _question(text: Sequence[str], options: tuple[DialogOption, ...], selected: int, typed: str) -> Dialog:
    return Dialog(
        kind="question",
        text="\n".join(row.strip() for row in text if row.strip()),
        options=options,
        selected=selected,
        typed=typed,
        decline_key=_DECLINE_KEY,
    )


def _typed(rows: Sequence[str]) -> str | None:
    """The text in the box below a question; empty if there is no box, None if there is something else."""
    if not rows:
        return ""
    if len(rows) < 3 or not _is_line(rows[0]) or not _is_line(rows[-1]) or not rows[1].startswith("❯"):
        return None
    text = " ".join(row.strip() for row in rows[1:-1]).removeprefix("❯").strip()
    return "" if text == _PLACEHOLDER else text


def _is_line(row: str) -> bool:
    return len(row) >= _MIN_LINE and not row.strip("─")
