"""Efforts of a pruned log: those finished before the cut are removed, all others are kept.

An effort follows from events of many agents, so it cannot be replayed up to a cut. Instead the snapshot holds the
current rows of all efforts and the newest sequence number; a replay applies only later events to efforts. Then any
older event can be removed.
"""

from typing import Any

import msgspec
from sqlalchemy import Connection, select

from claude_headspace.journal import efforts, schema
from claude_headspace.journal.bulk_insert import insert_rows
from claude_headspace.journal.reader import SEQUENCE_COUNTER
from claude_headspace.kernel.effort.model import Effort, Lifecycle, Message
from claude_headspace.kernel.effort.snapshot import (
    EFFORTS_SNAPSHOT_ID,
    NO_EFFORTS,
    EffortsSnapshot,
    EffortWithRows,
    is_finished_before,
)
from claude_headspace.kernel.envelope import Micros

_decode = msgspec.json.Decoder(EffortsSnapshot).decode


def load_efforts_snapshot(connection: Connection) -> EffortsSnapshot:
    """The snapshot at which the log of the efforts starts."""
    found = connection.execute(
        select(schema.snapshots.c.body).where(schema.snapshots.c.agent_id == EFFORTS_SNAPSHOT_ID)
    ).scalar()
    return _decode(found) if found else NO_EFFORTS


def finished_effort_ids(connection: Connection, before: Micros) -> list[str]:
    """The efforts that were finished before a time."""
    table = schema.efforts.c
    finished = connection.execute(select(table.body).where(table.lifecycle == Lifecycle.FINISHED.value)).scalars()
    return [effort.id for effort in map(efforts.decode_effort, finished) if is_finished_before(effort, before)]


def prune_efforts(connection: Connection, before: Micros) -> int:
    """Remove finished efforts and store a snapshot of the others; returns the number of removed efforts."""
    finished = finished_effort_ids(connection, before)
    for effort_id in finished:
        connection.execute(schema.efforts.delete().where(schema.efforts.c.id == effort_id))
        for table in (schema.windows, schema.messages):
            connection.execute(table.delete().where(table.c.effort_id == effort_id))
    snapshot = _take_snapshot(connection)
    if snapshot.tasks:
        body = msgspec.json.encode(snapshot).decode()
        insert_rows(
            connection,
            schema.snapshots,
            [{"agent_id": EFFORTS_SNAPSHOT_ID, "seq": snapshot.seq, "at": before, "body": body}],
        )
    return len(finished)


def _take_snapshot(connection: Connection) -> EffortsSnapshot:
    counter = schema.counters.c
    newest = connection.execute(select(counter.value).where(counter.name == SEQUENCE_COUNTER)).scalar()
    remaining = connection.execute(select(schema.efforts.c.body).order_by(schema.efforts.c.id)).scalars()
    tasks = connection.execute(select(schema.tasks.c.body).order_by(schema.tasks.c.id)).scalars()
    return EffortsSnapshot(
        seq=newest or 0,
        tasks=[efforts.decode_task(body) for body in tasks],
        efforts=[_kept(connection, efforts.decode_effort(body)) for body in remaining],
    )


def _kept(connection: Connection, effort: Effort) -> EffortWithRows:
    windows, messages = schema.windows.c, schema.messages.c
    window_query = select(windows.body).where(windows.effort_id == effort.id).order_by(windows.id)
    message_query: Any = select(schema.messages).where(messages.effort_id == effort.id).order_by(messages.id)
    return EffortWithRows(
        effort=effort,
        windows=[efforts.decode_window(body) for body in connection.execute(window_query).scalars()],
        messages=[Message(**row) for row in connection.execute(message_query).mappings()],
    )
