"""One batch on a database that other daemons write to as well.

Rules
- What a batch is about is locked before it is read, in the one order that `dialects` tells, until the commit. So two
  batches about one agent follow each other, and none waits for the other's end while it holds what the other needs.
- What is remembered of an agent counts only if its row is still the one that we wrote: PostgreSQL keeps with every row
  which transaction wrote it (`xmin`).
- The numbers are taken last. Whoever has them commits next, so they are in commit order, and a reader who is told of a
  commit can read everything up to its number.
"""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, bindparam, or_, select, text

from claude_headspace.journal import dialects, rows, schema
from claude_headspace.journal.transaction import SqlTransaction
from claude_headspace.journal.writer_cache import WriterCache
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import CLAIMABLE_AFTER_END, Found, Identity
from claude_headspace.ports import LockScope, Record, StreamMessage

LOCK_AGENTS = text("SELECT id FROM agents WHERE id = ANY(:ids) ORDER BY id FOR UPDATE")

READ_AGENTS = text(
    "SELECT agents.id, agents.xmin::text AS version, CASE WHEN agents.xmin::text <> known.version THEN body END AS body"
    " FROM agents JOIN unnest(:ids ::text[], :versions ::text[]) AS known (id, version) ON known.id = agents.id"
)
"""The body only where it is not the one that is remembered."""

ANNOUNCE = text("SELECT pg_current_xact_id()::xid::text, pg_notify(:channel, '')").bindparams(
    bindparam("channel", dialects.CHANNEL)
)


class SharedTransaction(SqlTransaction):
    """One batch of one of many writers."""

    def __init__(self, connection: Connection, cache: WriterCache) -> None:
        super().__init__(connection, cache)
        self._asked: Collection[Identity] = ()
        self._owners: dict[Identity, str] = {}
        self._held: dict[str, Found] = {}
        self._names_are_ours = False

    def lock_exclusively(self) -> None:
        """Wait until no batch runs, and let none begin."""
        dialects.lock_journal(self.connection)

    def lock(self, scope: LockScope) -> None:
        """Lock, then read."""
        identities = [f"{identity.kind}\0{identity.key}" for identity in scope.identities]
        dialects.lock_identities(self.connection, [*identities, *scope.delivery_ids])
        self._asked = scope.identities
        self._owners = self._look_up_owners(scope.identities)
        neighbours = self._hold_projects(scope)
        self._hold_agents({*self._owners.values(), *scope.agent_ids, *neighbours})

    def _hold_projects(self, touched: LockScope) -> list[str]:
        """The agents that a session which nobody knows may turn out to be."""
        unknown = [(project, at) for session, project, at in touched.new_sessions if session not in self._owners]
        if not unknown:
            return []
        projects, since = {project for project, _ in unknown}, min(at for _, at in unknown) - CLAIMABLE_AFTER_END
        dialects.lock_projects(self.connection, projects)
        table = schema.roster.c
        recent = or_(table.ended_at.is_(None), table.ended_at >= since)
        query = select(table.id).where(table.project_id.in_(projects), recent, table.free == 1)
        return [row.id for row in self.connection.execute(query)]

    def _hold_agents(self, ids: Collection[str]) -> None:
        if not ids:
            return
        ordered = sorted(ids)
        self.connection.execute(LOCK_AGENTS, {"ids": ordered})
        versions = [self._cache.version(agent_id) for agent_id in ordered]
        for row in self.connection.execute(READ_AGENTS, {"ids": ordered, "versions": versions}):
            remembered = self._cache.agent(row.id) if row.body is None else None
            self._held[row.id] = Found(remembered or rows.decode_agent(row.body), remembered is not None)

    def agents_by_identity(self, identities: Collection[Identity]) -> dict[Identity, Found]:
        """The agents that answer to these identities; what is not held is only looked at."""
        owned = {identity: self._owners[identity] for identity in identities if identity in self._owners}
        held = {identity: self._held[owner] for identity, owner in owned.items() if owner in self._held}
        return held | self._look_up([identity for identity in identities if identity not in self._asked])

    def agents_by_id(self, ids: Collection[str]) -> dict[str, Agent]:
        """The agents with these ids; what is not held is only looked at."""
        held = {agent_id: self._held[agent_id].agent for agent_id in ids if agent_id in self._held}
        others = [agent_id for agent_id in ids if agent_id not in held]
        if not others:
            return held
        query = select(schema.agents.c.id, schema.agents.c.body).where(schema.agents.c.id.in_(others))
        return held | {row.id: rows.decode_agent(row.body) for row in self.connection.execute(query)}

    def names_in_use(self, names: Collection[str]) -> set[str]:
        """Which of these names living agents have; nobody else gives any until the commit."""
        if not self._names_are_ours:
            dialects.lock_names(self.connection)
            self._names_are_ours = True
        return super().names_in_use(names)

    def write(self, records: Sequence[Record]) -> list[StreamMessage]:
        """Append, and let all daemons know when it is committed."""
        messages = super().write(records)
        self.version = str(self.connection.execute(ANNOUNCE).scalar_one())
        return messages

    def _before(self, agent_id: str) -> Agent | None:
        held = self._held.get(agent_id)
        return held.agent if held else None
