"""The dialogs of Gemini CLI, read from its screen: permissions and questions. Pure.

A dialog is a box at the bottom of the screen. A permission shows what it is about, in an inner box the command or the
change, and numbered options. A question has numbered options, the last of which takes a text, or only a line for a
text. If several options can be selected, they have check boxes, and "All of the above" and "Done" are added. A list of
more than three scrolls, between two arrows. Several questions are asked one after the other; a row above them shows
which ones have an answer, and at the end all answers are listed. Recorded with 0.61.0.

Rules
- The dialog is the last thing on the screen. Text above it may look like one.
- Options, titles and keys that are not known make no dialog.
- The last option of a list that scrolls may be any. It takes a text if it has the placeholder, or if it is selected and
  the keys are those of a text.
"""

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from claude_headspace.clients.dialog import Dialog, DialogOption, Role, squeeze
from claude_headspace.clients.gemini.wire import WireInput
from claude_headspace.kernel.tolerant_json import fit
from claude_headspace.kernel.tools import ToolUse

_ALLOW = "Allow once"
_DENY = "No, suggest changes (esc)"
_QUESTION_TITLE = "Answer Questions"
_CHOICE_KEYS = (
    "Enter to select · ↑/↓ to navigate · Esc to cancel",
    "Enter to select · ←/→ to switch questions · Esc to cancel",
)
_TEXT_KEYS = (
    "Enter to submit · Esc to cancel",
    "Enter to submit · Tab/Shift+Tab to switch questions · Esc to cancel",
)
_REVIEW_TITLE = "Review your answers:"
_REVIEW_KEYS = "Enter to submit · Tab/Shift+Tab to edit answers · Esc to cancel"
_TABS = re.compile(r"← (?:[□✓] .+? │ )+≡ Review →")
_MARK = re.compile(r"(?:← |│ )([□✓]) ")
_ARROW = " → "
_REVIEW_ROWS, _SIDES = 10, 4
"""The rows around the list of all answers, and the columns beside it."""
_SEVERAL = "(Select all that apply)"
_SCROLLS = ("▲", "▼")
_HIDDEN = re.compile(r"\.\.\. .*\bhidden\b.*")
_ALL, _DONE, _OTHER = "All of the above", "Done", "Enter a custom value"
_PLACEHOLDERS = (_OTHER, "Enter your response")
"""What an empty input field shows. A question may have another text for it."""
_TICK_KEY, _DECLINE_KEY = "Enter", "Escape"
_OPTION = re.compile(r"(●| ) (\d+)\. +(.*)")
_ITEM = re.compile(r"(●| ) (\d+)\. (.*)")
_TICKED = re.compile(r"\[([x ])\] (.*)")
_DONE_ROW = re.compile(rf"(●| )  {_DONE}")
_ANSWERED = " ✓"
_INPUT = "> "


def read_dialog(lines: Sequence[str], use: ToolUse | None = None) -> Dialog | None:
    """The dialog on a screen; None if it shows none. `use` is the call that asks, if it is known."""
    shown = [line.rstrip() for line in lines]
    while shown and not shown[-1]:
        shown.pop()
    if not shown or not shown[-1].startswith("╰") or not shown[-1].endswith("╯"):
        return None
    start = next((at for at in range(len(shown) - 2, -1, -1) if not _is_inside(shown[at])), -1)
    rows = [line[2:-1].rstrip() for line in shown[start + 1 : -1]]
    is_complete = start >= 0 and shown[start].startswith("╭") and shown[start].endswith("╮")
    is_complete = is_complete and not any(_HIDDEN.fullmatch(_unbox(row)) for row in rows)
    return _read_question(rows, is_complete, _placeholders(use)) or _read_permission(rows, is_complete)


def _placeholders(use: ToolUse | None) -> tuple[str, ...]:
    """What an empty input field may show, without white space."""
    given, misfit = fit(use.input if use is not None else {}, WireInput)
    own = (question.placeholder for question in given.questions if misfit is None)
    return tuple(squeeze(each) for each in (*_PLACEHOLDERS, *own) if each)


def _is_inside(line: str) -> bool:
    return line.startswith("│ ") and line.endswith("│")


# --- permissions ------------------------------------------------------------------------------------------------------


def _read_permission(rows: Sequence[str], is_complete: bool) -> Dialog | None:
    first = next((at for at, row in enumerate(rows) if _label_of(row) == _ALLOW), None)
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


def _label_of(row: str) -> str:
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


def _read_question(rows: Sequence[str], is_complete: bool, placeholders: Sequence[str]) -> Dialog | None:
    keys = rows[-1].strip() if rows else ""
    if keys not in (*_CHOICE_KEYS, *_TEXT_KEYS, _REVIEW_KEYS):
        return None
    blocks = _blocks(rows[:-1])
    if blocks and _joined(blocks[0]) == _QUESTION_TITLE:
        del blocks[0]
    elif is_complete:
        return None
    marks: tuple[bool, ...] = ()
    if blocks and _TABS.fullmatch(_joined(blocks[0])):
        marks = tuple(mark == "✓" for mark in _MARK.findall(_joined(blocks.pop(0))))
    text = [row for block in blocks[:-1] for row in block]
    found = _read_body(text, blocks[-1] if blocks else [], keys, placeholders)
    if found is None:
        return None if is_complete else _question([], (), is_complete=False)
    return msgspec.structs.replace(found, marks=marks, is_complete=is_complete)


def _read_body(text: Sequence[str], answers: Sequence[str], keys: str, placeholders: Sequence[str]) -> Dialog | None:
    """A question, or the list of all answers. The answers are below the last empty row."""
    if not answers:
        return None
    if keys == _REVIEW_KEYS:
        return _read_review(text, answers)
    if answers[0].startswith(_INPUT):
        return _read_text_question(text, answers, placeholders)
    return _read_choice(text, answers, placeholders, takes_text=keys in _TEXT_KEYS)


