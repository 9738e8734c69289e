"""The edits of files that a stored event reports, whichever client it is from. Pure."""

from claude_headspace.clients import claude_code
from claude_headspace.clients.claude_code import changes as claude_code_changes
from claude_headspace.kernel.changes.model import FileEdit
from claude_headspace.kernel.envelope import Envelope, Origin

EDIT_EVENTS = claude_code_changes.EDIT_EVENTS
"""The names of the events that can report edits."""


def file_edits(envelope: Envelope) -> tuple[FileEdit, ...]:
    """The edits that an event reports."""
    if envelope.origin is not Origin.HOOK or envelope.client != claude_code.NAME or envelope.name not in EDIT_EVENTS:
        return ()
    return claude_code_changes.file_edits(envelope.payload)
