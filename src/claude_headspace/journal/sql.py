"""The journal on SQL. SQLite today; everything but `_connect_sqlite` is plain SQLAlchemy Core.

One writer with one connection and one transaction per batch: look up, append, take the sequence numbers last from the
one counter row, commit. What the writer reads again and again it keeps in a cache that learns only from what was
committed. Readers have connections of their own and see committed batches only.
"""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Select, bindparam, create_engine, event, func, or_, select, update
from sqlalchemy.exc import SQLAlchemyError

from claude_headspace.errors import JournalUnavailable
from claude_headspace.journal import replay, rows, schema
from claude_headspace.journal.bulk import bulk
from claude_headspace.journal.cache import Cache
from claude_headspace.journal.efforts import EffortLookups, EffortReading
from claude_headspace.journal.migrate import upgrade
from claude_headspace.journal.rows import Projection, Row
from claude_headspace.kernel.agent import Agent, Command, Session, Turn, Wait
from claude_headspace.kernel.correlate import Found, Identity, Strategy
from claude_headspace.kernel.envelope import Micros
from claude_headspace.ports import (
    Counts,
    Delivered,
    Difference,
    Position,
    Record,
    Result,
    StateRow,
    StoredEvent,
    StreamMessage,
)

CHUNK = 400
"""How many values one `IN (…)` may have."""

PAGE = 2_000
"""How many events a replay reads at once."""

COUNTER = "journal"

LISTED = select(schema.agents.c.body).join(schema.roster, schema.roster.c.id == schema.agents.c.id)
"""Agents, to be chosen by what the roster knows of them."""

QUICK_SECONDS = 0.004
"""A commit that is quicker than this is not worth a change of threads, which costs as much under load."""

PATIENCE_SECONDS = 5.0
"""How long another program may keep the database from us."""

TAKE_NUMBERS = (
    update(schema.counters)
    .where(schema.counters.c.name == COUNTER)
    .values(value=schema.counters.c.value + bindparam("count"))
    .returning(schema.counters.c.value)
)
"""Built once: making it anew took longer than running it."""

SQLITE = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "busy_timeout=5000",
    "cache_size=-32768",
    # An agent's row is written again and again: the later the write-ahead log is folded in, the fewer times it is
    # copied.
    "wal_autocheckpoint=4000",
)
"""How we use SQLite: durable, and quick about it."""


