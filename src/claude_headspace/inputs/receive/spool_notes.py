"""The first line of a spool file: notes of the hook script about its event. Commands read it, too."""

from pathlib import Path

import msgspec

from claude_headspace.clients import catalog
from claude_headspace.kernel.tolerant_json import UNREADABLE

MAX_NOTES_BYTES = 64 * 1024

notes_decoder = msgspec.json.Decoder(dict[str, str])


def client_of_file(path: Path) -> str:
    """The client that a spool file names, also if nothing else in it can be read; otherwise Claude Code."""
    try:
        with path.open("rb") as file:
            notes = notes_decoder.decode(file.readline(MAX_NOTES_BYTES))
    except (OSError, *UNREADABLE):
        return catalog.DEFAULT
    return notes.get("client") or catalog.DEFAULT
