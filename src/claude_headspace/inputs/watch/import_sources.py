"""What can be imported: files with the lines of a session, or the sessions in a database.

A session in a database is named as if it were a file below the database: `…/opencode.db/ses_1`. Its position and its
size count messages.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from claude_headspace.clients.session_databases import SESSION_DATABASES, SessionDatabase
from claude_headspace.clients.transcripts import TRANSCRIPT_FILES, TranscriptFiles
from claude_headspace.inputs.watch.files import resolve_below
from claude_headspace.inputs.watch.transcript_files import Chunk, ReadPosition, read_chunk
from claude_headspace.kernel.envelope import Micros

ConfigDirs = Callable[[], Sequence[Path]]
MESSAGES_AT_ONCE = 500


class ImportSource(Protocol):
    """The sessions of one client."""

    def list(self) -> Sequence[tuple[str, int]]:
        """The paths of the sessions, oldest first, and their sizes."""

    def find(self, path: str) -> str | None:
        """The path to read from; None if it is not one of these sessions."""

    def session_of(self, path: str) -> str:
        """The session, if only its hooks show that it was followed; otherwise empty."""

    def read(self, real: str, position: ReadPosition, now: Micros) -> Chunk:
        """The next lines of a session. Raises `OSError` if it cannot be read."""


def import_source(client: str, config_dirs: ConfigDirs) -> ImportSource:
    """The sessions of a client."""
    database = SESSION_DATABASES.get(client)
    if database is not None:
        return DatabaseSource(database, config_dirs)
    return FileSource(TRANSCRIPT_FILES[client], config_dirs)


class FileSource:
    """Transcripts."""

    def __init__(self, files: TranscriptFiles, config_dirs: ConfigDirs) -> None:
        self._files = files
        self._config_dirs = config_dirs

    def list(self) -> Sequence[tuple[str, int]]:
        """The transcripts of sessions."""
        found = self._files.find_transcripts(self._roots())
        return [(path, stat.st_size) for path, stat in found if not self._files.is_subagent(path)]

    def find(self, path: str) -> str | None:
        """The path with links resolved; None if it is not a transcript in a known config dir."""
        real = resolve_below(path, self._roots())
        is_transcript = any(self._files.is_transcript(path, root) for root in self._roots())
        return real if is_transcript else None

    def session_of(self, _path: str) -> str:
        """Empty: files are followed."""
        return ""

    def read(self, real: str, position: ReadPosition, now: Micros) -> Chunk:
        """The next complete lines."""
        return read_chunk(self._files, real, position, now)

    def _roots(self) -> Sequence[Path]:
        return [root for config_dir in self._config_dirs() for root in self._files.roots(config_dir)]


class DatabaseSource:
    """The sessions in databases."""

    def __init__(self, database: SessionDatabase, config_dirs: ConfigDirs) -> None:
        self._database = database
        self._config_dirs = config_dirs

    def list(self) -> Sequence[tuple[str, int]]:
        """The sessions of all databases."""
        return [
            (str(path / session_id), size)
            for path in self._databases()
            for session_id, size in self._database.list_sessions(path)
        ]

    def find(self, path: str) -> str | None:
        """The path itself, if it is below a known database."""
        return path if Path(path).parent in self._databases() else None

    def session_of(self, path: str) -> str:
        """The session. Databases are not followed."""
        return Path(path).name

    def read(self, real: str, position: ReadPosition, now: Micros) -> Chunk:
        """The next messages."""
        path, start = Path(real), position.offset
        rows = self._database.read_messages(path.parent, path.name, start, MESSAGES_AT_ONCE)
        lines = [(min(line.at or position.at or now, now), raw, line) for raw, line in rows if line is not None]
        end = start + len(rows)
        newest = max([position.at, *(at for at, _, _ in lines)])
        has_more = len(rows) == MESSAGES_AT_ONCE
        return Chunk(sorted(lines, key=lambda each: each[0]), end, newest, 0, end + has_more)

    def _databases(self) -> Sequence[Path]:
        found = (path for config_dir in self._config_dirs() for path in self._database.databases(config_dir))
        return list(dict.fromkeys(found))