class SqlJournal(EffortReading):
    """What is remembered, in a database."""

    def __init__(self, url: str) -> None:
        self._engine = _open(url)
        upgrade(self._engine)
        self._cache = Cache()
        self._writer: Connection | None = None
        self._lock = threading.Lock()
        self._commit_seconds = QUICK_SECONDS
        """How long a commit takes lately; at first it is not trusted to be quick."""
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")

    # --- writing ---

    @contextmanager
    def transaction(self) -> Iterator["SqlTransaction"]:
        """One batch: committed when the block ends, undone when it fails."""
        batch = self._begin()
        try:
            with _translated():
                yield batch
        except BaseException:
            self._undo()
            raise
        self._commit(batch)

    async def transact(self, work: Callable[["SqlTransaction"], Result]) -> Result:
        """One batch, of which only what may wait runs in another thread (`docs/decisions/0003-one-writer.md`)."""
        loop = asyncio.get_running_loop()
        batch = self._begin_at_once()
        if batch is None:
            batch = await loop.run_in_executor(self._thread, self._begin)
        try:
            with _translated():
                result = work(batch)
        except BaseException:
            await loop.run_in_executor(self._thread, self._undo)
            raise
        if self._commit_seconds < QUICK_SECONDS:
            self._commit(batch)
        else:
            await loop.run_in_executor(self._thread, self._commit, batch)
        return result

    def _begin(self) -> "SqlTransaction":
        """Wait for our turn, and for other programs that write."""
        self._lock.acquire()
        patience = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return self._start()
            except JournalUnavailable:
                if time.monotonic() > patience:
                    self._lock.release()
                    raise
                time.sleep(0.01)

    def _begin_at_once(self) -> "SqlTransaction | None":
        """Begin, if nobody is in the way."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            return self._start()
        except JournalUnavailable:
            self._lock.release()
            return None

    def _start(self) -> "SqlTransaction":
        try:
            with _translated():
                self._writer = self._writer or self._connect_writer()
                self._writer.begin()
                return SqlTransaction(self._writer, self._cache)
        except JournalUnavailable:
            self._let_go()
            raise

    def _connect_writer(self) -> Connection:
        writer = self._engine.connect().execution_options(writes=True)
        if writer.dialect.name == "sqlite":
            writer.connection.cursor().execute(
                "PRAGMA busy_timeout=0"
            )  # it waits in `_begin`, where nobody else has to
        return writer

    def _commit(self, batch: "SqlTransaction") -> None:
        """Bring it to the disk; only then it is known."""
        started = time.perf_counter()
        try:
            with _translated():
                batch.connection.commit()
            self._commit_seconds += (time.perf_counter() - started - self._commit_seconds) / 8
            self._cache.learn(batch.projection)
        except BaseException:
            self._let_go()
            raise
        finally:
            self._lock.release()

    def _undo(self) -> None:
        self._let_go()
        self._lock.release()

    def _let_go(self) -> None:
        """Drop the writer's connection with all that is not committed; the next batch takes a new one."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(SQLAlchemyError):
                writer.invalidate()
            writer.close()

    # --- reading ---

    def agents(self, *, ended_after: Micros | None = None) -> list[Agent]:
        """Living agents, and those that ended after a moment."""
        table = schema.roster.c
        living = table.ended_at.is_(None)
        return self._agents(LISTED.where(living if ended_after is None else or_(living, table.ended_at > ended_after)))

    def agent(self, agent_id: str) -> Agent | None:
        """One agent by its id."""
        found = self._agents(select(schema.agents.c.body).where(schema.agents.c.id == agent_id))
        return found[0] if found else None

    def agents_named(self, name: str) -> list[Agent]:
        """Agents of that name, the living first, then the most recently active."""
        table = schema.roster.c
        query = LISTED.where(table.name == name).order_by(table.ended_at.is_not(None), table.ended_at.desc()).limit(10)
        return sorted(self._agents(query), key=lambda agent: (agent.ended_at is not None, -agent.last_active_at))

    def agents_beginning(self, prefix: str) -> list[Agent]:
        """Agents whose id begins so."""
        table = schema.agents.c
        return self._agents(select(table.body).where(table.id.startswith(prefix, autoescape=True)).limit(10))

    def turns(self, *, agent_id: str | None = None, command_id: str | None = None, limit: int = 100) -> list[Turn]:
        """The newest turns of an agent or a command, oldest of them first."""
        table = schema.turns.c
        query = select(schema.turns).order_by(table.at.desc(), table.id.desc()).limit(limit)
        if agent_id is not None:
            query = query.where(table.agent_id == agent_id)
        if command_id is not None:
            query = query.where(table.command_id == command_id)
        return [rows.turn_of(row) for row in reversed(self._rows(query))]

    def commands(self, agent_id: str, limit: int = 100) -> list[Command]:
        """The newest commands of an agent, oldest of them first."""
        table = schema.commands.c
        query = select(table.body).where(table.agent_id == agent_id).order_by(table.started_at.desc()).limit(limit)
        return [rows.command_of(row["body"]) for row in reversed(self._rows(query))]

    def command(self, command_id: str) -> Command | None:
        """One command by its id."""
        found = self._rows(select(schema.commands.c.body).where(schema.commands.c.id == command_id))
        return rows.command_of(found[0]["body"]) if found else None

    def sessions(self, agent_id: str) -> list[Session]:
        """The context windows of an agent, in order."""
        table = schema.sessions.c
        query = select(table.body).where(table.agent_id == agent_id).order_by(table.ordinal)
        return [rows.session_of(row["body"]) for row in self._rows(query)]

    def waits(self, *, agent_id: str | None = None, only_open: bool = True) -> list[Wait]:
        """Needs for a human, oldest first."""
        table = schema.waits.c
        query = select(table.body).order_by(table.opened_at)
        if only_open:
            query = query.where(table.closed_at.is_(None))
        if agent_id is not None:
            query = query.where(table.agent_id == agent_id)
        return [rows.wait_of(row["body"]) for row in self._rows(query.limit(1_000))]

    def wait(self, wait_id: str) -> Wait | None:
        """One wait by its id, open or over."""
        found = self._rows(select(schema.waits.c.body).where(schema.waits.c.id == wait_id))
        return rows.wait_of(found[0]["body"]) if found else None

    def events(self, *, agent_id: str | None = None, after: int | None = None, limit: int = 100) -> list[StoredEvent]:
        """Events in sequence: those after a number, or else the newest."""
        query, newest_first = _event_query(agent_id, after, limit)
        found = self._rows(query)
        return [rows.stored_event(row) for row in (reversed(found) if newest_first else found)]

    def states(self, agent_id: str, limit: int = 50) -> list[StateRow]:
        """The newest states of an agent with their evidence, oldest of them first."""
        table = schema.states.c
        query = select(schema.states).where(table.agent_id == agent_id).order_by(table.seq.desc()).limit(limit)
        return [rows.state_of_row(row) for row in reversed(self._rows(query))]

    def stream(self, after: int, limit: int) -> list[StreamMessage]:
        """Announcements after a sequence number, in order."""
        table = schema.stream.c
        query = select(schema.stream).where(table.seq > after).order_by(table.seq).limit(limit)
        return [rows.stored_message(row) for row in self._rows(query)]

    def stream_bounds(self) -> tuple[int, int]:
        """The oldest and the newest sequence number that can be replayed."""
        oldest, newest = (self._scalar(select(edge(schema.stream.c.seq))) for edge in (func.min, func.max))
        return oldest or 0, newest or 0

    def counts(self) -> Counts:
        """What the journal holds."""
        by_state = select(schema.roster.c.state, func.count().label("agents")).group_by(schema.roster.c.state)
        return Counts(
            events=self._scalar(select(func.count()).select_from(schema.events)) or 0,
            agents=self._scalar(select(func.count()).select_from(schema.roster)) or 0,
            anomalies=self._scalar(select(func.count()).where(schema.events.c.anomaly.is_not(None))) or 0,
            last_seq=self._scalar(select(schema.counters.c.value).where(schema.counters.c.name == COUNTER)) or 0,
            by_state={row["state"]: row["agents"] for row in self._rows(by_state)},
        )

    def _agents(self, query: Select[Any]) -> list[Agent]:
        return [rows.agent_of(row["body"]) for row in self._rows(query)]

    def _rows(self, query: Select[Any]) -> list[Row]:
        with _translated(), self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def _scalar(self, query: Select[Any]) -> int | None:
        with _translated(), self._engine.connect() as connection:
            found: int | None = connection.execute(query).scalar()
            return found

    # --- bookmarks ---

    def positions(self, reader: str) -> dict[str, Position]:
        """How far a reader came in each file."""
        table = schema.positions.c
        found = self._rows(select(table.path, table.offset, table.at).where(table.reader == reader))
        return {row["path"]: Position(row["offset"], row["at"]) for row in found}

    def remember(self, reader: str, positions: Mapping[str, Position]) -> None:
        """Keep how far a reader came."""
        with self.transaction() as batch:
            kept = [
                {"reader": reader, "path": rows.storable(path), "offset": known.offset, "at": known.at}
                for path, known in positions.items()
            ]
            bulk(batch.connection, schema.positions, kept)

    # --- upkeep ---

    def verify(self) -> Iterator[Difference]:
        """Replay the log and compare it with the projections."""
        with _translated(), self._engine.connect() as connection, connection.begin():
            projection, _ = replay.project(_all_events(connection))
            for table, expected in projection.tables.items():
                yield from replay.compare(table, expected, connection.execute(select(table)).mappings().all())

    def rebuild(self) -> int:
        """Make the projections anew from the log."""
        with self.transaction() as batch:
            projection, count = replay.project(_all_events(batch.connection))
            for table in schema.PROJECTIONS:
                batch.connection.execute(table.delete())
            _write(batch.connection, projection, lambda _id: None)
        self._cache.forget()
        return count

    def close(self) -> None:
        """Let go of the database, cleanly: the write-ahead log is folded into the file."""
        with self._lock, _translated():
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            if self._engine.dialect.name == "sqlite":
                with self._engine.connect() as connection:
                    connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            self._engine.dispose()
        self._thread.shutdown()