def _blocks(rows: Sequence[str]) -> list[list[str]]:
    """Rows in groups, between empty rows."""
    blocks: list[list[str]] = [[]]
    for row in rows:
        if row:
            blocks[-1].append(row)
        elif blocks[-1]:
            blocks.append([])
    return blocks if blocks[-1] else blocks[:-1]


def _joined(rows: Sequence[str]) -> str:
    return "\n".join(row.strip() for row in rows)


def _read_review(title: Sequence[str], rows: Sequence[str]) -> Dialog | None:
    """The list of all answers. The rows of a long answer are below its beginning, right of the arrow."""
    lines, start = list[str](), 0
    for row in rows:
        if _ARROW in row and (not lines or row[: start - len(_ARROW)].strip()):
            start = row.index(_ARROW) + len(_ARROW)
            lines.append(row)
        elif lines:
            lines[-1] += f" {row[start:]}"
    if _joined(title) != _REVIEW_TITLE or not lines:
        return None
    return _question(lines, (DialogOption("Submit", Role.SUBMIT),))


def _read_text_question(text: Sequence[str], rows: Sequence[str], placeholders: Sequence[str]) -> Dialog:
    typed = (rows[0].removeprefix(_INPUT), *rows[1:])
    option = DialogOption("Text", Role.TEXT, takes_text=True)
    return _question(text, (option,), typed_rows=() if squeeze(_joined(typed)) in placeholders else typed)


def review_rows(width: int, answers: Iterable[tuple[str, str]]) -> int:
    """How many rows the list of all answers needs at most in a screen of this width, by header and answer."""
    room = width - _SIDES - len(_ARROW)
    return _REVIEW_ROWS + sum(len(textwrap.wrap(answer, max(1, room - len(header)))) for header, answer in answers)


class _Item(msgspec.Struct):
    """One entry of a list of options."""

    number: int | None
    is_selected: bool
    rows: list[str]

    @property
    def tick(self) -> re.Match[str] | None:
        """Its check box, and the text behind it. A label without a box is indented."""
        return _TICKED.fullmatch(self.rows[0])


def _read_choice(
    text: Sequence[str], rows: Sequence[str], placeholders: Sequence[str], *, takes_text: bool
) -> Dialog | None:
    scrolls = rows[0].strip() == _SCROLLS[0] and rows[-1].strip() == _SCROLLS[1]
    items = _read_items(rows[1:-1] if scrolls else rows)
    selected = [at for at, item in enumerate(items) if item.is_selected]
    is_several = any(item.number is None or item.tick is not None for item in items)
    numbers = [item.number for item in items if item.number is not None]
    if len(selected) != 1 or not numbers or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    last = max(at for at, item in enumerate(items) if item.number is not None)
    is_typing = takes_text and selected[0] == last
    takes = [squeeze(_label(item)) in placeholders or (is_typing and at == last) for at, item in enumerate(items)]
    if not scrolls and not takes[last]:
        return None
    options = tuple(_option(item, takes_text=each) for item, each in zip(items, takes, strict=True))
    typed = tuple(_plain_rows(items[last])) if is_typing and squeeze(_label(items[last])) not in placeholders else ()
    if is_several and text and text[-1].strip() == _SEVERAL:
        text = text[:-1]
    return _question(
        text,
        options,
        first=numbers[0] - 1,
        below=_BELOW[is_several] if scrolls else (),
        selected=numbers[0] - 1 + selected[0],
        typed_rows=typed,
        tick_key=_TICK_KEY if is_several else "",
    )


_BELOW = {False: (Role.TEXT,), True: (Role.OTHER, Role.TEXT, Role.DONE)}
"""The options below those of the question, by whether several can be selected. With one option, no list scrolls."""


def _read_items(rows: Sequence[str]) -> list[_Item]:
    """The entries of a list. Rows without a number continue the entry above: its label, then its description."""
    items: list[_Item] = []
    for row in rows:
        if (found := _ITEM.fullmatch(row)) is not None:
            items.append(_Item(int(found.group(2)), found.group(1) == "●", [found.group(3)]))
        elif (done := _DONE_ROW.fullmatch(row)) is not None:
            items.append(_Item(None, done.group(1) == "●", [_DONE]))
        elif items:
            items[-1].rows.append(row.strip())
    return items


def _plain_rows(item: _Item) -> list[str]:
    """The rows of an entry without its check box, and without the mark of an earlier answer."""
    first = item.tick.group(2) if item.tick is not None else item.rows[0].removesuffix(_ANSWERED).strip()
    return [first, *item.rows[1:]]


def _label(item: _Item) -> str:
    return _joined(_plain_rows(item)).strip()


def _option(item: _Item, *, takes_text: bool) -> DialogOption:
    label, ticked = _label(item), item.tick is not None and item.tick.group(1) == "x"
    if item.number is None:
        return DialogOption(_DONE, Role.DONE)
    if takes_text:
        return DialogOption(_OTHER, Role.TEXT, takes_text=True)
    if item.tick is not None and label.startswith(f"{_ALL}\n"):
        return DialogOption(_ALL, Role.OTHER)
    return DialogOption(label, Role.ANSWER, is_ticked=ticked if item.tick is not None else None)


def _question(text: Sequence[str], options: tuple[DialogOption, ...], **more: Any) -> Dialog:
    return Dialog(
        kind="question", text=_joined(text), options=options, decline_key=_DECLINE_KEY, **{"selected": 0, **more}
    )
