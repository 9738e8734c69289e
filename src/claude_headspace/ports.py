"""What the engine needs of the world, as small interfaces. Implementations live at the edges; `testing.py` ships fakes.

The journal is the only memory. Its writing side is one transaction per batch: look up, append, commit, and only then
answer. Its reading side serves the surfaces and never waits for the writer.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from claude_headspace.kernel.acts import Act
from claude_headspace.kernel.agent import Agent, Command, Session, Turn, Wait
from claude_headspace.kernel.claude_os.session_notice import NO_CARE, Care
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

Clock = Callable[[], Micros]

ExpectHooks = Callable[[frozenset[HookKind]], None]
"""Declares which hooks must wait for a reply."""

Result = TypeVar("Result")


class Record(msgspec.Struct, kw_only=True):
    """One event with all that came of it, to be written together."""

    envelope: Envelope
    agent_id: str
    strategy: Strategy
    anomaly: str | None
    change: Change | None
    """None when understanding the event failed: then only the event itself is kept."""
    claims: Sequence[Identity]
    publish: Sequence[Publish]
    efforts: Sequence[EffortChange] = ()
    event: Event | None = None
    """The decoded envelope; always there if there is a change."""


class StoredEvent(msgspec.Struct, kw_only=True, frozen=True):
    """One event as the journal has it."""

    seq: int
    envelope: Envelope
    agent_id: str
    strategy: Strategy
    anomaly: str | None


class StreamMessage(msgspec.Struct, frozen=True):
    """One announcement, as it was made. `data` is JSON."""

    seq: int
    type: str
    agent_id: str
    project_id: str
    data: bytes


class StateRow(msgspec.Struct, frozen=True, kw_only=True):
    """A state that an agent came into, and why we believed it."""

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
    """Which events are wanted: by name, by who told, only odd ones, below a number, by when they arrived."""

    names: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    only_anomalies: bool = False
    before_seq: int | None = None
    received_between: tuple[Micros, Micros] | None = None
    """From this moment on, and before that one."""


ALL_EVENTS = EventFilter()


class StoredDelivery(msgspec.Struct, frozen=True):
    """A delivery that the journal has already."""

    agent_id: str
    strategy: Strategy


class JournalCounts(msgspec.Struct, frozen=True):
    """What the journal holds."""

    events: int
    agents: int
    anomalies: int
    last_seq: int
    by_state: dict[str, int]


class LockScope(msgspec.Struct, frozen=True, kw_only=True):
    """What a batch is about, known before it begins."""

    delivery_ids: frozenset[str] = frozenset()
    identities: frozenset[Identity] = frozenset()
    agent_ids: frozenset[str] = frozenset()
    """Those that a sender named."""
    new_sessions: frozenset[tuple[Identity | None, str, Micros]] = frozenset()
    """Sessions, each with the project and the moment in which its agent is looked for should nobody know it."""


class SearchFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Where to look; None means everywhere."""

    max_document_id: int | None = None
    """The newest document's number."""
    agent_id: str | None = None
    project_ids: tuple[str, ...] | None = None
    actor: str | None = None
    tool: str | None = None
    since: Micros | None = None
    until: Micros | None = None