class SqlTransaction(EffortLookups):
    """One batch of the writer."""

    def __init__(self, connection: Connection, cache: Cache) -> None:
        self.connection = connection
        self._cache = cache
        self.known_efforts = cache.efforts
        self.projection = Projection()

    def delivered(self, delivery_ids: Collection[str]) -> dict[str, Delivered]:
        """Which of these deliveries are here already."""
        table = schema.events.c
        query = select(table.delivery_id, table.agent_id, table.strategy)
        return {
            row.delivery_id: Delivered(row.agent_id, Strategy(row.strategy))
            for some in _chunks(delivery_ids)
            for row in self.connection.execute(query.where(table.delivery_id.in_(some)))
        }

    def find(self, identities: Collection[Identity]) -> dict[Identity, Found]:
        """The agents that answer to these identities: known ones from memory, others from the database."""
        found: dict[Identity, Found] = {}
        missing: list[Identity] = []
        for identity in identities:
            owner = self._cache.owner(identity)
            agent = self._cache.agent(owner) if owner is not None else None
            if agent is None:
                missing.append(identity)
            else:
                found[identity] = Found(agent, True)
        return found | self._look_up(missing) if missing else found

    def _look_up(self, missing: list[Identity]) -> dict[Identity, Found]:
        owners: dict[Identity, str] = {}
        table = schema.identities.c
        for kind in sorted({identity.kind for identity in missing}):
            for some in _chunks([identity.key for identity in missing if identity.kind == kind]):
                query = select(table.key, table.agent_id).where(table.kind == kind, table.key.in_(some))
                owners.update({Identity(kind, row.key): row.agent_id for row in self.connection.execute(query)})
        agents = self.agents(set(owners.values()))
        return {identity: Found(agents[owner], False) for identity, owner in owners.items() if owner in agents}

    def agents(self, ids: Collection[str]) -> dict[str, Agent]:
        """The agents with these ids."""
        found = {agent_id: agent for agent_id in ids if (agent := self._cache.agent(agent_id))}
        table = schema.agents.c
        for some in _chunks([agent_id for agent_id in ids if agent_id not in found]):
            for row in self.connection.execute(select(table.id, table.body).where(table.id.in_(some))):
                found[row.id] = rows.agent_of(row.body)
        return found

    def in_project(self, project_id: str, not_ended_before: Micros) -> list[Agent]:
        """The agents of a project that live, or ended after that moment; the most recently active first."""
        table = schema.roster.c
        recent = table.ended_at.is_(None) | (table.ended_at >= not_ended_before)
        query = LISTED.where(table.project_id == project_id, recent)
        found = [rows.agent_of(row.body) for row in self.connection.execute(query)]
        return sorted(found, key=lambda agent: agent.last_active_at, reverse=True)

    def taken(self, names: Collection[str]) -> set[str]:
        """Which of these names living agents have."""
        table = schema.roster.c
        query = select(table.name).where(table.name.in_(names), table.ended_at.is_(None))
        return {row.name for row in self.connection.execute(query)}

    def write(self, records: Sequence[Record]) -> list[StreamMessage]:
        """Append the events with all that came of them; the sequence numbers are taken last."""
        seq = self._take_numbers(sum(1 + len(record.publish) for record in records))
        events: list[Row] = []
        messages: list[StreamMessage] = []
        for record in records:
            events.append(rows.event_row(seq, record))
            if record.change is not None:
                self.projection.take(seq, record.change, record.claims)
            for change in record.efforts:
                self.projection.take_effort(change)
            for publish in record.publish:
                seq += 1
                messages.append(rows.stream_message(seq, publish))
            seq += 1
        bulk(self.connection, schema.events, events)
        bulk(self.connection, schema.stream, [rows.stream_row(message) for message in messages])
        _write(self.connection, self.projection, self._cache.agent)
        return messages

    def _take_numbers(self, count: int) -> int:
        """The first of `count` consecutive numbers. The row's lock is held until the commit: numbers are in commit
        order.
        """
        taken = self.connection.execute(TAKE_NUMBERS, {"count": count}).scalar_one()
        return int(taken) - count + 1


