"""Fakes that ship: a journal in memory, a clock that is set by hand, and builders of what Claude Code sends.

Use them to test what you build on Headspace. The journal here passes the same contract as the real one.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count, islice

import msgspec

from claude_headspace.clients.claude_code.simulation.payloads import hook_payload
from claude_headspace.clients.decode import decode
from claude_headspace.kernel.agent import Agent, Command, Session, Turn, Wait
from claude_headspace.kernel.correlate import Found, Identity, is_free
from claude_headspace.kernel.effort.advance import Ledger
from claude_headspace.kernel.effort.model import Effort, EffortChange, Message, Task, Window
from claude_headspace.kernel.effort.snapshot import NO_EFFORTS, EffortsSnapshot, KeptEffort, is_over
from claude_headspace.kernel.envelope import (
    NO_DECISIONS,
    NO_OBSERVATIONS,
    SECOND,
    Decisions,
    Envelope,
    Micros,
    Observations,
    Origin,
)
from claude_headspace.kernel.evolve.change import Change
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.replay import replay_event
from claude_headspace.kernel.search_documents import Document, documents
from claude_headspace.kernel.search_terms import Query, matches, words
from claude_headspace.kernel.snapshot import Snapshot, SnapshotBuilder
from claude_headspace.ports import (
    ALL_EVENTS,
    Difference,
    EventFilter,
    JournalCounts,
    LockScope,
    NamedToken,
    Position,
    PruneResult,
    Record,
    Result,
    SearchFilter,
    SearchMatch,
    StateRow,
    StoredDelivery,
    StoredEvent,
    StreamMessage,
)

_ids = count(1)

START: Micros = 1_790_000_000 * SECOND
"""Where time begins in tests."""


class ManualClock:
    """A clock that stands still until it is told otherwise."""

    def __init__(self, now: Micros = START) -> None:
        self.now = now

    def __call__(self) -> Micros:
        """What time it is."""
        return self.now

    def advance(self, seconds: float) -> Micros:
        """Let time pass."""
        self.now += round(seconds * SECOND)
        return self.now


def hook(
    name: str,
    at: Micros = START,
    *,
    observations: Observations = NO_OBSERVATIONS,
    decisions: Decisions = NO_DECISIONS,
    delivery_id: str | None = None,
    host: str = "laptop",
    origin: Origin = Origin.HOOK,
    **payload: object,
) -> Envelope:
    """An envelope as a hook of Claude Code makes it."""
    return Envelope(
        id=f"{next(_ids):012x}",
        name=name,
        origin=origin,
        client="claude-code",
        host=host,
        fired_at=at,
        received_at=at,
        payload=json.dumps(hook_payload(name, **payload)).encode(),
        observations=observations,
        decisions=decisions,
        delivery_id=delivery_id,
    )


class MemoryJournal:
    """The journal, in memory: nothing survives, everything else holds."""

    def __init__(self) -> None:
        self._events: list[StoredEvent] = []
        self._stream: list[StreamMessage] = []
        self._rows = _Rows()
        self._positions: dict[str, dict[str, Position]] = {}
        self._snapshots: dict[str, Snapshot] = {}
        self._efforts = NO_EFFORTS
        self._tokens: dict[str, tuple[NamedToken, str]] = {}
        self._seq = 0

    is_shared = False

    def open(self) -> None:
        """There is nothing to open."""

    # --- writing ---

    @contextmanager
    def transaction(self) -> Iterator["MemoryTransaction"]:
        """One batch: kept when the block ends, forgotten when it fails."""
        batch = MemoryTransaction(self)
        yield batch
        batch.commit()

    async def transact(self, work: Callable[["MemoryTransaction"], Result]) -> Result:
        """Do work in one batch."""
        with self.transaction() as batch:
            return work(batch)

    # --- reading ---

    def agents(self, *, ended_after: Micros | None = None) -> list[Agent]:
        """Living agents, and those that ended after a moment."""
        return [
            agent
            for agent in self._rows.agents.values()
            if agent.ended_at is None or (ended_after is not None and agent.ended_at > ended_after)
        ]

    def agent(self, agent_id: str) -> Agent | None:
        """One agent by its id."""
        return self._rows.agents.get(agent_id)

    def agents_by_name(self, name: str) -> list[Agent]:
        """Agents of that name, the living first, then the most recently active."""
        named = [agent for agent in self._rows.agents.values() if agent.name == name]
        return sorted(named, key=lambda agent: (agent.ended_at is not None, -agent.last_active_at))

    def agents_by_id_prefix(self, prefix: str) -> list[Agent]:
        """Agents whose id begins so."""
        return [agent for agent in self._rows.agents.values() if agent.id.startswith(prefix)][:10]

    def agent_by_session(self, session_id: str) -> Agent | None:
        """The agent that a session of the client belongs to."""
        return self._rows.agents.get(self._rows.identities.get(Identity("session", session_id), ""))

    def turns(self, *, agent_id: str | None = None, command_id: str | None = None, limit: int = 100) -> list[Turn]:
        """The newest turns of an agent or a command, oldest of them first."""
        wanted = [
            turn
            for turn in self._rows.turns.values()
            if agent_id in (None, turn.agent_id) and command_id in (None, turn.command_id)
        ]
        return sorted(wanted, key=lambda turn: (turn.at, turn.id))[-limit:]

    def commands(self, agent_id: str, limit: int = 100) -> list[Command]:
        """The newest commands of an agent, oldest of them first."""
        wanted = [command for command in self._rows.commands.values() if command.agent_id == agent_id]
        return sorted(wanted, key=lambda command: command.started_at)[-limit:]

    def command(self, command_id: str) -> Command | None:
        """One command by its id."""
        return self._rows.commands.get(command_id)

    def sessions(self, agent_id: str) -> list[Session]:
        """The context windows of an agent, in order."""
        wanted = [session for session in self._rows.sessions.values() if session.agent_id == agent_id]
        return sorted(wanted, key=lambda session: session.ordinal)

    def waits(self, *, agent_id: str | None = None, only_open: bool = True) -> list[Wait]:
        """Needs for a human, oldest first."""
        wanted = [
            wait
            for wait in self._rows.waits.values()
            if agent_id in (None, wait.agent_id) and not (only_open and wait.closed_at is not None)
        ]
        return sorted(wanted, key=lambda wait: wait.opened_at)

    def wait(self, wait_id: str) -> Wait | None:
        """One wait by its id, open or over."""
        return self._rows.waits.get(wait_id)

    def events(
        self,
        *,
        agent_id: str | None = None,
        after: int | None = None,
        limit: int = 100,
        matching: EventFilter = ALL_EVENTS,
    ) -> list[StoredEvent]:
        """Events in sequence: those after a number, or else the newest."""
        wanted = [event for event in self._events if agent_id in (None, event.agent_id) and _is_chosen(event, matching)]
        if after is None:
            return wanted[-limit:]
        return [event for event in wanted if event.seq > after][:limit]

    def event(self, agent_id: str, event_id: str) -> StoredEvent | None:
        """One event of an agent by its id."""
        found = (event for event in self._events if (event.agent_id, event.envelope.id) == (agent_id, event_id))
        return next(found, None)

    def event_delivered(self, delivery_id: str) -> StoredEvent | None:
        """The event with this delivery id."""
        return next((event for event in self._events if event.envelope.delivery_id == delivery_id), None)

    def hook_delays(self, since: Micros, until: Micros, limit: int) -> list[Micros]:
        """How long hooks that arrived in this time had been on their way."""
        chosen = EventFilter(origins=frozenset({Origin.HOOK.value}), received_between=(since, until))
        envelopes = [stored.envelope for stored in self.events(limit=limit, matching=chosen)]
        return [envelope.received_at - envelope.fired_at for envelope in envelopes]

    def states_between(self, since: Micros, until: Micros) -> list[StateRow]:
        """The states of this time, and those that it began with."""
        rows = sorted(self._rows.states.values(), key=lambda row: (row.at, row.seq))
        before = {row.agent_id: row for row in rows if row.at < since}
        found = [*before.values(), *(row for row in rows if since <= row.at < until)]
        return sorted(found, key=lambda row: (row.at, row.seq))

    def commands_between(self, since: Micros, until: Micros) -> list[Command]:
        """The commands that began in this time."""
        found = [command for command in self._rows.commands.values() if since <= command.started_at < until]
        return sorted(found, key=lambda command: command.started_at)

    def states(self, agent_id: str, limit: int = 50) -> list[StateRow]:
        """The newest states of an agent with their evidence, oldest of them first."""
        return [row for row in self._rows.states.values() if row.agent_id == agent_id][-limit:]

    def search(self, query: Query, matching: SearchFilter, limit: int) -> list[SearchMatch]:
        """The newest documents that match, newest first."""
        found = (
            SearchMatch(document.id, document.at, float(rank))
            for document, text in reversed(self._rows.documents.values())
            if _is_wanted(document, matching) and (rank := matches(query, words(text)))
        )
        return list(islice(found, limit))

    def documents(self, ids: Collection[int]) -> dict[int, tuple[Document, str]]:
        """Documents with their texts, by number."""
        found = {number: self._rows.documents[number] for number in ids if number in self._rows.documents}
        return {number: (self._known_better(document), text) for number, (document, text) in found.items()}

    def _known_better(self, document: Document) -> Document:
        turn = self._rows.turns.get(document.turn_id or "")
        return msgspec.structs.replace(document, at=turn.at, command_id=turn.command_id) if turn else document

    def stream(self, after: int, limit: int) -> list[StreamMessage]:
        """Announcements after a sequence number, in order."""
        return [message for message in self._stream if message.seq > after][:limit]

    def stream_bounds(self) -> tuple[int, int]:
        """The oldest and the newest sequence number that can be replayed."""
        return (self._stream[0].seq, self._stream[-1].seq) if self._stream else (0, 0)

    def last_hook_at(self, host: str) -> Micros | None:
        """When a host's newest hook event was received."""
        ours = (each.envelope for each in reversed(self._events) if each.envelope.host == host)
        return next((each.received_at for each in ours if each.origin is Origin.HOOK), None)

    def counts(self) -> JournalCounts:
        """What the journal holds."""
        odd = sum(event.anomaly is not None for event in self._events)
        states = Counter(agent.state.value for agent in self._rows.agents.values())
        return JournalCounts(len(self._events), len(self._rows.agents), odd, self._seq, dict(states))

    def efforts(self, *, only_active: bool = True, limit: int = 200) -> list[Effort]:
        """Efforts, the newest first."""
        wanted = [effort for effort in self._rows.efforts.values() if effort.active or not only_active]
        return sorted(wanted, key=lambda effort: effort.started_at, reverse=True)[:limit]

    def effort(self, effort_id: str) -> Effort | None:
        """One effort."""
        return self._rows.efforts.get(effort_id)

    def tasks(self, limit: int = 200) -> list[Task]:
        """Tasks."""
        return list(self._rows.tasks.values())[:limit]

    def effort_windows(self, effort_id: str) -> list[Window]:
        """The context windows that worked on an effort, in order."""
        wanted = [window for window in self._rows.windows.values() if window.effort_id == effort_id]
        return sorted(wanted, key=lambda window: (window.started_at, window.id))

    def effort_messages(self, effort_id: str, limit: int = 100) -> list[Message]:
        """The newest messages of an effort, oldest of them first."""
        wanted = [message for message in self._rows.messages.values() if message.effort_id == effort_id]
        return sorted(wanted, key=lambda message: (message.at, message.id))[-limit:]

    # --- bookmarks ---

    def positions(self, reader: str) -> dict[str, Position]:
        """How far a reader came in each file."""
        return dict(self._positions.get(reader, {}))

    def save_positions(self, reader: str, positions: Mapping[str, Position]) -> None:
        """Keep how far a reader came."""
        self._positions.setdefault(reader, {}).update(positions)

    # --- tokens ---

    def tokens(self) -> list[NamedToken]:
        """All of them, by name."""
        return sorted((token for token, _digest in self._tokens.values()), key=lambda token: token.name)

    def token(self, digest: str) -> NamedToken | None:
        """The one with this digest."""
        return next((token for token, known in self._tokens.values() if known == digest), None)

    def add_token(self, token: NamedToken, digest: str) -> bool:
        """Keep a new one; False if the name is taken."""
        return self._tokens.setdefault(token.name, (token, digest)) == (token, digest)

    def remove_token(self, name: str) -> bool:
        """Forget one; False if there is none."""
        return self._tokens.pop(name, None) is not None

    def record_token_use(self, name: str, at: Micros) -> None:
        """Note that one was used."""
        if name in self._tokens:
            token, digest = self._tokens[name]
            self._tokens[name] = msgspec.structs.replace(token, last_used_at=at), digest

    # --- upkeep ---

    def verify(self) -> Iterator[Difference]:
        """Replay the log and compare it with the projections."""
        expected = self._replayed()
        for table in expected.__struct_fields__:
            wanted, found = getattr(expected, table), getattr(self._rows, table)
            for key in wanted.keys() | found.keys():
                if wanted.get(key) != found.get(key):
                    yield Difference(table, str(key), "does not follow from the log")

    def rebuild(self) -> int:
        """Make the projections anew from the log."""
        self._rows = self._replayed()
        return len(self._events)

    def storage_problem(self) -> str:
        """It is always where it was."""
        return ""

    def abort_connections(self) -> None:
        """It always answers."""

    def close(self) -> None:
        """There is nothing to let go of."""

    def prune(self, before: Micros, *, dry_run: bool = False) -> PruneResult:
        """Take out what was received before a moment; agents that go on keep a snapshot of where they were."""
        recent = [event for event in self._events if event.envelope.received_at >= before]
        edges = {event.agent_id: event.seq for event in reversed(recent)}
        old = [event for event in self._events if event.seq < edges.get(event.agent_id, self._seq + 1)]
        up_to = recent[0].seq - 1 if recent else self.stream_bounds()[1]
        told = [message for message in self._stream if message.seq <= up_to]
        rows, heard = self._rows, {event.agent_id for event in self._events if event not in old}
        ended = {agent.id for agent in rows.agents.values() if agent.ended_at is not None}
        gone = ended & {event.agent_id for event in old} - heard
        over = {effort.id for effort in rows.efforts.values() if is_over(effort, before)}
        if not dry_run and (old or over):
            self._efforts = rows.kept_efforts(self._seq, over)
            self._take_snapshots(old, gone)
            self._events = [event for event in self._events if event not in old]
            self._stream = self._stream[len(told) :]
            self._rows = self._replayed()
        return PruneResult(len(old), len(told), len(gone), up_to, len(over))

    def _take_snapshots(self, old: Sequence[StoredEvent], gone: Collection[str]) -> None:
        for agent_id in {event.agent_id for event in old}:
            before = self._snapshots.pop(agent_id, None)
            telling, claimed = SnapshotBuilder(before), set(before.identities if before else ())
            ours = [event for event in old if event.agent_id == agent_id]
            for stored in ours:
                event = decode(stored.envelope)
                retold = replay_event(telling.agent, agent_id, stored.envelope, event, stored.strategy, stored.anomaly)
                if retold is not None:
                    telling.add(retold.change)
                    claimed.update(retold.claims)
            if telling.agent is not None and agent_id not in gone:
                owned = sorted(each for each in claimed if self._rows.identities.get(each) == agent_id)
                at = max(event.envelope.received_at for event in ours)
                self._snapshots[agent_id] = telling.snapshot(ours[-1].seq, at, owned)

    def snapshot(self, agent_id: str) -> Snapshot | None:
        """Where the log of an agent begins, if it was pruned."""
        return self._snapshots.get(agent_id)

    def _replayed(self) -> "_Rows":
        anew, efforts = _Rows(), Ledger(self._efforts)
        anew.begin_efforts(self._efforts)
        steps: list[Snapshot | StoredEvent] = [*self._snapshots.values(), *self._events]
        for stored in sorted(steps, key=lambda each: each.seq):
            if isinstance(stored, Snapshot):
                anew.begin(stored)
                continue
            agent, event = anew.agents.get(stored.agent_id), decode(stored.envelope)
            retold = replay_event(agent, stored.agent_id, stored.envelope, event, stored.strategy, stored.anomaly)
            if retold is not None:
                anew.take(stored.seq, event, retold.change, retold.claims)
            agent = retold.change.agent if retold else None
            anew.take_effort(efforts.read(stored.seq, stored.envelope, event, agent))
        return anew


