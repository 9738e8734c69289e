"""One batch: the events of one transaction, processed one after the other. Each sees what the ones before it changed.

decode → correlate → judge → evolve → react → effort, for each event. The writer commits.

Rules
- An event that cannot be understood is stored as it is, with the reason. It never affects the rest of its batch.
- A refused act (a name in use, a late answer) is an error for its sender alone, and is not stored.
- Nothing here waits, and nothing outlives the batch.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TypeVar

import msgspec
import structlog

from claude_headspace.clients.decode import decode
from claude_headspace.engine.effort_batch import EffortBatch
from claude_headspace.engine.submission import DEFAULT_FUNCTIONS, BatchFunctions, Result, Submission, unavailable
from claude_headspace.errors import BadRequest, HeadspaceError, JournalUnavailable
from claude_headspace.kernel.act_events import caused_by
from claude_headspace.kernel.acts import AgentClosed, AgentRenamed
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.claude_os.notices import FACTS_WITH_NOTICE
from claude_headspace.kernel.claude_os.session_notice import NO_NOTICE, SessionNotice
from claude_headspace.kernel.correlate import (
    CLAIMABLE_AFTER_END,
    NO_SESSION,
    CorrelationKeys,
    Found,
    Identity,
    Strategy,
    belongs_to_nobody,
    claimed_identities,
    correlate,
    correlation_keys,
    create_agent,
    is_replaced_in_pane,
    names_other_process,
)
from claude_headspace.kernel.effort.acts import ACTS as EFFORT_ACTS
from claude_headspace.kernel.effort.resolve import has_live_client
from claude_headspace.kernel.envelope import Envelope, Micros, Origin, decided
from claude_headspace.kernel.evolve import evolve
from claude_headspace.kernel.evolve.notifications import notification_conflict
from claude_headspace.kernel.facts import AgentRegistered, Event, SessionStarted
from claude_headspace.kernel.hooks import PROBE
from claude_headspace.kernel.mission.assignment import as_declared, assign
from claude_headspace.kernel.names import suggest_names
from claude_headspace.kernel.policy.verdict import ABSTAIN, Verdict
from claude_headspace.kernel.react import react
from claude_headspace.kernel.replay import NOT_UNDERSTOOD
from claude_headspace.kernel.wait.answers import too_late
from claude_headspace.ports import LockScope, Outcome, Record, StoredDelivery, Transaction

log = structlog.get_logger(__name__)

Input = TypeVar("Input")
Output = TypeVar("Output")

NAMES_PER_TRY = 8
OTHER_PROCESS = "names another process than the client, which still runs"
"""The anomaly of a hook whose process was not accepted."""
PANE_REUSED = "another client started in its pane"
NOTICES_FAILED = "the session notices failed: "
"""Prefix of the anomaly of an event whose session notices could not be chosen."""


class Item(msgspec.Struct):
    """A submission with its event, and what the event can be correlated by."""

    submission: Submission
    envelope: Envelope
    event: Event
    keys: CorrelationKeys


@dataclass
class BatchAgents:
    """The agents as a batch sees them: as they are stored, or as earlier events of the same batch changed them."""

    _transaction: Transaction
    _agents: dict[str, Agent] = field(default_factory=dict)
    _owners: dict[Identity, str] = field(default_factory=dict)

    def update(self, agent: Agent, claims: Iterable[Identity]) -> None:
        """An event of the batch changed an agent, and gave it these identities."""
        self._agents[agent.id] = agent
        for identity in claims:
            self._owners[identity] = agent.id

    def get(self, agent_id: str) -> Agent | None:
        """One agent by its id."""
        return self._agents.get(agent_id) or self._transaction.agents_by_id([agent_id]).get(agent_id)

    def has_live_client(self, agent_id: str) -> bool:
        """Whether an agent is there and has not ended."""
        agent = self.get(agent_id)
        return agent is not None and has_live_client(agent)

    def find(self, identities: list[Identity]) -> dict[Identity, Found]:
        """The agents that have these identities."""
        unknown = [identity for identity in identities if identity not in self._owners]
        found = self._transaction.agents_by_identity(unknown)
        for identity, stored in found.items():
            if stored.agent.id in self._agents:
                found[identity] = Found(self._agents[stored.agent.id], stored.in_memory)
        for identity in identities:
            if identity in self._owners:
                found[identity] = Found(self._agents[self._owners[identity]], True)
        return found

    def claimable(self, project_id: str, ended_since: Micros) -> list[Agent]:
        """The agents of a project that a new session may belong to, the most recently active first."""
        agents = {agent.id: agent for agent in self._transaction.claimable_agents(project_id, ended_since)}
        agents |= {agent.id: agent for agent in self._agents.values() if agent.project.id == project_id}
        return sorted(agents.values(), key=lambda agent: agent.last_active_at, reverse=True)

    def names_in_use(self, names: list[str]) -> set[str]:
        """Those of these names that a living agent has."""
        changed = {agent.name for agent in self._agents.values() if agent.ended_at is None}
        return self._transaction.names_in_use(names) | changed.intersection(names)

    def free_name(self, agent_id: str) -> str:
        """A name for a new agent."""
        choices = suggest_names(agent_id)
        while True:
            names = list(islice(choices, NAMES_PER_TRY))
            in_use = self.names_in_use(names)
            if free := next((name for name in names if name not in in_use), None):
                return free


class Batch:
    """Processes the events of one transaction."""

    def __init__(self, transaction: Transaction, functions: BatchFunctions = DEFAULT_FUNCTIONS) -> None:
        self._transaction = transaction
        self._functions = functions
        self._agents = BatchAgents(transaction)
        self._efforts = EffortBatch(transaction, self._agents.has_live_client)
        self._deliveries: dict[str | None, StoredDelivery | Outcome] = {}
        """By delivery id: what is stored, and the outcomes of this batch."""
        self.records: list[Record] = []
        self.changed: dict[str, Agent] = {}
        """The agents that changed, without those whose events are not announced."""

    def process(self, submissions: Sequence[Submission]) -> list[Result]:
        """Lock what the events are about, then process them in order."""
        items = [_try(_decode, submission, submission.envelope.name) for submission in submissions]
        decoded = [item for item in items if isinstance(item, Item)]
        delivery_ids = frozenset(item.envelope.delivery_id for item in decoded if item.envelope.delivery_id)
        if self._transaction.is_shared:
            self._transaction.lock(_lock_scope(decoded, delivery_ids))
        if delivery_ids:
            self._deliveries.update(self._transaction.find_deliveries(delivery_ids))
        return [_try(self._process, item, item.envelope.name) if isinstance(item, Item) else item for item in items]

    def _process(self, item: Item) -> Result:
        envelope, event = item.envelope, item.event
        if envelope.delivery_id in self._deliveries:
            return self._duplicate(envelope, event)
        if belongs_to_nobody(envelope, event) and item.submission.agent_id is None:
            return self._store_for_nobody(envelope, event)
        if envelope.origin is Origin.OPERATOR and envelope.name in EFFORT_ACTS:
            return self._act_on_effort(envelope, event)
        found = self._agents.find([*item.keys.identities.values(), *item.keys.ancestors])
        try:
            agent, strategy, item.envelope = self._agent_of(item, found)
            if envelope.origin is Origin.OPERATOR:
                self._check_act(agent, event)
        except HeadspaceError as refusal:
            return refusal
        if agent is not None and names_other_process(agent, envelope) and self._functions.is_client_running(agent):
            _remove_process(item)
        outcome = self._apply(item, agent, strategy, found)
        if "pane" in item.keys.identities:
            self._close_previous_in_pane(item, outcome.agent, found)
        return outcome

    def _duplicate(self, envelope: Envelope, event: Event) -> Outcome:
        """The outcome of a delivery that was processed before."""
        earlier = self._deliveries[envelope.delivery_id]
        if isinstance(earlier, Outcome):
            return msgspec.structs.replace(earlier, duplicate=True)
        agent = self._agents.get(earlier.agent_id) or create_agent(earlier.agent_id, envelope, event)
        return Outcome(agent, earlier.strategy, duplicate=True)

    # --- correlate ---

    def _agent_of(self, item: Item, found: dict[Identity, Found]) -> tuple[Agent | None, Strategy, Envelope]:
        """The agent of an event, how it was found, and the envelope with that decision. None: a new agent."""
        agent_id = item.submission.agent_id
        if agent_id is not None:
            agent = self._agents.get(agent_id)
            if agent is None:
                raise BadRequest("unknown_agent", f"There is no agent {agent_id}.", "See `headspace list`.", status=404)
            return agent, Strategy.ADDRESSED, item.envelope
        keys, envelope = item.keys, item.envelope
        named = {kind: found[identity] for kind, identity in keys.identities.items() if identity in found}
        if isinstance(item.event.fact, AgentRegistered):
            registered = named["headspace"].agent if "headspace" in named else None
            return registered, Strategy.HEADSPACE_ID if registered else Strategy.NEW, envelope
        parents = [found[identity].agent for identity in keys.ancestors if identity in found]
        nearby: list[Agent] = []
        if "session" not in named and (project_id := keys.project_id) is not None:
            nearby = self._agents.claimable(project_id, envelope.fired_at - CLAIMABLE_AFTER_END)
        correlation = correlate(envelope, item.event, named, parents, nearby)
        if correlation.parent_id is not None:
            envelope = decided(envelope, parent_id=correlation.parent_id)
        return correlation.agent, correlation.strategy, envelope

    def _check_act(self, agent: Agent | None, event: Event) -> None:
        """Refuse an act that cannot be done. Nothing else can happen between this check and the act."""
        if isinstance(event.fact, AgentRenamed | AgentRegistered):
            name = event.fact.name
            if name and (agent is None or name != agent.name) and self._agents.names_in_use([name]):
                raise BadRequest("name_taken", f"Another agent is called {name}.", "Choose another name.", status=409)
        if agent is None:
            return
        if (reason := too_late(agent, event)) is not None:
            raise BadRequest("too_late", reason, "See `headspace show` for what it waits for now.", status=409)
        if (reason := notification_conflict(agent, event)) is not None:
            raise BadRequest("already_called", reason, "See `headspace notify list`.", status=409)

    # --- judge, evolve, react ---

    def _apply(self, item: Item, before: Agent | None, strategy: Strategy, found: dict[Identity, Found]) -> Outcome:
        """Apply an event to its agent. One that cannot be understood is stored as it is and changes nothing."""
        event, submission = item.event, item.submission
        agent, envelope = self._assign(item, before)
        owned = {identity for identity, owner in found.items() if owner.agent.id == agent.id}
        record = Record(
            envelope=envelope,
            agent_id=agent.id,
            strategy=strategy,
            anomaly=None,
            change=None,
            claims=[each for each in claimed_identities(agent, envelope, item.keys.identities) if each not in owned],
            publish=(),
            event=event,
        )
        verdict: Verdict = ABSTAIN
        try:
            begins = agent.session is None or agent.session.client_id != event.meta.session_id
            declared = as_declared(agent, envelope, event) if begins else agent
            verdict = envelope.decisions.verdict or self._functions.judge(envelope, declared)
            can_inject = submission.reply_reaches_client and not submission.future.done()  # done: it timed out
            has_notice = can_inject and isinstance(event.fact, FACTS_WITH_NOTICE)
            notices, failure = self._notices(declared, event) if has_notice else (NO_NOTICE, "")
            if verdict is not ABSTAIN:
                envelope = decided(envelope, verdict=verdict)
            if notices != NO_NOTICE:
                envelope = decided(envelope, session_notice=notices)
            record.envelope = envelope
            change = evolve(agent, msgspec.structs.replace(event, decisions=envelope.decisions))
            record.change, record.publish = change, react(before, change) if submission.announce else ()
            record.anomaly = "; ".join(filter(None, (*change.anomalies, failure))) or None
        except Exception as error:
            log.exception("event_processing_failed", event_name=envelope.name, agent=agent.id)
            record.anomaly = f"{NOT_UNDERSTOOD}{type(error).__name__}"
            record.claims = ()
            return self._add(record, Outcome(agent, strategy, verdict))
        if submission.announce:
            self.changed[agent.id] = change.agent
        outcome = Outcome(change.agent, strategy, verdict, session_notice=notices)
        outcome = self._apply_to_effort(record, event, outcome, submission)
        self._agents.update(change.agent, record.claims)
        return outcome

    def _assign(self, item: Item, agent: Agent | None) -> tuple[Agent, Envelope]:
        """The agent, created if it is new, and the envelope with its name, mode and mission."""
        envelope, event = item.envelope, item.event
        if agent is None:
            agent_id = self._functions.new_id()
            given = event.fact.name if isinstance(event.fact, AgentRegistered) else ""
            envelope = decided(envelope, assigned_name=given or self._agents.free_name(agent_id))
            agent = create_agent(agent_id, envelope, event)
        if envelope.origin is not Origin.HOOK:
            return agent, envelope
        parent_id = agent.parent_id or envelope.decisions.parent_id
        declares = event.observations.declared_mode or event.observations.declared_mission_id
        if not declares and parent_id is None and not isinstance(event.fact, SessionStarted):
            return agent, envelope
        parent = self._agents.get(parent_id) if parent_id else None
        mode, mission_id = assign(event, agent, parent, trusted=item.submission.trusted)
        return agent, decided(envelope, mode=mode, mission_id=mission_id) if mode or mission_id else envelope

    def _notices(self, agent: Agent, event: Event) -> tuple[SessionNotice, str]:
        """The session notices of an agent. A failure is recorded as an anomaly."""
        try:
            return self._functions.choose_notices(agent, event), ""
        except Exception as error:
            log.exception("session_notices_failed", event_name=event.meta.name, agent=agent.id)
            return NO_NOTICE, f"{NOTICES_FAILED}{type(error).__name__}"

    def _close_previous_in_pane(self, item: Item, agent: Agent, found: dict[Identity, Found]) -> None:
        """A client that started in a pane replaces the one that was there."""
        previous = found.get(item.keys.identities["pane"])
        if previous is None or not is_replaced_in_pane(previous.agent, agent, item.event):
            return
        closing = caused_by(item.envelope, AgentClosed(reason=PANE_REUSED), "pane")
        agent_id, submission = previous.agent.id, item.submission
        self._apply(
            _decode(Submission(closing, agent_id, submission.future, announce=submission.announce)),
            self._agents.get(agent_id),
            Strategy.ADDRESSED,
            {},
        )

    # --- efforts ---

    def _apply_to_effort(self, record: Record, event: Event, outcome: Outcome, submission: Submission) -> Outcome:
        """Apply an event to the effort that it belongs to, if any."""
        no_effort = self._transaction.is_without_efforts and not self._efforts.changed
        if no_effort or not submission.trusted:
            return self._add(record, outcome)
        result = self._efforts.apply(record.envelope, event, outcome.agent, expects_reply=submission.expects_reply)
        if result is None:
            return self._add(record, outcome)
        record.envelope, record.efforts = result.envelope, (result.change,) if result.change else ()
        record.anomaly = "; ".join(filter(None, (record.anomaly, result.anomaly))) or None
        record.publish = (*record.publish, *result.publish)
        coordinator = result.coordinator
        added = self._add(
            record,
            msgspec.structs.replace(
                outcome,
                effort=result.outcome,
                advice=result.envelope.decisions.advice,
                coordinator=(coordinator.owner or coordinator.holder or coordinator.id)
                if coordinator is not None
                else None,
            ),
        )
        self.records += result.records
        return added

    def _act_on_effort(self, envelope: Envelope, event: Event) -> Result:
        """An act on an effort changes no agent."""
        try:
            record, outcome = self._efforts.act(envelope)
        except HeadspaceError as refusal:
            return refusal
        return self._add(record, Outcome(create_agent("", envelope, event), Strategy.EFFORT, effort=outcome))

    # --- records ---

    def _store_for_nobody(self, envelope: Envelope, event: Event) -> Outcome:
        """An event without an agent is stored and changes nothing. Its tool call is judged by the rules."""
        nobody = create_agent("", envelope, event)
        declared = as_declared(nobody, envelope, event)
        verdict = envelope.decisions.verdict or self._functions.judge(envelope, declared)
        record = Record(
            envelope=envelope if verdict is ABSTAIN else decided(envelope, verdict=verdict),
            agent_id=nobody.id,
            strategy=Strategy.NOBODY,
            anomaly=None if envelope.name == PROBE else event.anomaly or NO_SESSION,
            change=None,
            claims=(),
            publish=(),
        )
        return self._add(record, Outcome(nobody, Strategy.NOBODY, verdict))

    def _add(self, record: Record, outcome: Outcome) -> Outcome:
        self.records.append(record)
        if record.envelope.delivery_id is not None:
            self._deliveries[record.envelope.delivery_id] = outcome
        return outcome


def _remove_process(item: Item) -> None:
    """Remove the process from a hook: the client that is known still runs, and is never forgotten."""
    replace = msgspec.structs.replace
    observations = replace(item.envelope.observations, client_pid=None, client_started_at=None, ancestor_pids=())
    item.envelope = replace(item.envelope, observations=observations)
    item.event = replace(item.event, observations=observations, anomaly=item.event.anomaly or OTHER_PROCESS)
    item.keys.identities.pop("process", None)


def _decode(submission: Submission) -> Item:
    envelope = submission.envelope
    event = submission.event or decode(envelope)
    return Item(submission, envelope, event, correlation_keys(envelope, event))


def _lock_scope(items: Sequence[Item], delivery_ids: frozenset[str]) -> LockScope:
    """What the events are about, known before they are processed."""
    return LockScope(
        delivery_ids=delivery_ids,
        identities=frozenset(
            chain.from_iterable((*item.keys.identities.values(), *item.keys.ancestors) for item in items)
        ),
        agent_ids=frozenset(item.submission.agent_id for item in items if item.submission.agent_id),
        new_sessions=frozenset(
            (item.keys.identities.get("session"), project_id, item.envelope.fired_at)
            for item in items
            if (project_id := item.keys.project_id)
        ),
    )


def _try(step: Callable[[Input], Output], given: Input, event_name: str) -> Output | HeadspaceError:
    """One step for one event. A bug is an error for its sender, and does not affect other events."""
    try:
        return step(given)
    except JournalUnavailable:
        raise
    except Exception as error:
        log.exception("event_not_stored", event_name=event_name)
        return unavailable(error)
