"""The dialogs of Copilot CLI, read from its screen: permissions, and questions with one field. Pure.

A permission is a box at the bottom of the screen with numbered options. In an inner box it shows the command; if a hook
asks, the tool and its arguments as JSON. A refusal is typed into the last option, whose label the text replaces. If it
takes several rows, the end of the label stands in a column of its own, right of the text, and the right side of the box
may be missing. A question stands between two lines. If several options can be selected, each has a dot or a tick. If
the option "Other" is selected, its text is typed into a box below. Recorded with 1.0.102.

Rules
- The dialog is the last thing on the screen. Text above it may look like one. Its upper part may have left the screen,
  below the first row, which is always there.
- Keys and titles that are not known make no dialog.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from claude_headspace.clients.dialog import Dialog, DialogOption, Role
from claude_headspace.clients.dialog_match import shows_call as dialog_shows_call
from claude_headspace.kernel.tools import ToolUse

_PERMISSION_KEYS = "↑/↓ to navigate · enter to select · esc to cancel"
_SEVERAL_KEYS = "↑/↓ select · space toggle · enter accept · ctrl+d decline · esc cancel"
_QUESTION_KEYS = (
    "↑/↓ select · enter accept · ctrl+d decline · esc cancel",
    _SEVERAL_KEYS,
    "enter accept · ctrl+d decline · esc cancel",
)
_TICKS = {"• ": False, "✓ ": True}
_TICK_KEY = "Space"
_QUESTION_TITLE = "Copilot needs information."
_DECLINE_KEY = "C-d"
_OPTION = re.compile(r"(❯| ) ?(\d+)\. +(.*)")
_REFUSAL, _REFUSAL_WITH_TEXT = "No", "No, and tell Copilot what to do differently"
_WITH_TEXT, _WITHOUT_TEXT = "(Esc to stop)", "(Esc)"
"""The ends of a refusal's label. The first takes a text and nothing happens without one, even if the label does not ask
for it."""
_ENDS = {
    (_WITH_TEXT,): _WITH_TEXT,
    ("(Esc to", "stop)"): _WITH_TEXT,
    ("(Esc", "to stop)"): _WITH_TEXT,
    ("(Esc", "to", "stop)"): _WITH_TEXT,
    (_WITHOUT_TEXT,): _WITHOUT_TEXT,
}
"""How the end stands in the first rows of its label."""
_TOOL, _ARGUMENTS = "Tool: ", "Args: "
_OTHER = "Other (type your answer"
_PLACEHOLDER = "Type your answer..."
_MIN_LINE = 20
_CHANGE = re.compile(r"\s*cd\s+([^\s'\"\\$`~*?;&|()<>]+)\s*&&\s*(\S.*)", re.DOTALL)
"""A command that first changes the directory, which is written out."""


def read_dialog(lines: Sequence[str], _use: ToolUse | None = None) -> Dialog | None:
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
    start = next((at for at in range(len(lines) - 2, -1, -1) if not lines[at].startswith("│ ")), -1)
    rows = [line[2:].removesuffix("│").rstrip() for line in lines[start + 1 : -1]]
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
        typed_rows=typed,
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


def _labels(rows: Sequence[str]) -> tuple[list[list[str]], int | None]:
    """The rows of each numbered option, and which one is selected. Further rows of a label have no number."""
    labels: list[list[str]] = []
    selected = None
    for row in rows:
        if (found := _OPTION.fullmatch(row)) is not None and int(found.group(2)) == len(labels) + 1:
            selected = len(labels) if found.group(1) == "❯" else selected
            labels.append([found.group(3)])
        elif row and labels:
            labels[-1].append(row.strip())
    return labels, selected


def _options(labels: Sequence[list[str]]) -> tuple[tuple[DialogOption, ...] | None, tuple[str, ...]]:
    """The options of a permission, and the text that was typed into the last one."""
    last, end = _without_end(labels[-1]) if labels else ((), "")
    if not end or labels[0] != ["Yes"]:
        return None, ()
    deny = DialogOption(_REFUSAL, Role.DENY, takes_text=end == _WITH_TEXT)
    others = (DialogOption(" ".join(each)) for each in labels[1:-1])
    is_empty = " ".join(last).strip() in (_REFUSAL, _REFUSAL_WITH_TEXT)
    return (DialogOption("Yes", Role.ALLOW), *others, deny), () if is_empty else last


def _without_end(rows: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The rows of a refusal without the end of its label, and that end; empty if there is none."""
    for parts, end in _ENDS.items():
        if len(rows) >= len(parts) and all(row.endswith(part) for row, part in zip(rows, parts, strict=False)):
            cut = (row.removesuffix(part).rstrip() for row, part in zip(rows, parts, strict=False))
            return (*cut, *rows[len(parts) :]), end
    return (), ""


