"""Efforts in the database: rows, the writer's look-ups, and what surfaces ask.

Active efforts are few, and every event may belong to one: on SQLite, where nobody else writes, the writer keeps them in
memory. Where others write too they are read anew in every batch, and held until it is over.
"""

from collections.abc import Iterable
from typing import Any, Protocol

import msgspec
from sqlalchemy import Connection, Select, select

from claude_headspace.journal import schema
from claude_headspace.kernel.effort.model import Effort, EffortChange, Lifecycle, Message, Task, Window

Row = dict[str, Any]

_encode = msgspec.json.Encoder().encode
decode_effort = msgspec.json.Decoder(Effort).decode
decode_task = msgspec.json.Decoder(Task).decode
decode_window = msgspec.json.Decoder(Window).decode
"""The nouns of rows' bodies."""

IS_ACTIVE = schema.efforts.c.lifecycle == Lifecycle.ACTIVE.value


# --- rows ---


def effort_row(effort: Effort) -> Row:
    """An effort, with what it is looked up by."""
    return {
        "id": effort.id,
        "task_id": effort.task_id,
        "host": _storable(effort.host),
        "lifecycle": effort.lifecycle.value,
        "started_at": effort.started_at,
        "body": _body(effort),
    }


def task_row(task: Task) -> Row:
    """A task."""
    return {"id": task.id, "host": _storable(task.host), "dir_path": _storable(task.dir_path), "body": _body(task)}


def window_row(window: Window) -> Row:
    """A context window's part in an effort."""
    return {
        "effort_id": window.effort_id,
        "id": window.id,
        "started_at": window.started_at,
        "ended_at": window.ended_at,
        "body": _body(window),
    }


def message_row(message: Message) -> Row:
    """A message."""
    return {**msgspec.structs.asdict(message), "text": _storable(message.text)}


def _body(noun: msgspec.Struct) -> str:
    return _storable(_encode(noun).decode())


def _storable(text: str) -> str:
    return text.replace("\0", "\ufffd")


def change_rows(change: EffortChange) -> Iterable[tuple[Any, Any, Row]]:
    """The rows that a change comes to: table, key, row."""
    yield schema.efforts, change.effort.id, effort_row(change.effort)
    if change.task is not None:
        yield schema.tasks, change.task.id, task_row(change.task)
    for window in change.windows:
        yield schema.windows, (window.effort_id, window.id), window_row(window)
    for message in change.messages:
        yield schema.messages, message.id, message_row(message)


# --- the writer ---


class ActiveEffortCache:
    """The active efforts, as the only writer of a database knows them."""

    def __init__(self) -> None:
        self._active: dict[str, Effort] | None = None

    def all(self, connection: Connection) -> list[Effort]:
        """Every active effort."""
        if self._active is None:
            rows = connection.execute(select(schema.efforts.c.body).where(IS_ACTIVE))
            self._active = {effort.id: effort for effort in (decode_effort(row.body) for row in rows)}
        return list(self._active.values())

    def update(self, efforts: Iterable[Effort]) -> None:
        """Take in what was committed."""
        known = self._active if self._active is not None else {}
        for effort in efforts:
            if effort.active:
                known[effort.id] = effort
            else:
                known.pop(effort.id, None)

    def clear(self) -> None:
        """Know nothing."""
        self._active = None


class EffortLookups:
    """What a batch of the writer asks of efforts."""

    connection: Connection
    effort_cache: ActiveEffortCache
    _held_efforts: dict[str, list[Effort]] | None = None

    def active_efforts(self, host: str) -> list[Effort]:
        """The active efforts of a machine, as they were when the batch first asked."""
        if self.connection.dialect.name == "sqlite":
            return [effort for effort in self.effort_cache.all(self.connection) if effort.host == host]
        held = self._held_efforts = self._held_efforts or {}
        if host not in held:
            query = select(schema.efforts.c.body).where(IS_ACTIVE, schema.efforts.c.host == host)
            ordered = query.order_by(schema.efforts.c.id).with_for_update()
            held[host] = [decode_effort(row.body) for row in self.connection.execute(ordered)]
        return held[host]

    def effort(self, effort_id: str) -> Effort | None:
        """One effort."""
        query = select(schema.efforts.c.body).where(schema.efforts.c.id == effort_id).with_for_update()
        found = self.connection.execute(query).scalar()
        return decode_effort(found) if found is not None else None

    def task(self, task_id: str) -> Task | None:
        """One task."""
        query = select(schema.tasks.c.body).where(schema.tasks.c.id == task_id).with_for_update()
        found = self.connection.execute(query).scalar()
        return decode_task(found) if found is not None else None


# --- surfaces ---


class _Rows(Protocol):
    def _rows(self, query: Select[Any]) -> list[Row]: ...


class EffortReader:
    """What surfaces ask of efforts."""

    def efforts(self: _Rows, *, only_active: bool = True, limit: int = 200) -> list[Effort]:
        """Efforts, the newest first."""
        query = select(schema.efforts.c.body).order_by(schema.efforts.c.started_at.desc()).limit(limit)
        return [decode_effort(row["body"]) for row in self._rows(query.where(IS_ACTIVE) if only_active else query)]

    def effort(self: _Rows, effort_id: str) -> Effort | None:
        """One effort."""
        found = self._rows(select(schema.efforts.c.body).where(schema.efforts.c.id == effort_id))
        return decode_effort(found[0]["body"]) if found else None

    def tasks(self: _Rows, limit: int = 200) -> list[Task]:
        """Tasks."""
        return [decode_task(row["body"]) for row in self._rows(select(schema.tasks.c.body).limit(limit))]

    def effort_windows(self: _Rows, effort_id: str) -> list[Window]:
        """The context windows that worked on an effort, in order."""
        table = schema.windows.c
        query = select(table.body).where(table.effort_id == effort_id).order_by(table.started_at, table.id)
        return [decode_window(row["body"]) for row in self._rows(query)]

    def effort_messages(self: _Rows, effort_id: str, limit: int = 100) -> list[Message]:
        """The newest messages of an effort, oldest of them first."""
        table = schema.messages.c
        query = select(schema.messages).where(table.effort_id == effort_id)
        found = self._rows(query.order_by(table.at.desc(), table.id.desc()).limit(limit))
        return [Message(**row) for row in reversed(found)]