def _is_chosen(stored: StoredEvent, choice: EventFilter) -> bool:
    envelope = stored.envelope
    return (
        (not choice.names or envelope.name in choice.names)
        and (not choice.origins or envelope.origin.value in choice.origins)
        and (not choice.only_anomalies or stored.anomaly is not None)
        and (choice.before_seq is None or stored.seq < choice.before_seq)
        and (
            choice.received_between is None
            or choice.received_between[0] <= envelope.received_at < choice.received_between[1]
        )
    )


class MemoryTransaction:
    """One batch of the journal in memory."""

    def __init__(self, journal: MemoryJournal) -> None:
        self._journal = journal
        self._records: list[tuple[int, Record]] = []
        self._messages: list[StreamMessage] = []
        self._restored: list[Snapshot] = []
        self._seq = journal._seq

    def lock(self, _touched: LockScope) -> None:
        """Nobody else writes here."""

    def find_deliveries(self, delivery_ids: Collection[str]) -> dict[str, StoredDelivery]:
        """Which of these deliveries are here already."""
        return {
            stored.envelope.delivery_id: StoredDelivery(stored.agent_id, stored.strategy)
            for stored in self._journal._events
            if stored.envelope.delivery_id is not None and stored.envelope.delivery_id in delivery_ids
        }

    def agents_by_identity(self, identities: Collection[Identity]) -> dict[Identity, Found]:
        """The agents that answer to these identities."""
        rows = self._journal._rows
        owned = {identity: rows.identities[identity] for identity in identities if identity in rows.identities}
        return {identity: Found(rows.agents[owner], True) for identity, owner in owned.items()}

    def agents_by_id(self, ids: Collection[str]) -> dict[str, Agent]:
        """The agents with these ids."""
        rows = self._journal._rows.agents
        return {agent_id: rows[agent_id] for agent_id in ids if agent_id in rows}

    def claimable_agents(self, project_id: str, ended_since: Micros) -> list[Agent]:
        """The agents of a project that a new session may be taken for, if they did not end before; newest first."""
        near = self._journal.agents(ended_after=ended_since - 1)
        ours = [agent for agent in near if agent.project.id == project_id and is_free(agent)]
        return sorted(ours, key=lambda agent: agent.last_active_at, reverse=True)

    def names_in_use(self, names: Collection[str]) -> set[str]:
        """Which of these names living agents have."""
        return {agent.name for agent in self._journal.agents() if agent.name in names}

    def active_efforts(self, host: str) -> list[Effort]:
        """The active efforts of a machine."""
        return [effort for effort in self._journal.efforts() if effort.host == host]

    def effort(self, effort_id: str) -> Effort | None:
        """One effort."""
        return self._journal.effort(effort_id)

    def task(self, task_id: str) -> Task | None:
        """One task."""
        return self._journal._rows.tasks.get(task_id)

    def stored_event_ids(self, agent_id: str, event_ids: Collection[str]) -> set[str]:
        """Which of these events of an agent are here already."""
        ours = (stored.envelope.id for stored in self._journal._events if stored.agent_id == agent_id)
        return set(ours).intersection(event_ids)

    def restore(self, snapshot: Snapshot) -> None:
        """Begin an agent where its pruned log begins elsewhere."""
        self._seq += 1
        self._restored.append(msgspec.structs.replace(snapshot, seq=self._seq))

    def write(self, records: Sequence[Record]) -> list[StreamMessage]:
        """Append the events with all that came of them."""
        for record in records:
            self._seq += 1
            self._records.append((self._seq, record))
            for publish in record.publish:
                self._seq += 1
                data = msgspec.json.encode(publish.data)
                message = StreamMessage(self._seq, publish.type, publish.agent_id, publish.project_id, data)
                self._messages.append(message)
        return self._messages

    def commit(self) -> None:
        """Make it part of the journal."""
        journal = self._journal
        journal._seq = self._seq
        journal._stream += self._messages
        for snapshot in self._restored:
            journal._snapshots[snapshot.agent.id] = snapshot
            journal._rows.begin(snapshot)
        for seq, record in self._records:
            stored = StoredEvent(
                seq=seq,
                envelope=record.envelope,
                agent_id=record.agent_id,
                strategy=record.strategy,
                anomaly=record.anomaly,
            )
            journal._events.append(stored)
            if record.change is not None:
                journal._rows.take(seq, record.event or decode(record.envelope), record.change, record.claims)
            for change in record.efforts:
                journal._rows.take_effort(change)


