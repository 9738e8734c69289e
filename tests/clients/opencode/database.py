"""A database as opencode 1.18.33 writes it, with the rows of a recorded session."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

ROWS = Path(__file__).with_name("database_rows.jsonl")
COLUMNS = {
    "session": ("id", "parent_id", "directory", "title", "time_created", "time_updated"),
    "message": ("id", "session_id", "time_created", "time_updated", "data"),
    "part": ("id", "message_id", "session_id", "time_created", "time_updated", "data"),
}


def recorded_rows() -> list[dict[str, Any]]:
    """The rows of a session with two turns."""
    return [json.loads(line) for line in ROWS.read_text().splitlines()]


def write_database(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write a database with these rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        for table, columns in COLUMNS.items():
            connection.execute(f"CREATE TABLE IF NOT EXISTS {table} ({', '.join(columns)})")
        for row in rows:
            columns = COLUMNS[row["table"]]
            values = [json.dumps(row[name]) if name == "data" else row[name] for name in columns]
            marks = ", ".join("?" * len(columns))
            connection.execute(f"INSERT INTO {row['table']} VALUES ({marks})", values)  # noqa: S608  # fixed names
        connection.commit()