class SearchMatch(msgspec.Struct, frozen=True):
    """A document that matches, when it is from, and how well the journal thinks it does."""

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
    care: Care = NO_CARE
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
    """One batch of the single writer: everything in it happens, or nothing."""

    def lock(self, scope: LockScope) -> None:
        """Keep others away from what the batch is about until it is over; what it asks for was read then."""

    def find_deliveries(self, delivery_ids: Collection[str]) -> dict[str, StoredDelivery]:
        """Which of these deliveries are here already."""

    def agents_by_identity(self, identities: Collection[Identity]) -> dict[Identity, Found]:
        """The agents that answer to these identities."""

    def agents_by_id(self, ids: Collection[str]) -> dict[str, Agent]:
        """The agents with these ids."""

    def claimable_agents(self, project_id: str, ended_since: Micros) -> list[Agent]:
        """The agents of a project that a new session may be taken for, if they did not end before; newest first."""

    def names_in_use(self, names: Collection[str]) -> set[str]:
        """Which of these names living agents have."""

    def active_efforts(self, host: str) -> list[Effort]:
        """The active efforts of a machine."""

    def effort(self, effort_id: str) -> Effort | None:
        """One effort."""

    def task(self, task_id: str) -> Task | None:
        """One task."""

    def stored_event_ids(self, agent_id: str, event_ids: Collection[str]) -> set[str]:
        """Which of these events of an agent are here already."""

    def restore(self, snapshot: Snapshot) -> None:
        """Begin an agent where its pruned log begins elsewhere."""

    def write(self, records: Sequence[Record]) -> list[StreamMessage]:
        """Append the events with all that came of them; give the announcements their sequence numbers."""


class Writer(Protocol):
    """The writing side."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Begin a batch; it is committed when the block ends, and undone when the block fails."""

    async def transact(self, work: Callable[[Transaction], Result]) -> Result:
        """Do work in one batch; what may wait (another writer, the disk, a network) leaves the loop free."""

    @property
    def is_shared(self) -> bool:
        """Whether other daemons write here too, so that the stream holds more than what this one announced."""


class Reader(Protocol):
    """The reading side: what surfaces ask."""

    def agents(self, *, ended_after: Micros | None = None) -> list[Agent]:
        """Living agents, and those that ended after a moment (None: none of them)."""

    def agent(self, agent_id: str) -> Agent | None:
        """One agent by its id."""

    def agents_by_name(self, name: str) -> list[Agent]:
        """Agents of that name, the living first, then the most recently active."""

    def agents_by_id_prefix(self, prefix: str) -> list[Agent]:
        """Agents whose id begins so (a few are enough)."""

    def agent_by_session(self, session_id: str) -> Agent | None:
        """The agent that a session of the client belongs to."""

    def turns(self, *, agent_id: str | None = None, command_id: str | None = None, limit: int = 100) -> list[Turn]:
        """The newest turns of an agent or a command, oldest of them first."""

    def commands(self, agent_id: str, limit: int = 100) -> list[Command]:
        """The newest commands of an agent, oldest of them first."""

    def command(self, command_id: str) -> Command | None:
        """One command by its id."""

    def sessions(self, agent_id: str) -> list[Session]:
        """The context windows of an agent, in order."""

    def waits(self, *, agent_id: str | None = None, only_open: bool = True) -> list[Wait]:
        """Needs for a human, oldest first."""

    def wait(self, wait_id: str) -> Wait | None:
        """One wait by its id, open or over."""

    def events(
        self,
        *,
        agent_id: str | None = None,
        after: int | None = None,
        limit: int = 100,
        matching: EventFilter = ALL_EVENTS,
    ) -> list[StoredEvent]:
        """Events in sequence: those after a number, or else the newest; of all or of those that are chosen."""

    def event(self, agent_id: str, event_id: str) -> StoredEvent | None:
        """One event of an agent by its id."""

    def event_delivered(self, delivery_id: str) -> StoredEvent | None:
        """The event with this delivery id."""

    def hook_delays(self, since: Micros, until: Micros, limit: int) -> list[Micros]:
        """How long hooks that arrived in this time had been on their way; of many the newest."""

    def states_between(self, since: Micros, until: Micros) -> list[StateRow]:
        """The states that agents came into in this time, and the one that each was in when it began; by their time."""

    def commands_between(self, since: Micros, until: Micros) -> list[Command]:
        """The commands that began in this time, by their beginning."""

    def states(self, agent_id: str, limit: int = 50) -> list[StateRow]:
        """The newest states of an agent with their evidence, oldest of them first."""

    def search(self, query: Query, matching: SearchFilter, limit: int) -> list[SearchMatch]:
        """The newest documents that match, newest first."""

    def documents(self, ids: Collection[int]) -> dict[int, tuple[Document, str]]:
        """Documents with their texts, by number."""

    def stream(self, after: int, limit: int) -> list[StreamMessage]:
        """Announcements after a sequence number, in order."""

    def snapshot(self, agent_id: str) -> Snapshot | None:
        """Where the log of an agent begins, if it was pruned."""

    def stream_bounds(self) -> tuple[int, int]:
        """The oldest and the newest sequence number that can be replayed."""

    def last_hook_at(self, host: str) -> Micros | None:
        """When a host's newest hook event was received."""

    def counts(self) -> JournalCounts:
        """What the journal holds."""

    def efforts(self, *, only_active: bool = True, limit: int = 200) -> list[Effort]:
        """Efforts, the newest first."""

    def effort(self, effort_id: str) -> Effort | None:
        """One effort."""

    def tasks(self, limit: int = 200) -> list[Task]:
        """Tasks."""

    def effort_windows(self, effort_id: str) -> list[Window]:
        """The context windows that worked on an effort, in order."""

    def effort_messages(self, effort_id: str, limit: int = 100) -> list[Message]:
        """The newest messages of an effort, oldest of them first."""