def _is_wanted(document: Document, wanted: SearchFilter) -> bool:
    return (
        (wanted.max_document_id is None or document.id <= wanted.max_document_id)
        and wanted.agent_id in (None, document.agent_id)
        and (wanted.project_ids is None or document.project_id in wanted.project_ids)
        and wanted.actor in (None, document.actor)
        and (wanted.tool is None or (document.tool or "").lower() == wanted.tool.lower())
        and (wanted.since is None or document.at >= wanted.since)
        and (wanted.until is None or document.at <= wanted.until)
    )


class _Rows(msgspec.Struct):
    """The projections, by key."""

    agents: dict[str, Agent] = {}
    identities: dict[Identity, str] = {}
    sessions: dict[str, Session] = {}
    commands: dict[str, Command] = {}
    turns: dict[str, Turn] = {}
    waits: dict[str, Wait] = {}
    states: dict[int, StateRow] = {}
    tasks: dict[str, Task] = {}
    efforts: dict[str, Effort] = {}
    windows: dict[tuple[str, str], Window] = {}
    messages: dict[str, Message] = {}
    documents: dict[int, tuple[Document, str]] = {}

    def take_effort(self, change: EffortChange | None) -> None:
        """Add what one event changed of an effort."""
        if change is None:
            return
        self.efforts[change.effort.id] = change.effort
        if change.task is not None:
            self.tasks[change.task.id] = change.task
        self.windows.update({(window.effort_id, window.id): window for window in change.windows})
        self.messages.update({message.id: message for message in change.messages})

    def kept_efforts(self, seq: int, over: Collection[str]) -> EffortsSnapshot:
        """The efforts as they are, but for some."""
        kept = [
            KeptEffort(
                effort=effort,
                windows=[each for each in self.windows.values() if each.effort_id == effort.id],
                messages=[each for each in self.messages.values() if each.effort_id == effort.id],
            )
            for effort in self.efforts.values()
            if effort.id not in over
        ]
        return EffortsSnapshot(seq=seq, tasks=list(self.tasks.values()), efforts=kept)

    def begin_efforts(self, snapshot: EffortsSnapshot) -> None:
        """Begin the efforts where their log begins."""
        self.tasks.update({task.id: task for task in snapshot.tasks})
        for kept in snapshot.efforts:
            self.take_effort(kept.change())

    def begin(self, snapshot: Snapshot) -> None:
        """Begin an agent where its log begins."""
        self.agents[snapshot.agent.id] = snapshot.agent
        self.identities.update(dict.fromkeys(snapshot.identities, snapshot.agent.id))
        self.sessions.update(snapshot.sessions)
        self.commands.update(snapshot.commands)
        self.turns.update(snapshot.turns)
        self.waits.update(snapshot.waits)

    def take(self, seq: int, event: Event, change: Change, claimed: Sequence[Identity]) -> None:
        """Add what one event changed."""
        agent = change.agent
        self.documents.update({each[0].id: each for each in documents(seq, event, change)})
        self.agents[agent.id] = agent
        self.identities.update(dict.fromkeys(claimed, agent.id))
        self.sessions.update({session.id: session for session in change.sessions})
        self.commands.update(change.commands)
        self.turns.update({turn.id: turn for turn in change.turns})
        self.waits.update(change.waits)
        for patch in change.patches:
            better = {name: getattr(patch, name) for name in ("command_id", "intent", "at", "timestamp_source")}
            self.turns[patch.id] = msgspec.structs.replace(self.turns[patch.id], **better)
        if change.state_changed and agent.evidence is not None:
            self.states[seq] = StateRow(
                seq=seq,
                agent_id=agent.id,
                at=agent.state_since,
                state=agent.state.value,
                waiting_for=agent.waiting_for,
                source=agent.evidence.source,
                confidence=agent.evidence.confidence.value,
                why=agent.evidence.why,
                event=change.meta.name,
            )
