"""The dialogs of all clients that are answered with keys: how to read and compare them. Pure."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from claude_headspace.clients.copilot import dialog as copilot
from claude_headspace.clients.dialog import Dialog
from claude_headspace.clients.gemini import dialog as gemini
from claude_headspace.clients.gemini import edit_dialog as gemini_edits
from claude_headspace.kernel.tools import ToolUse

ReadDialog = Callable[[Sequence[str], ToolUse | None], Dialog | None]
"""Reads the dialog from the lines of a screen, without their colours; None if it shows none.

The call that opened the dialog may be needed to read it.
"""

ShowsCall = Callable[[Dialog, ToolUse, str], bool]
"""Whether a dialog shows exactly this call, in the directory of the agent."""

ReviewRows = Callable[[int, Iterable[tuple[str, str]]], int]
"""How many rows the list of all answers needs at most in a screen of this width, by header and answer."""


class DialogReader(NamedTuple):
    """How to read the dialogs of a client."""

    read: ReadDialog
    shows_call: ShowsCall
    review_rows: ReviewRows | None = None
    """Of a client that asks several questions one after the other, and then lists the answers."""


DIALOG_READERS: dict[str, DialogReader] = {
    "copilot": DialogReader(copilot.read_dialog, copilot.shows_call),
    "gemini": DialogReader(gemini.read_dialog, gemini_edits.shows_call, gemini.review_rows),
}
"""The readers by client. Dialogs of other clients are not answered with keys."""
