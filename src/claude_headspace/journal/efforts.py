"""Efforts in the database: their rows, the writer's lookups, and the queries of surfaces.

Active efforts are few, and every event may belong to one. On SQLite, which has one writer, they are cached. On
PostgreSQL each batch reads them and locks them until it ends.
"""

from collections.abc import Iterable
from typing import Any, Protocol

import msgspec
from sqlalchemy import Connection, Select, select

from claude_headspace.journal import schema
from claude_headspace.journal.values import Row, body_row, replace_nul
from claude_headspace.kernel.effort.model import Effort, EffortChange, Lifecycle, Message, Task, Window

decode_effort = msgspec.json.Decoder(Effort).decode
decode_task = msgspec.json.Decoder(Task).decode
decode_window = msgspec.json.Decoder(Window).decode

IS_ACTIVE = schema.efforts.c.lifecycle == Lifecycle.ACTIVE.value


# --- rows ---


def effort_row(effort: Effort) -> Row:
    """The row of an effort."""
    return body_row(effort, "id", "task_id", "host", "started_at") | {"lifecycle": effort.lifecycle.value}


def task_row(task: Task) -> Row:
    """The row of a task."""
    return body_row(task, "id", "host", "dir_path")


def window_row(window: Window) -> Row:
    """The row of a context window of an effort."""
    return body_row(window, "effort_id", "id", "started_at", "ended_at")


def message_row(message: Message) -> Row:
    """The row of a message."""
    return {**msgspec.structs.asdict(message), "text": replace_nul(message.text)}


def change_rows(change: EffortChange) -> Iterable[tuple[Any, Any, Row]]:
    """The rows of a change, each with its table and key."""
    yield schema.efforts, change.effort.id, effort_row(change.effort)
    if change.task is not None:
        yield schema.tasks, change.task.id, task_row(change.task)
    for window in change.windows:
        yield schema.windows, (window.effort_id, window.id), window_row(window)
    for message in change.messages:
        yield schema.messages, message.id, message_row(message)


# --- the writer ---


class ActiveEffortCache:
    """The active efforts of a database that has one writer; loaded on first use."""

    def __init__(self) -> None:
        self._active: dict[str, Effort] | None = None

    def all(self, connection: Connection) -> list[Effort]:
        """Every active effort."""
        if self._active is None:
            rows = connection.execute(select(schema.efforts.c.body).where(IS_ACTIVE))
            self._active = {effort.id: effort for effort in (decode_effort(row.body) for row in rows)}
        return list(self._active.values())

    def update(self, efforts: Iterable[Effort]) -> None:
        """Apply what was committed. No-op until the efforts were loaded."""
        active = self._active if self._active is not None else {}
        for effort in efforts:
            if effort.is_active:
                active[effort.id] = effort
            else:
                active.pop(effort.id, None)

    def clear(self) -> None:
        """Load them again on next use."""
        self._active = None


class EffortLookups:
    """The effort lookups of a batch."""

    connection: Connection
    effort_cache: ActiveEffortCache
    _locked_efforts: dict[str, list[Effort]] | None = None

    def active_efforts(self, host: str) -> list[Effort]:
        """The active efforts of a host, as they were at the first call in the batch."""
        if self.connection.dialect.name == "sqlite":
            return [effort for effort in self.effort_cache.all(self.connection) if effort.host == host]
        locked = self._locked_efforts = self._locked_efforts or {}
        if host not in locked:
            query = select(schema.efforts.c.body).where(IS_ACTIVE, schema.efforts.c.host == host)
            ordered = query.order_by(schema.efforts.c.id).with_for_update()
            locked[host] = [decode_effort(row.body) for row in self.connection.execute(ordered)]
        return locked[host]

    def effort(self, effort_id: str) -> Effort | None:
        query = select(schema.efforts.c.body).where(schema.efforts.c.id == effort_id).with_for_update()
        found = self.connection.execute(query).scalar()
        return decode_effort(found) if found is not None else None

    def task(self, task_id: str) -> Task | None:
        query = select(schema.tasks.c.body).where(schema.tasks.c.id == task_id).with_for_update()
        found = self.connection.execute(query).scalar()
        return decode_task(found) if found is not None else None


# --- surfaces ---


class _Rows(Protocol):
    def _rows(self, query: Select[Any]) -> list[Row]: ...


class EffortReader:
    """The effort queries of surfaces."""

    def efforts(self: _Rows, *, only_active: bool = True, limit: int = 200) -> list[Effort]:
        query = select(schema.efforts.c.body).order_by(schema.efforts.c.started_at.desc()).limit(limit)
        return [decode_effort(row["body"]) for row in self._rows(query.where(IS_ACTIVE) if only_active else query)]

    def effort(self: _Rows, effort_id: str) -> Effort | None:
        found = self._rows(select(schema.efforts.c.body).where(schema.efforts.c.id == effort_id))
        return decode_effort(found[0]["body"]) if found else None

    def tasks(self: _Rows, limit: int = 200) -> list[Task]:
        return [decode_task(row["body"]) for row in self._rows(select(schema.tasks.c.body).limit(limit))]

    def effort_windows(self: _Rows, effort_id: str) -> list[Window]:
        table = schema.windows.c
        query = select(table.body).where(table.effort_id == effort_id).order_by(table.started_at, table.id)
        return [decode_window(row["body"]) for row in self._rows(query)]

    def effort_messages(self: _Rows, effort_id: str, limit: int = 100) -> list[Message]:
        table = schema.messages.c
        query = select(schema.messages).where(table.effort_id == effort_id)
        found = self._rows(query.order_by(table.at.desc(), table.id.desc()).limit(limit))
        return [Message(**row) for row in reversed(found)]
