"""The edits of files that a stored event reports, whichever client it is from. Pure."""

from collections.abc import Callable

from claude_headspace.clients import claude_code
from claude_headspace.clients.claude_code import changes as claude_code_changes
from claude_headspace.clients.codex import changes as codex
from claude_headspace.clients.copilot import changes as copilot
from claude_headspace.clients.gemini import changes as gemini
from claude_headspace.clients.opencode import changes as opencode
from claude_headspace.kernel.changes.model import FileEdit
from claude_headspace.kernel.envelope import Envelope, Origin

READERS: dict[str, tuple[frozenset[str], Callable[[bytes], tuple[FileEdit, ...]]]] = {
    claude_code.NAME: (claude_code_changes.EDIT_EVENTS, claude_code_changes.file_edits),
    "codex": (codex.EDIT_EVENTS, codex.file_edits),
    "copilot": (copilot.EDIT_EVENTS, copilot.file_edits),
    "gemini": (gemini.EDIT_EVENTS, gemini.file_edits),
    "opencode": (opencode.EDIT_EVENTS, opencode.file_edits),
}
"""By client: the names of the events that report edits, and how to read one."""

EDIT_EVENTS = frozenset[str]().union(*(names for names, _ in READERS.values()))
"""The names of the events that can report edits, of all clients."""


def file_edits(envelope: Envelope) -> tuple[FileEdit, ...]:
    """The edits that an event reports."""
    names, read = READERS.get(envelope.client, (frozenset(), None))
    if read is None or envelope.origin is not Origin.HOOK or envelope.name not in names:
        return ()
    return read(envelope.payload)
