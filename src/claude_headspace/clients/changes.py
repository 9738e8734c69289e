"""The edits of files that a stored event reports, whichever client it is from. Pure."""

from collections.abc import Callable

from claude_headspace.clients import claude_code
from claude_headspace.clients.claude_code import changes as claude_code_changes
from claude_headspace.clients.gemini import changes as gemini
from claude_headspace.kernel.changes.model import FileEdit
from claude_headspace.kernel.envelope import Envelope, Origin

READERS: dict[str, tuple[frozenset[str], Callable[[bytes], tuple[FileEdit, ...]]]] = {
    claude_code.NAME: (claude_code_changes.EDIT_EVENTS, claude_code_changes.file_edits),
    "gemini": (gemini.EDIT_EVENTS, gemini.file_edits),
}
"""The events that can report edits, and how to read them, by client."""

EDIT_EVENTS = frozenset(name for names, _ in READERS.values() for name in names)
"""The names of the events that can report edits."""


def file_edits(envelope: Envelope) -> tuple[FileEdit, ...]:
    """The edits that an event reports."""
    names, read = READERS.get(envelope.client, (frozenset(), None))
    if envelope.origin is not Origin.HOOK or envelope.name not in names or read is None:
        return ()
    return read(envelope.payload)
