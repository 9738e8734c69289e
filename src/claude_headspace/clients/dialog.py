"""A dialog of a client as its screen shows it. Pure.

Some clients can be answered only with keys in their terminal. The module `dialog` of such a client reads its screen.
`dialog_match.py` compares a dialog with a wait, `dialog_answer.py` says how to answer it.

Rules
- A list of options may scroll. Then a dialog has the visible options, and the index of the first of them.
- The screen wraps lines, so white space is not compared. Some clients do not draw the last characters of a row.
"""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

MAX_GAP = 2
"""How many characters a client may leave out at the end of each row, if a typed text has several. Measured with Copilot
CLI."""
MIN_SCROLLED_ROWS = 3
"""The height of an input field. Text of so many rows may go on above them."""


class Role(StrEnum):
    """What an option does."""

    ALLOW = "allow"
    """Allows this one request, and nothing else."""
    DENY = "deny"
    ANSWER = "answer"
    """Answers a question with its label."""
    TEXT = "text"
    """Answers a question with a typed text."""
    DONE = "done"
    """Gives the client all options that are ticked."""
    SUBMIT = "submit"
    """Gives the client the answers to several questions, which the dialog lists."""
    OTHER = "other"


class DialogOption(msgspec.Struct, frozen=True):
    """One line of a dialog that can be selected."""

    label: str
    """Its text. A description may follow."""
    role: Role = Role.OTHER
    takes_text: bool = False
    """Whether a text is typed while it is selected."""
    is_ticked: bool | None = None
    """Whether it is one of the answers; None if it cannot be ticked."""


class Dialog(msgspec.Struct, frozen=True, kw_only=True):
    """A dialog on a screen."""

    kind: str
    """The kind of wait that it belongs to: permission or question."""
    text: str
    """Everything that it shows about the request, as lines."""
    command: str = ""
    """The command that it asks about, if it shows one."""
    tool: str = ""
    """The tool that it asks about, if it shows its name."""
    arguments: str = ""
    """The arguments of the tool as JSON, if it shows them so."""
    options: tuple[DialogOption, ...]
    """The visible options."""
    first: int = 0
    """The index of the first visible option."""
    below: tuple[Role, ...] = ()
    """Of a list that scrolls: the roles of the options below those of the question, visible or not."""
    selected: int
    """The index of the selected option."""
    typed_rows: tuple[str, ...] = ()
    """The text that was typed into it."""
    tick_key: str = ""
    """The key, as tmux names it, that ticks an option; empty if there is one answer."""
    decline_key: str = ""
    """The key, as tmux names it, that declines to answer; empty if an option does."""
    marks: tuple[bool, ...] = ()
    """Of a dialog with several questions: which of them have an answer. It shows one of them, or all answers."""
    is_complete: bool = True
    """Whether all of it is visible, apart from options of a list that scrolls."""

    @property
    def typed(self) -> str:
        """The visible part of the typed text."""
        return " ".join(self.typed_rows).strip()

    def option(self, index: int) -> DialogOption | None:
        """An option by its index; None if it is not visible."""
        at = index - self.first
        return self.options[at] if 0 <= at < len(self.options) else None

    def index_of(self, role: Role, asked: int = 0) -> int | None:
        """The index of the only option with a role; None without one. The question itself has `asked` options."""
        found = [at for at, option in enumerate(self.options, self.first) if option.role is role]
        if not found and role in self.below:
            return asked + self.below.index(role)
        return found[0] if len(found) == 1 else None

    def is_same(self, other: "Dialog | None") -> bool:
        """Whether both are the same dialog. Selection, ticks, typed text and scrolling may differ."""
        if other is None or (self.kind, self.text, self.below) != (other.kind, other.text, other.below):
            return False
        if not self.below and len(self.options) != len(other.options):
            return False
        pairs = ((option, other.option(at)) for at, option in enumerate(self.options, self.first))
        return all(same is None or (same.label, same.role) == (mine.label, mine.role) for mine, same in pairs)

    def is_end_of(self, whole: "Dialog") -> bool:
        """Whether it is the lower part of a dialog whose upper part has left the screen."""
        if self.is_complete or self.kind != whole.kind or not squeeze(whole.text).endswith(squeeze(self.text)):
            return False
        own = [(option.label, option.role) for option in self.options]
        return bool(own) and own == [(option.label, option.role) for option in whole.options[-len(own) :]]

    def shows_typed(self, text: str) -> bool:
        """Whether it shows this text, or the end of a text that is longer than the field."""
        return shows_end(self.typed_rows, text)


def squeeze(text: str) -> str:
    """A text without white space."""
    return "".join(text.split())


def letters(text: str) -> str:
    """The letters and digits of a text. A client may show formatting marks in another way."""
    return "".join(each for each in text if each.isalnum())


def shows_end(rows: Sequence[str], text: str) -> bool:
    """Whether rows of an input field show a text up to its end."""
    shown, wanted = [squeezed for row in rows if (squeezed := squeeze(row))], squeeze(text)
    gaps = range(MAX_GAP + 1 if len(shown) > 1 else 1)
    ends = {len(wanted)}
    for row in reversed(shown):
        ends = {end - gap - len(row) for end in ends for gap in gaps if wanted.endswith(row, 0, max(0, end - gap))}
    return 0 in ends or (len(shown) >= MIN_SCROLLED_ROWS and bool(ends))
