"""The clients that keep their sessions in a database instead of transcripts."""

from pathlib import Path
from typing import Protocol

from claude_headspace.clients.opencode import session_database as opencode
from claude_headspace.clients.transcript_line import Line


class SessionDatabase(Protocol):
    """The module `session_database` of a client's package."""

    def databases(self, config_dir: Path) -> list[Path]:
        """The databases of the clients with this config dir."""

    def list_sessions(self, database: Path) -> list[tuple[str, int]]:
        """The sessions that people started, the oldest first, and how many messages each has."""

    def read_messages(self, database: Path, session_id: str, start: int, most: int) -> list[tuple[bytes, Line | None]]:
        """The messages of a session from a position on. Raises `OSError` if the database cannot be read."""


SESSION_DATABASES: dict[str, SessionDatabase] = {"opencode": opencode}
"""By client."""