def _open(url: str) -> Engine:
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":
        _prepare_sqlite(engine)
    return engine


def _prepare_sqlite(engine: Engine) -> None:
    """Full durability: a batch is on the disk before anybody is answered. Group commit makes that cheap."""
    if engine.url.database:
        Path(engine.url.database).touch(mode=0o600)

    @event.listens_for(engine, "connect")
    def _connect_sqlite(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves, below
        for pragma in SQLITE:
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin_sqlite(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def _translated() -> Iterator[None]:
    """Name the database's troubles in our words."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        reason = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise JournalUnavailable(
            "journal_unavailable",
            f"The journal cannot be used: {reason}",
            "Look at `headspace logs`, and check that the disk has room and the database can be written.",
        ) from error


def _event_query(agent_id: str | None, after: int | None, limit: int) -> tuple[Select[Any], bool]:
    table = schema.events.c
    query = select(schema.events).limit(limit)
    if agent_id is not None:
        query = query.where(table.agent_id == agent_id)
    if after is None:
        return query.order_by(table.seq.desc()), True
    return query.where(table.seq > after).order_by(table.seq), False


def _all_events(connection: Connection) -> Iterator[StoredEvent]:
    after = 0
    while True:
        found = connection.execute(_event_query(None, after, PAGE)[0]).mappings().all()
        yield from (rows.stored_event(dict(row)) for row in found)
        if len(found) < PAGE:
            return
        after = found[-1]["seq"]


def _write(connection: Connection, projection: Projection, known: Callable[[str], Agent | None]) -> None:
    for table, values in projection.rows(known):
        bulk(connection, table, values)
    for patch in projection.patches:
        turns = schema.turns
        connection.execute(update(turns).where(turns.c.id == patch.id).values(rows.patch_values(patch)))


def _chunks(values: Collection[str]) -> Iterator[list[str]]:
    ordered = sorted(set(values))
    for start in range(0, len(ordered), CHUNK):
        yield ordered[start : start + CHUNK]
