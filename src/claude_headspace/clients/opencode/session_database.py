"""The sessions in opencode's database, for the import of old ones. Read-only.

`opencode.db` is in the data directory of the user, whatever the config dir is. The rows of a message and of its parts
become one line of a transcript (`transcript.py`). Sub-agents are left out, except their cost, and so are tool calls,
except questions and those that the user rejected.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from claude_headspace.clients.opencode.messages import REJECTED
from claude_headspace.clients.opencode.tools import QUESTION
from claude_headspace.clients.opencode.transcript import read_line
from claude_headspace.clients.transcript_line import Line

NAME = "opencode.db"
BUSY_SECONDS = 2.0
ENDED = ("completed", "error")
"""The status of a call that has ended."""

_SESSIONS = """
    SELECT session.id, count(message.id) FROM session JOIN message ON message.session_id = session.id
    WHERE session.parent_id IS NULL GROUP BY session.id ORDER BY session.time_updated
"""
_MESSAGES = """
    SELECT message.id, message.data, session.directory FROM message JOIN session ON session.id = message.session_id
    WHERE session.id = ? AND session.parent_id IS NULL ORDER BY message.time_created, message.id LIMIT ? OFFSET ?
"""
_COSTS = """
    WITH RECURSIVE family(id) AS (
        SELECT ? UNION SELECT session.id FROM session JOIN family ON session.parent_id = family.id
    )
    SELECT message.id, sum(json_extract(message.data, '$.cost')) OVER (ORDER BY message.time_created, message.id)
    FROM message JOIN family ON message.session_id = family.id WHERE json_valid(message.data)
"""
"""What a session and its sub-agents had cost with each message."""
_PARTS = "SELECT data FROM part WHERE message_id = ? ORDER BY id"


def databases(config_dir: Path, env: Mapping[str, str] = os.environ) -> list[Path]:
    """The databases of the clients with this config dir."""
    del config_dir
    data = env.get("XDG_DATA_HOME") or "~/.local/share"
    return [Path(data).expanduser() / "opencode" / NAME]


def list_sessions(database: Path) -> list[tuple[str, int]]:
    """The sessions that people started, the oldest first, and how many messages each has."""
    try:
        with _opened(database) as connection:
            return [(str(name), int(count)) for name, count in connection.execute(_SESSIONS)]
    except OSError:
        return []


def read_messages(database: Path, session_id: str, start: int, most: int) -> list[tuple[bytes, Line | None]]:
    """The messages of a session from a position on, each as it is stored; None for those without facts.

    Raises `OSError` if the database cannot be read.
    """
    with _opened(database) as connection:
        rows = connection.execute(_MESSAGES, (session_id, most, start)).fetchall()
        costs = dict(connection.execute(_COSTS, (session_id,)).fetchall()) if rows else {}
        lines = [_line(session_id, row, connection.execute(_PARTS, (row[0],)), costs.get(row[0])) for row in rows]
    return [(line, read_line(line)) for line in lines]


@contextmanager
def _opened(database: Path) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write. All errors are `OSError`."""
    try:
        address = f"file:{quote(str(database))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise OSError(str(error)) from error


def _line(session_id: str, row: tuple[str, str, str], parts: Iterator[tuple[str]], cost: float | None) -> bytes:
    objects = [_object(data) for (data,) in parts]
    texts = [{"text": part["text"]} for part in objects if _is_text(part)]
    line: dict[str, Any] = {
        "session_id": session_id,
        "cwd": row[2],
        "id": row[0],
        "message": _object(row[1]),
        "texts": texts,
    }
    if cost:
        line["session_cost"] = cost
    if rejected := [call for part in objects if (call := _rejected_call(part)) is not None]:
        line["rejected"] = rejected
    if asked := [call for part in objects if (call := _asked_call(part)) is not None]:
        line["asked"] = asked
    return json.dumps(line, ensure_ascii=False).encode("utf-8", "replace")


def _is_text(part: dict[str, Any]) -> bool:
    """Whether a part is a text of a person or of the agent. Synthetic ones are the client's."""
    return part.get("type") == "text" and isinstance(part.get("text"), str) and not part.get("synthetic")


def _rejected_call(part: dict[str, Any]) -> dict[str, Any] | None:
    """The call of a part that the user rejected: its id and what the model was told."""
    state = part.get("state") if part.get("type") == "tool" else None
    error = state.get("error") if isinstance(state, dict) else None
    is_rejected = isinstance(error, str) and error.startswith(REJECTED)
    return {"id": part.get("callID"), "error": error} if is_rejected else None


def _asked_call(part: dict[str, Any]) -> dict[str, Any] | None:
    """The call of a part that asked the user: its id, the questions and the answers. None while it is open."""
    state = part.get("state") if part.get("type") == "tool" and part.get("tool") == QUESTION else None
    if not isinstance(state, dict) or state.get("status") not in ENDED:
        return None
    given, result = _as_object(state.get("input")), _as_object(state.get("metadata"))
    return {"id": part.get("callID"), "questions": given.get("questions") or [], "answers": result.get("answers") or []}


def _as_object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _object(data: object) -> dict[str, Any]:
    try:
        value = json.loads(data) if isinstance(data, str | bytes) else None
    except ValueError:
        value = None
    return _as_object(value)
