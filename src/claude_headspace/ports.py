"""The interfaces between the layers, and the types that they exchange. `journal.sql.SqlJournal` implements `Journal`.

`Writer` runs one transaction per batch: look up, append, commit. A hook is answered only after the commit. `Reader`
serves the surfaces, sees committed batches only and never waits for the writer.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from claude_headspace.kernel.acts import Act
from claude_headspace.kernel.agent import Agent, Command, Session, Turn, Wait
from claude_headspace.kernel.claude_os.session_notice import NO_NOTICE, SessionNotice
from claude_headspace.kernel.correlate import Found, Identity, Strategy
from claude_headspace.kernel.effort.acts import Act as EffortAct
from claude_headspace.kernel.effort.advice import Advice
from claude_headspace.kernel.effort.model import Effort, EffortChange, EffortOutcome, Message, Task, Window
from claude_headspace.kernel.envelope import NO_OBSERVATIONS, Envelope, Micros, Observations, decided
from claude_headspace.kernel.evolve.change import Change
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.policy.verdict import ABSTAIN, Verdict
from claude_headspace.kernel.react import Publish
from claude_headspace.kernel.search_documents import Document
from claude_headspace.kernel.search_terms import Query
from claude_headspace.kernel.snapshot import Snapshot
from claude_headspace.kernel.usage import Bucket

Clock = Callable[[], Micros]

ExpectHooks = Callable[[frozenset[HookKind]], None]
"""Declares which hooks must wait for a reply."""

Result = TypeVar("Result")


class Record(msgspec.Struct, kw_only=True):
    """One event with all its effects, which are written together."""

    envelope: Envelope
    agent_id: str
    strategy: Strategy
    anomaly: str | None
    change: Change | None
    """None if the event could not be processed; then only the event itself is stored."""
    claims: Sequence[Identity]
    publish: Sequence[Publish]
    efforts: Sequence[EffortChange] = ()
    event: Event | None = None
    """The decoded envelope; always there if there is a change."""


class StoredEvent(msgspec.Struct, kw_only=True, frozen=True):
    """One event as it is stored in the log."""

    seq: int
    envelope: Envelope
    agent_id: str
    strategy: Strategy
    anomaly: str | None


class StreamMessage(msgspec.Struct, frozen=True):
    """One message of the stream. `data` is JSON."""

    seq: int
    type: str
    agent_id: str
    project_id: str
    data: bytes


class StateRow(msgspec.Struct, frozen=True, kw_only=True):
    """A state that an agent entered, with the evidence for it."""

    seq: int
    agent_id: str
    at: Micros
    state: str
    waiting_for: str | None
    source: str
    confidence: str
    why: str
    event: str


class EventFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which events to return. Empty fields match every event."""

    names: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    clients: frozenset[str] = frozenset()
    only_anomalies: bool = False
    before_seq: int | None = None
    """Only events with a lower sequence number."""
    from_seq: int | None = None
    """Only events with this sequence number or a higher one."""
    received_between: tuple[Micros, Micros] | None = None
    """From the first time (inclusive) to the second (exclusive)."""
    words: tuple[str, ...] = ()
    """Each must occur in the name, origin, anomaly or payload of the event, or in the name of its agent."""


ALL_EVENTS = EventFilter()


class StoredDelivery(msgspec.Struct, frozen=True):
    """The stored event of a delivery id: its agent and how that was found."""

    agent_id: str
    strategy: Strategy


class JournalCounts(msgspec.Struct, frozen=True):
    """How much the journal contains."""

    events: int
    agents: int
    anomalies: int
    last_seq: int
    by_state: dict[str, int]
    probes: int = 0
    """How many of the events are test events of `headspace doctor`."""
    anomalies_by_client: dict[str, int] = {}


