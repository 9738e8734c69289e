"""The edits of files that a stored event reports, whichever client it is from. Pure."""

from collections.abc import Callable

from claude_headspace.clients import claude_code
from claude_headspace.clients.claude_code import changes as claude_code_changes
from claude_headspace.clients.opencode import changes as opencode_changes
from claude_headspace.kernel.changes.model import FileEdit
from claude_headspace.kernel.envelope import Envelope, Origin

FILE_EDITS: dict[str, tuple[frozenset[str], Callable[[bytes], tuple[FileEdit, ...]]]] = {
    claude_code.NAME: (claude_code_changes.EDIT_EVENTS, claude_code_changes.file_edits),
    "opencode": (opencode_changes.EDIT_EVENTS, opencode_changes.file_edits),
}
"""By client: the names of the events that can report edits, and how their payloads are read."""

EDIT_EVENTS = frozenset[str]().union(*(names for names, _ in FILE_EDITS.values()))
"""The names of the events that can report edits, of all clients."""


def file_edits(envelope: Envelope) -> tuple[FileEdit, ...]:
    """The edits that an event reports."""
    names, read = FILE_EDITS.get(envelope.client, (frozenset(), lambda _payload: ()))
    return read(envelope.payload) if envelope.origin is Origin.HOOK and envelope.name in names else ()