# --- questions --------------------------------------------------------------------------------------------------------


def _read_question(lines: Sequence[str]) -> Dialog | None:
    keys = next((at for at in range(len(lines) - 2, -1, -1) if lines[at].strip() in _QUESTION_KEYS), None)
    typed = _typed(lines[keys + 2 :]) if keys is not None and _is_line(lines[keys + 1]) else None
    if keys is None or typed is None:
        return None
    top = next((at for at in range(keys - 1, 0, -1) if lines[at].strip() == _QUESTION_TITLE), None)
    is_complete = top is not None and _is_line(lines[top - 1])
    body = [row for row in lines[top + 1 if top is not None else 1 : keys] if row]
    if body and _is_line(body[-1].strip()):
        found = _read_text_question(body)
    else:
        found = _read_choice(body, typed, is_several=lines[keys].strip() == _SEVERAL_KEYS)
    return msgspec.structs.replace(found, is_complete=is_complete) if found is not None else None


def _read_choice(body: Sequence[str], typed: tuple[str, ...], *, is_several: bool) -> Dialog | None:
    """A question with options, below the title of its field."""
    title = next((at for at in range(len(body) - 1, -1, -1) if body[at].endswith(":") and _is_title(body[at])), None)
    items = _read_items(body[title + 1 :]) if title else None
    if title is None or not items:
        return None
    marked = [at for at, (is_selected, _) in enumerate(items) if is_selected]
    options = tuple(_choice_option(label, is_several=is_several) for _, label in items)
    if len(marked) != 1:
        return None
    return _question(body[: title + 1], options, marked[0], typed, tick_key=_TICK_KEY if is_several else "")


def _is_title(row: str) -> bool:
    """Whether a row is indented as the title of a field is. Options are indented more."""
    return row.startswith(" ") and not row.startswith(("  ", " ❯"))


def _read_items(rows: Sequence[str]) -> list[tuple[bool, str]] | None:
    """The options, and whether each is selected; None if a row is none. Further rows of a label are indented less."""
    items: list[tuple[bool, str]] = []
    for row in rows:
        if row.startswith((" ❯ ", "   ")):
            items.append((row.startswith(" ❯ "), row[3:].strip()))
        elif row.startswith(" ") and items:
            items[-1] = (items[-1][0], f"{items[-1][1]} {row.strip()}")
        else:
            return None
    return items


def _choice_option(label: str, *, is_several: bool) -> DialogOption:
    tick = _TICKS.get(label[:2]) if is_several else None
    label = label[2:] if tick is not None else label
    if label.startswith(_OTHER):
        return DialogOption("Other", Role.TEXT, takes_text=True)
    return DialogOption(label, Role.ANSWER, is_ticked=tick)


def _read_text_question(body: Sequence[str]) -> Dialog | None:
    """A question whose answer is typed between two lines."""
    edges = [at for at, row in enumerate(body) if _is_line(row.strip())]
    if len(edges) < 2 or edges[-1] != len(body) - 1:
        return None
    first, *more = (row.strip() for row in body[edges[-2] + 1 : edges[-1]])
    typed = (first.removeprefix("❯").strip(), *more)
    return _question(body[: edges[-2]], (DialogOption("Text", Role.TEXT, takes_text=True),), 0, typed)


def _question(
    text: Sequence[str], options: tuple[DialogOption, ...], selected: int, typed: Sequence[str], tick_key: str = ""
) -> Dialog:
    return Dialog(
        kind="question",
        text="\n".join(row.strip() for row in text if row.strip()),
        options=options,
        selected=selected,
        typed_rows=tuple(row for row in typed if row),
        tick_key=tick_key,
        decline_key=_DECLINE_KEY,
    )


def _typed(rows: Sequence[str]) -> tuple[str, ...] | None:
    """The text in the box below a question; empty if there is no box, None if there is something else."""
    if not rows:
        return ()
    if len(rows) < 3 or not _is_line(rows[0]) or not _is_line(rows[-1]) or not rows[1].startswith("❯"):
        return None
    text = (rows[1].removeprefix("❯").strip(), *(row.strip() for row in rows[2:-1]))
    return () if text == (_PLACEHOLDER,) else text


def _is_line(row: str) -> bool:
    return len(row) >= _MIN_LINE and not row.strip("─")