class LockScope(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a batch may read and change, known before it starts."""

    delivery_ids: frozenset[str] = frozenset()
    identities: frozenset[Identity] = frozenset()
    agent_ids: frozenset[str] = frozenset()
    """Agents that a sender named."""
    new_sessions: frozenset[tuple[Identity | None, str, Micros]] = frozenset()
    """Session identity, project id and time: where to search for an agent if the session is unknown."""


class SearchFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which documents to search; None matches every document."""

    max_document_id: int | None = None
    """Pages of one search ignore newer documents."""
    agent_id: str | None = None
    project_ids: tuple[str, ...] | None = None
    client: str | None = None
    actor: str | None = None
    tool: str | None = None
    since: Micros | None = None
    until: Micros | None = None


class SearchMatch(msgspec.Struct, frozen=True):
    """A document that matches a query, its time, and the rank that the database gave it (higher is better)."""

    document_id: int
    at: Micros
    rank: float


class Outcome(msgspec.Struct, frozen=True):
    """The result of a stored event: the agent after it, how the agent was found, and the parts of the reply."""

    agent: Agent
    strategy: Strategy
    verdict: Verdict = ABSTAIN
    duplicate: bool = False
    effort: EffortOutcome | None = None
    advice: Advice | None = None
    session_notice: SessionNotice = NO_NOTICE
    coordinator: str | None = None
    """The coordinator of the team that was informed."""


class Received(NamedTuple):
    """An event that has arrived: its envelope, and the envelope decoded. Nothing decodes it again."""

    envelope: Envelope
    event: Event
    body: Any = None
    """The JSON as builtins, before redaction and truncation; None if the text had to be repaired."""

    def decided(self, **decisions: object) -> "Received":
        """The same with further decisions."""
        envelope = decided(self.envelope, **decisions)
        event = msgspec.structs.replace(self.event, decisions=envelope.decisions)
        return Received(envelope, event, self.body)


class GuardProblem(msgspec.Struct, frozen=True):
    """Why the guards are off for some or all agents, since when, and what to do."""

    since: Micros
    text: str
    hint: str
    client: str = ""
    """The client in which they are off; empty: in all of them."""


class HookCounters(Protocol):
    """Counts hooks."""

    def stored(self, name: str, seconds: float) -> None:
        """A hook was stored, and how long that took."""

    def refused(self, code: str) -> None:
        """A hook was refused."""


class Recorder(Protocol):
    """Stores acts. The writer is one."""

    async def record(
        self,
        act: Act | EffortAct,
        agent_id: str | None = None,
        *,
        delivery_id: str | None = None,
        observations: Observations = NO_OBSERVATIONS,
        client: str = "headspace",
    ) -> Outcome:
        """Store an act. The same `delivery_id` is stored once; the outcome of a repetition is a `duplicate`."""


class Transaction(Protocol):
    """One batch of the writer: all of it is committed, or nothing."""

    @property
    def is_shared(self) -> bool:
        """Whether there are other writers. Otherwise `lock` has no effect."""

    def lock(self, scope: LockScope) -> None:
        """Lock what the batch may change until it ends. Call it first: what is read afterwards is current."""

    def find_deliveries(self, delivery_ids: Collection[str]) -> dict[str, StoredDelivery]:
        """The stored events of these delivery ids, by delivery id."""

    def agents_by_identity(self, identities: Collection[Identity]) -> dict[Identity, Found]:
        """The agents that own these identities."""

    def agents_by_id(self, ids: Collection[str]) -> dict[str, Agent]:
        """The agents with these ids."""

    def claimable_agents(self, project_id: str, ended_since: Micros) -> list[Agent]:
        """Agents of a project that a new session may continue, newest first; ended ones only if since `ended_since`."""

    def names_in_use(self, names: Collection[str]) -> set[str]:
        """Which of these names belong to agents that have not ended."""

    @property
    def is_without_efforts(self) -> bool:
        """Whether it was known at the start, without a query, that no effort is active."""

    def active_efforts(self, host: str) -> list[Effort]:
        """The active efforts of a host."""

    def effort(self, effort_id: str) -> Effort | None:
        """One effort."""

    def task(self, task_id: str) -> Task | None:
        """One task."""

    def stored_event_ids(self, agent_id: str, event_ids: Collection[str]) -> set[str]:
        """Which of these event ids of an agent are stored."""

    def restore(self, snapshot: Snapshot) -> None:
        """Store the snapshot at which the log of an imported agent starts."""

    def write(self, records: Sequence[Record]) -> list[StreamMessage]:
        """Append events with their effects; returns the stream messages with their sequence numbers."""


class Writer(Protocol):
    """Runs transactions, one at a time."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """One batch: committed when the block ends, rolled back if it raises."""

    async def transact(self, work: Callable[[Transaction], Result]) -> Result:
        """Call `work` in one batch. What may block (another writer, disk, network) runs outside the event loop."""

    @property
    def is_shared(self) -> bool:
        """Whether other daemons write to the same journal, so that the stream also has their messages."""


class AgentReader(Protocol):
    """Agents with their sessions, commands, turns, waits and states."""

    def agents(self, *, ended_after: Micros | None = None) -> list[Agent]:
        """Agents that have not ended, and those that ended after a time (None: none of these)."""

    def agent(self, agent_id: str) -> Agent | None:
        """One agent by its id."""

    def agents_by_name(self, name: str) -> list[Agent]:
        """Agents with this name; those that have not ended first, then by last activity."""

    def agents_by_id_prefix(self, prefix: str) -> list[Agent]:
        """At most ten agents whose id starts with a prefix."""

    def agent_by_session(self, session_id: str) -> Agent | None:
        """The agent that owns a session of the client."""

    def agent_by_wrapper(self, wrapper_id: str) -> Agent | None:
        """The agent whose client was started with this id (`CLAUDE_SESSION_ID`)."""

    def turns(self, *, agent_id: str | None = None, command_id: str | None = None, limit: int = 100) -> list[Turn]:
        """The newest turns of an agent or a command, in order of time."""

    def turn(self, turn_id: str) -> Turn | None:
        """One turn by its id."""

    def turns_between(
        self, agent_id: str, since: Micros | None, until: Micros | None, limit: int, *, newest: bool
    ) -> list[Turn]:
        """The newest or else the first turns of an agent in a time range, in order of time. None: no bound."""

    def commands(self, agent_id: str, limit: int = 100) -> list[Command]:
        """The newest commands of an agent, in order of time."""

    def command(self, command_id: str) -> Command | None:
        """One command by its id."""

    def sessions(self, agent_id: str) -> list[Session]:
        """The context windows of an agent, in order."""

    def waits(self, *, agent_id: str | None = None, only_open: bool = True) -> list[Wait]:
        """Waits for a person, in order of time."""

    def wait(self, wait_id: str) -> Wait | None:
        """One wait by its id, open or closed."""

    def states(self, agent_id: str, limit: int = 50) -> list[StateRow]:
        """The newest states of an agent with their evidence, in order of time."""

    def states_between(self, since: Micros, until: Micros) -> list[StateRow]:
        """States entered in a time range, and the state of each agent when it begins; in order of time."""

    def commands_between(self, since: Micros, until: Micros) -> list[Command]:
        """Commands started in a time range, in order of time."""

    def usage_between(self, since: Micros | None, until: Micros | None, agent_id: str | None = None) -> list[Bucket]:
        """What agents used in a time range, or one agent did; in order of time. None: no bound."""


class LogReader(Protocol):
    """The event log, the stream of changes, and counts."""

    def events(
        self,
        *,
        agent_id: str | None = None,
        after: int | None = None,
        limit: int = 100,
        matching: EventFilter = ALL_EVENTS,
    ) -> list[StoredEvent]:
        """Events in sequence: the first ones after a sequence number, or else the newest."""

    def event(self, agent_id: str, event_id: str) -> StoredEvent | None:
        """One event of an agent by its id."""

    def event_by_delivery(self, delivery_id: str) -> StoredEvent | None:
        """The event with this delivery id."""

    def log_range(
        self, agent_id: str, since: Micros | None, until: Micros | None, margin: int
    ) -> tuple[int | None, int | None]:
        """The first sequence number of an agent's events of a time range, and the first one after them.

        None: no bound. Events can be stored out of order: the range is extended by `margin` events on both sides.
        """

    def hook_delays(self, since: Micros, until: Micros, limit: int) -> list[Micros]:
        """How long the newest hooks of a time range took from the client to the daemon."""

    def stream(self, after: int, limit: int) -> list[StreamMessage]:
        """Stream messages after a sequence number, in order."""

    def snapshot(self, agent_id: str) -> Snapshot | None:
        """The snapshot at which the log of an agent starts, if it was pruned."""

    def stream_bounds(self) -> tuple[int, int]:
        """The oldest and the newest sequence number that can be replayed."""

    def last_seq(self) -> int:
        """The sequence number of the newest event. Not every event has a stream message."""

    def last_hook_at(self, host: str) -> Micros | None:
        """When the newest hook event of a host was received."""

    def counts(self) -> JournalCounts:
        """How much the journal contains."""


class SearchReader(Protocol):
    """Full-text search."""

    def search(self, query: Query, matching: SearchFilter, limit: int) -> list[SearchMatch]:
        """The newest documents that match, newest first."""

    def documents(self, ids: Collection[int]) -> dict[int, tuple[Document, str]]:
        """Documents with their texts, by id."""


class EffortReader(Protocol):
    """Tasks, efforts, their context windows and messages."""

    def efforts(self, *, only_active: bool = True, limit: int = 200) -> list[Effort]:
        """Efforts, newest first."""

    def effort(self, effort_id: str) -> Effort | None:
        """One effort."""

    def tasks(self, limit: int = 200) -> list[Task]:
        """Tasks."""

    def effort_windows(self, effort_id: str) -> list[Window]:
        """The context windows that worked on an effort, in order."""

    def effort_messages(self, effort_id: str, limit: int = 100) -> list[Message]:
        """The newest messages of an effort, in order of time."""


class Reader(AgentReader, LogReader, SearchReader, EffortReader, Protocol):
    """Everything that surfaces read."""


class Position(msgspec.Struct, frozen=True):
    """How many bytes of a file were read, and the time of the newest entry."""

    offset: int
    at: Micros


class PositionStore(Protocol):
    """How far files were read, so that a restart continues there."""

    def positions(self, reader: str) -> dict[str, Position]:
        """The position of a reader in each file, by path."""

    def save_positions(self, reader: str, positions: Mapping[str, Position]) -> None:
        """Store positions of a reader; other files keep theirs."""


class NamedToken(msgspec.Struct, frozen=True, kw_only=True):
    """A named API token: its scopes, owner and expiry. The token itself is not stored."""

    name: str
    scopes: tuple[str, ...]
    owner: str
    created_at: Micros
    expires_at: Micros | None = None
    last_used_at: Micros | None = None


class TokenStore(Protocol):
    """The named tokens of a journal. Only the digest of a token is stored."""

    def tokens(self) -> list[NamedToken]:
        """All tokens, ordered by name."""

    def token(self, digest: str) -> NamedToken | None:
        """The token with this digest."""

    def add_token(self, token: NamedToken, digest: str) -> bool:
        """Store a new token; False if the name is in use."""

    def remove_token(self, name: str) -> bool:
        """Delete a token; False if there is none with this name."""

    def record_token_use(self, name: str, at: Micros) -> None:
        """Record when a token was last used."""


class Difference(msgspec.Struct, frozen=True):
    """A projection row that differs from the result of replaying the log."""

    table: str
    id: str
    problem: str


class PruneResult(msgspec.Struct, frozen=True):
    """How many rows pruning removed, or would remove. `announcements` are stream messages."""

    events: int
    announcements: int
    agents: int
    up_to: int
    """The sequence number up to which stream messages were removed."""
    efforts: int = 0


class Maintenance(Protocol):
    """Opening, checking, repairing, pruning and closing a journal."""

    def open(self) -> None:
        """Migrate the database to this version. Raises `JournalUnavailable` if it cannot be reached."""

    def verify(self) -> Iterator[Difference]:
        """Replay the log and compare it with the projections."""

    def rebuild(self) -> int:
        """Replace the projections with the result of replaying the log; returns the number of events."""

    def prune(self, before: Micros, *, dry_run: bool = False) -> PruneResult:
        """Remove events received before a time. Agents that have not ended keep a snapshot of their state."""

    def storage_problem(self) -> str:
        """Why the storage cannot be used (such as a missing file), if that is visible without a query; else empty."""

    def abort_connections(self) -> None:
        """Close the connections to a database that does not answer; pending calls raise `JournalUnavailable`."""

    def close(self) -> None:
        """Close the database cleanly."""


class Journal(Writer, Reader, PositionStore, TokenStore, Maintenance, Protocol):
    """The complete storage interface."""