class Position(msgspec.Struct, frozen=True):
    """How far a file was read, and the time of the newest thing in it."""

    offset: int
    at: Micros


class PositionStore(Protocol):
    """What readers of files remember."""

    def positions(self, reader: str) -> dict[str, Position]:
        """How far a reader came in each file."""

    def save_positions(self, reader: str, positions: Mapping[str, Position]) -> None:
        """Keep how far a reader came."""


class NamedToken(msgspec.Struct, frozen=True, kw_only=True):
    """Who may come in: a token's name, what it is good for, whose it is, and until when."""

    name: str
    scopes: tuple[str, ...]
    owner: str
    created_at: Micros
    expires_at: Micros | None = None
    last_used_at: Micros | None = None


class TokenStore(Protocol):
    """The named tokens of everybody on this journal. Of a token only its digest is known."""

    def tokens(self) -> list[NamedToken]:
        """All of them, by name."""

    def token(self, digest: str) -> NamedToken | None:
        """The one with this digest."""

    def add_token(self, token: NamedToken, digest: str) -> bool:
        """Keep a new one; False if the name is taken."""

    def remove_token(self, name: str) -> bool:
        """Forget one; False if there is none."""

    def record_token_use(self, name: str, at: Micros) -> None:
        """Note that one was used."""


class Difference(msgspec.Struct, frozen=True):
    """A projection row that does not follow from the log."""

    table: str
    id: str
    problem: str


class PruneResult(msgspec.Struct, frozen=True):
    """What pruning took, or would take: events and announcements, agents and efforts that are gone wholly."""

    events: int
    announcements: int
    agents: int
    up_to: int
    """The number up to which all announcements went."""
    efforts: int = 0


class Maintenance(Protocol):
    """What keeps a journal healthy."""

    def open(self) -> None:
        """Make it ready for use, once; raises `JournalUnavailable` while the database is away."""

    def verify(self) -> Iterator[Difference]:
        """Replay the log and compare it with the projections."""

    def rebuild(self) -> int:
        """Make the projections anew from the log; tells how many events that took."""

    def prune(self, before: Micros, *, dry_run: bool = False) -> PruneResult:
        """Take out what was received before a moment; agents that go on keep a snapshot of where they were."""

    def storage_problem(self) -> str:
        """What is the matter with the place where it is kept, as far as that is seen at once; else nothing."""

    def abort_connections(self) -> None:
        """Wait no longer for a database that does not answer; whoever does is told that it is away."""

    def close(self) -> None:
        """Let go of the database, cleanly."""


class Journal(Writer, Reader, PositionStore, TokenStore, Maintenance, Protocol):
    """All of it: what is remembered."""
