"""The dialogs of all clients that are answered with keys: how to read them from the screen. Pure."""

from collections.abc import Callable, Sequence

from claude_headspace.clients.copilot.dialog import read_dialog as read_copilot_dialog
from claude_headspace.clients.dialog import Dialog
from claude_headspace.clients.gemini.dialog import read_dialog as read_gemini_dialog

ReadDialog = Callable[[Sequence[str]], Dialog | None]
"""Reads the dialog from the lines of a screen, without their colours; None if it shows none."""

DIALOG_READERS: dict[str, ReadDialog] = {
    "copilot": read_copilot_dialog,
    "gemini": read_gemini_dialog,
}
"""The readers by client. Dialogs of other clients are not answered with keys."""
