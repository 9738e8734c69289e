"""One batch on a PostgreSQL database that other daemons write to as well.

Rules
- Everything that a batch may change is locked before it is read, until the commit, in the lock order of `dialects`. So
  batches about the same agent run one after the other, and there are no deadlocks.
- A cached agent is used only if its row has not changed since: PostgreSQL stores with every row which transaction
  wrote it (`xmin`), which serves as the row's version.
- Sequence numbers are taken last. The batch that has them commits next, so numbers are in commit order, and a reader
  that is notified of a commit can read everything up to its number.
"""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, bindparam, or_, select, text

from claude_headspace.journal import dialects, rows, schema
from claude_headspace.journal.reader import IS_ACTIVE
from claude_headspace.journal.rows import Row
from claude_headspace.journal.transaction import SqlTransaction, WriterCache
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import CLAIMABLE_AFTER_END, Found, Identity
from claude_headspace.kernel.effort.model import Effort
from claude_headspace.ports import LockScope, Record, StreamMessage

LOCK_AGENTS = text("SELECT id FROM agents WHERE id = ANY(:ids) ORDER BY id FOR UPDATE")

READ_AGENTS = text(
    "SELECT agents.id, agents.xmin::text AS version, CASE WHEN agents.xmin::text <> known.version THEN body END AS body"
    " FROM agents JOIN unnest(:ids ::text[], :versions ::text[]) AS known (id, version) ON known.id = agents.id"
)
"""Returns the body only if the row differs from the cached version."""

NOTIFY = text("SELECT pg_current_xact_id()::xid::text, pg_notify(:channel, '')").bindparams(
    bindparam("channel", dialects.CHANNEL)
)


class SharedTransaction(SqlTransaction):
    """One batch of one of several writers."""

    is_shared = True

    def __init__(self, connection: Connection, cache: WriterCache) -> None:
        super().__init__(connection, cache)
        self._locked_identities: Collection[Identity] = ()
        self._owner_ids: dict[Identity, str] = {}
        self._stored_roster: dict[str, Row] = {}
        self._locked_agents: dict[str, Found] = {}
        self._locked_efforts: dict[str, list[Effort]] = {}
        self._has_locked_names = False

    def lock_exclusively(self) -> None:
        dialects.lock_journal(self.connection)

    def lock(self, scope: LockScope) -> None:
        identities = [f"{identity.kind}\0{identity.key}" for identity in scope.identities]
        dialects.lock_identities(self.connection, [*identities, *scope.delivery_ids])
        self._locked_identities = scope.identities
        self._owner_ids = self._query_owner_ids(scope.identities)
        candidates = self._lock_projects(scope)
        self._lock_agents({*self._owner_ids.values(), *scope.agent_ids, *candidates})

    def _lock_projects(self, scope: LockScope) -> list[str]:
        """Lock the projects of unknown sessions; returns the agents that these sessions may continue."""
        unknown = [(project, at) for session, project, at in scope.new_sessions if session not in self._owner_ids]
        if not unknown:
            return []
        projects, since = {project for project, _ in unknown}, min(at for _, at in unknown) - CLAIMABLE_AFTER_END
        dialects.lock_projects(self.connection, projects)
        table = schema.roster.c
        recent = or_(table.ended_at.is_(None), table.ended_at >= since)
        query = select(table.id).where(table.project_id.in_(projects), recent, table.free == 1)
        return [row.id for row in self.connection.execute(query)]

    def _lock_agents(self, ids: Collection[str]) -> None:
        if not ids:
            return
        ordered = sorted(ids)
        self.connection.execute(LOCK_AGENTS, {"ids": ordered})
        versions = [self._cache.versions.get(agent_id, "") for agent_id in ordered]
        for row in self.connection.execute(READ_AGENTS, {"ids": ordered, "versions": versions}):
            cached = self._cache.agents.get(row.id) if row.body is None else None
            agent = cached or rows.decode_agent(row.body)
            self._stored_roster[row.id] = rows.roster_row(agent)
            self._locked_agents[row.id] = Found(agent, cached is not None)

    def agents_by_identity(self, identities: Collection[Identity]) -> dict[Identity, Found]:
        """The agents that own these identities. Those outside the locked scope are read without a lock."""
        owned = {identity: self._owner_ids[identity] for identity in identities if identity in self._owner_ids}
        locked = {identity: self._locked_agents[id] for identity, id in owned.items() if id in self._locked_agents}
        others = [identity for identity in identities if identity not in self._locked_identities]
        return locked | self._read_agents(self._query_owner_ids(others))

    def agents_by_id(self, ids: Collection[str]) -> dict[str, Agent]:
        """The agents with these ids. Those outside the locked scope are read without a lock."""
        locked = {agent_id: self._locked_agents[agent_id].agent for agent_id in ids if agent_id in self._locked_agents}
        others = [agent_id for agent_id in ids if agent_id not in locked]
        if not others:
            return locked
        query = select(schema.agents.c.id, schema.agents.c.body).where(schema.agents.c.id.in_(others))
        return locked | {row.id: rows.decode_agent(row.body) for row in self.connection.execute(query)}

    def names_in_use(self, names: Collection[str]) -> set[str]:
        """Which of these names are in use; no other batch assigns names until the commit."""
        if not self._has_locked_names:
            dialects.lock_names(self.connection)
            self._has_locked_names = True
        return super().names_in_use(names)

    def active_efforts(self, host: str) -> list[Effort]:
        """The active efforts of a host, as they were at the first call in the batch; locked until it ends."""
        if host not in self._locked_efforts:
            query = select(schema.efforts.c.body).where(IS_ACTIVE, schema.efforts.c.host == host)
            bodies = self.connection.execute(query.order_by(schema.efforts.c.id).with_for_update()).scalars()
            self._locked_efforts[host] = list(map(rows.decode_effort, bodies))
        return self._locked_efforts[host]

    def write(self, records: Sequence[Record]) -> list[StreamMessage]:
        """Append, and notify all daemons of the commit."""
        messages = super().write(records)
        self.version = str(self.connection.execute(NOTIFY).scalar_one())
        return messages
