"""One batch of the engine: envelopes worked through one after the other, each seeing what the ones before it changed.

decode → correlate → decide → evolve → react, in one transaction that is not committed here.

Rules
- One event that cannot be understood is kept as it is, with the reason; it never spoils its batch.
- Nothing here waits, and nothing outlives the batch.
"""

import asyncio
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import TypeVar

import msgspec
import structlog

from claude_headspace.clients.decode import decode
from claude_headspace.engine.effort_batch import EffortBatch
from claude_headspace.errors import BadRequest, HeadspaceError, JournalUnavailable
from claude_headspace.kernel.acts import AgentClosed, caused_by
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.answers import too_late
from claude_headspace.kernel.claude_os.session_notice import NO_CARE, Care
from claude_headspace.kernel.correlate import (
    CLAIMABLE_AFTER_END,
    Correlation,
    Found,
    Identity,
    Strategy,
    ancestors,
    correlate,
    identities,
    is_replaced_in_pane,
    project_at,
)
from claude_headspace.kernel.creation import claimed_identities, create_agent
from claude_headspace.kernel.decide import Judge, abstain, with_verdict
from claude_headspace.kernel.effort.acts import is_act
from claude_headspace.kernel.effort.resolve import has_live_client
from claude_headspace.kernel.envelope import Envelope, Origin, decided
from claude_headspace.kernel.evolve import evolve
from claude_headspace.kernel.evolve.notifications import notification_conflict
from claude_headspace.kernel.facts import AgentRegistered, AgentRenamed, Event
from claude_headspace.kernel.hooks import PROBE
from claude_headspace.kernel.mission.assignment import assign
from claude_headspace.kernel.names import suggest_names
from claude_headspace.kernel.policy.verdict import ABSTAIN
from claude_headspace.kernel.react import react
from claude_headspace.kernel.replay import NOT_UNDERSTOOD
from claude_headspace.ports import (
    LockScope,
    Outcome,
    Record,
    StoredDelivery,
    Transaction,
)

log = structlog.get_logger(__name__)

Given = TypeVar("Given")
Made = TypeVar("Made")

PANE_REUSED = "another client began in its pane"
NAMES_TRIED_AT_ONCE = 8


class Submission(msgspec.Struct):
    """An envelope in the queue of the writer, with the future of its outcome."""

    envelope: Envelope
    agent_id: str | None
    future: "asyncio.Future[Outcome]"
    event: Event | None = None
    """The decoded envelope, if the sender decoded it."""
    announce: bool = True
    """Whether the changes are published. An import of old events publishes nothing."""
    expects_reply: bool = False
    """Whether the sender waits for the reply and acts on it."""
    trusted: bool = True
    """Whether only the user can send through this entry. Untrusted events count for no effort."""
    reply_reaches_client: bool = False
    """Whether the reply goes to the client itself, which can receive context with it."""

    @property
    def can_inject(self) -> bool:
        """Whether context can be injected with the reply. A sender that timed out has been answered without it."""
        return self.reply_reaches_client and not self.future.done()


Result = Outcome | HeadspaceError

ChooseNotices = Callable[[Agent, Event], Care]
"""Chooses the session notices of an agent, as it was before an event."""

NOTICES_FAILED = "the session notices failed: "
"""Prefix of the anomaly of an event whose session notices could not be chosen."""


def no_notices(_agent: Agent, _event: Event) -> Care:
    """No session notices."""
    return NO_CARE


class BatchRules(msgspec.Struct, frozen=True):
    """What a batch cannot derive from its events: verdicts, session notices, new ids."""

    judge: Judge = abstain
    choose_notices: ChooseNotices = no_notices
    new_id: Callable[[], str] = lambda: str(uuid.uuid4())


DEFAULT_RULES = BatchRules()


class Opened(msgspec.Struct):
    """An envelope with what it says: the event, what it can be recognised by, what its client descends from."""

    submission: Submission
    event: Event
    known: dict[str, Identity]
    ancestors: list[Identity]
    project_id: str | None
    """Where its agent is looked for should nobody know it: only hooks are told by their directory."""

    @property
    def envelope(self) -> Envelope:
        """What arrived."""
        return self.submission.envelope


class Batch:
    """Works envelopes through, one after the other; each sees what the ones before it changed."""

    def __init__(self, transaction: Transaction, rules: BatchRules = DEFAULT_RULES) -> None:
        self._transaction = transaction
        self._rules = rules
        self._agents: dict[str, Agent] = {}
        self._owners: dict[Identity, str] = {}
        self._outcomes: dict[str, Outcome] = {}
        self._delivered: dict[str, StoredDelivery] = {}
        # Not a method of ours: everything that a batch worked on would stay until the collector finds the cycle.
        self._efforts = EffortBatch(transaction, partial(_is_alive, transaction, self._agents))
        self.records: list[Record] = []
        self.changed: dict[str, Agent] = {}
        """The agents that changed, without those whose events are not announced."""

    def process(self, submissions: Sequence[Submission]) -> list[Result]:
        """Hold what all of them are about, then take one after the other."""
        read = [_attempt(_opened, submission, submission.envelope.name) for submission in submissions]
        touched = _touched([each for each in read if isinstance(each, Opened)])
        self._transaction.lock(touched)
        self._delivered = self._transaction.find_deliveries(touched.delivery_ids) if touched.delivery_ids else {}
        return [_attempt(self._take, each, each.envelope.name) if isinstance(each, Opened) else each for each in read]

    def _take(self, opened: Opened) -> Result:
        """Work one envelope through."""
        envelope, event, known = opened.envelope, opened.event, opened.known
        if (stored := self._known_delivery(envelope, event)) is not None:
            return stored
        if envelope.name == PROBE:
            return self._keep_probe(envelope, event)
        if is_act(envelope):
            return self._act(envelope, event)
        found = self._find([*known.values(), *opened.ancestors])
        try:
            agent, strategy, envelope = self._whose(opened, found)
            self._refuse_taken_name(agent, event)
            _refuse_late_answer(agent, event)
            _refuse_second_call(agent, event)
        except HeadspaceError as refusal:
            return refusal
        outcome = self._apply(envelope, event, agent, strategy, found, opened.submission)
        self._clear_pane(opened, outcome.agent, found)
        return outcome

    def _clear_pane(self, opened: Opened, newcomer: Agent, found: dict[Identity, Found]) -> None:
        """Whoever was in the client's pane before is gone."""
        before = found.get(opened.known["pane"]) if "pane" in opened.known else None
        if before is None or not is_replaced_in_pane(before.agent, newcomer, opened.event):
            return
        closing = caused_by(opened.envelope, AgentClosed(reason=PANE_REUSED), "pane")
        submission = Submission(closing, before.agent.id, opened.submission.future, announce=opened.submission.announce)
        self._apply(closing, decode(closing), self._agent(before.agent.id), Strategy.ADDRESSED, {}, submission)

    def _known_delivery(self, envelope: Envelope, event: Event) -> Outcome | None:
        delivery_id = envelope.delivery_id
        if delivery_id is None:
            return None
        if delivery_id in self._outcomes:
            return msgspec.structs.replace(self._outcomes[delivery_id], duplicate=True)
        stored = self._delivered.get(delivery_id)
        if stored is None:
            return None
        agent = self._agent(stored.agent_id) or create_agent(stored.agent_id, envelope, event)
        return Outcome(agent, stored.strategy, duplicate=True)

    def _whose(self, opened: Opened, found: dict[Identity, Found]) -> tuple[Agent | None, Strategy, Envelope]:
        """The agent of the event; None with an envelope that says how a new one begins."""
        agent_id, envelope = opened.submission.agent_id, opened.envelope
        if agent_id is not None:
            agent = self._agent(agent_id)
            if agent is None:
                raise BadRequest("unknown_agent", f"There is no agent {agent_id}.", "See `headspace list`.", status=404)
            return agent, Strategy.ADDRESSED, envelope
        if isinstance(opened.event.fact, AgentRegistered):
            return None, Strategy.NEW, envelope
        correlation = self._correlate(opened, found)
        if correlation.parent_id is not None:
            envelope = decided(envelope, parent_id=correlation.parent_id)
        return correlation.agent, correlation.strategy, envelope

    def _correlate(self, opened: Opened, found: dict[Identity, Found]) -> Correlation:
        named = {kind: found[identity] for kind, identity in opened.known.items() if identity in found}
        parents = [found[identity].agent for identity in opened.ancestors if identity in found]
        nearby = self._nearby(opened) if "session" not in named else []
        return correlate(opened.envelope, opened.event, named, parents, nearby)

    def _nearby(self, opened: Opened) -> list[Agent]:
        project_id = opened.project_id
        if project_id is None:
            return []
        stored = self._transaction.claimable_agents(project_id, opened.envelope.fired_at - CLAIMABLE_AFTER_END)
        ours = {agent.id: agent for agent in stored}
        ours |= {agent.id: agent for agent in self._agents.values() if agent.project.id == project_id}
        return sorted(ours.values(), key=lambda agent: agent.last_active_at, reverse=True)

    def _find(self, wanted: list[Identity]) -> dict[Identity, Found]:
        found = self._transaction.agents_by_identity([identity for identity in wanted if identity not in self._owners])
        for identity, stored in found.items():
            if stored.agent.id in self._agents:
                found[identity] = Found(self._agents[stored.agent.id], stored.in_memory)
        for identity in wanted:
            if identity in self._owners:
                found[identity] = Found(self._agents[self._owners[identity]], True)
        return found

    def _agent(self, agent_id: str) -> Agent | None:
        return _agent(self._transaction, self._agents, agent_id)

    def _refuse_taken_name(self, agent: Agent | None, event: Event) -> None:
        if isinstance(event.fact, AgentRenamed | AgentRegistered):
            name = event.fact.name
            if name and (agent is None or name != agent.name) and self._taken([name]):
                raise BadRequest("name_taken", f"Another agent is called {name}.", "Choose another name.", status=409)

    def _taken(self, names: list[str]) -> set[str]:
        ours = {agent.name for agent in self._agents.values() if agent.ended_at is None}
        return self._transaction.names_in_use(names) | ours.intersection(names)

    def _free_name(self, agent_id: str) -> str:
        choices = suggest_names(agent_id)
        while True:
            some = list(islice(choices, NAMES_TRIED_AT_ONCE))
            taken = self._taken(some)
            if free := next((name for name in some if name not in taken), None):
                return free

    def _apply(
        self,
        envelope: Envelope,
        event: Event,
        agent: Agent | None,
        strategy: Strategy,
        found: dict[Identity, Found],
        submission: Submission,
    ) -> Outcome:
        """Decide, evolve, react. What cannot be understood is kept as it is and changes nothing."""
        before = agent
        if agent is None:
            agent_id = self._rules.new_id()
            given = event.fact.name if isinstance(event.fact, AgentRegistered) else ""
            envelope = decided(envelope, assigned_name=given or self._free_name(agent_id))
            agent = create_agent(agent_id, envelope, event)
        envelope = self._ordered(envelope, event, agent, trusted=submission.trusted)
        owned = {identity for identity, owner in found.items() if owner.agent.id == agent.id}
        claimed = [identity for identity in claimed_identities(agent, envelope, event) if identity not in owned]
        record = Record(
            envelope=envelope,
            agent_id=agent.id,
            strategy=strategy,
            anomaly=None,
            change=None,
            claims=claimed,
            publish=(),
            event=event,
        )
        verdict = ABSTAIN
        try:
            verdict = envelope.decisions.verdict or self._rules.judge(envelope, agent)
            care, notices_failed = self._cared(agent, event) if submission.can_inject else (NO_CARE, "")
            envelope = record.envelope = _told(with_verdict(envelope, verdict), care)
            change = evolve(agent, msgspec.structs.replace(event, decisions=envelope.decisions))
            record.change, record.publish = change, react(before, change) if submission.announce else ()
            record.anomaly = "; ".join(filter(None, (*change.anomalies, notices_failed))) or None
            agent = change.agent
            if submission.announce:
                self.changed[agent.id] = agent
        except Exception as error:
            log.exception("event_not_understood", event_name=envelope.name, agent=agent.id)
            record.anomaly = f"{NOT_UNDERSTOOD}{type(error).__name__}"
            record.claims = ()
            return self._remember(record, Outcome(agent, strategy, verdict))
        outcome = Outcome(agent, strategy, verdict, care=care)
        if not submission.trusted:
            return self._keep(record, agent, outcome)
        return self._serve_effort(record, event, outcome, expects_reply=submission.expects_reply)

    def _cared(self, agent: Agent, event: Event) -> tuple[Care, str]:
        """What the agent is told of itself; a mistake there says nothing, and is noted."""
        try:
            return self._rules.choose_notices(agent, event), ""
        except Exception as error:
            log.exception("session_not_attended_to", event_name=event.meta.name, agent=agent.id)
            return NO_CARE, f"{NOTICES_FAILED}{type(error).__name__}"

    def _ordered(self, envelope: Envelope, event: Event, agent: Agent, *, trusted: bool) -> Envelope:
        """The envelope with the mode and the mission that count for its client."""
        if envelope.origin is not Origin.HOOK:
            return envelope
        parent_id = agent.parent_id or envelope.decisions.parent_id
        parent = self._agent(parent_id) if parent_id else None
        mode, mission_id = assign(event, agent, parent, trusted=trusted)
        return decided(envelope, mode=mode, mission_id=mission_id) if mode or mission_id else envelope

    def _serve_effort(self, record: Record, event: Event, outcome: Outcome, *, expects_reply: bool) -> Outcome:
        """Let the effort that the event belongs to, if any, take it in and say what it has to."""
        followed = self._efforts.follow(record.envelope, event, outcome.agent, expects_reply=expects_reply)
        if followed is None:
            return self._keep(record, outcome.agent, outcome)
        record.envelope, record.efforts = followed.envelope, (followed.change,) if followed.change else ()
        record.anomaly = "; ".join(filter(None, (record.anomaly, followed.anomaly))) or None
        record.publish = (*record.publish, *followed.news)
        advice = followed.envelope.decisions.advice
        effort = followed.coordinator
        coordinator = (effort.owner or effort.holder or effort.id) if effort is not None else None
        served = msgspec.structs.replace(outcome, effort=followed.outcome, advice=advice, coordinator=coordinator)
        kept = self._keep(record, outcome.agent, served)
        self.records += followed.records
        return kept

    def _act(self, envelope: Envelope, event: Event) -> Result:
        """What somebody did to an effort changes no agent."""
        try:
            record, outcome = self._efforts.act(envelope)
        except HeadspaceError as refusal:
            return refusal
        return self._remember(record, Outcome(create_agent("", envelope, event), Strategy.EFFORT, effort=outcome))

    def _keep_probe(self, envelope: Envelope, event: Event) -> Outcome:
        """A test of the way in is written down and changes nothing."""
        nobody = create_agent("", envelope, event)
        record = Record(
            envelope=envelope,
            agent_id=nobody.id,
            strategy=Strategy.NOBODY,
            anomaly=None,
            change=None,
            claims=(),
            publish=(),
        )
        return self._remember(record, Outcome(nobody, Strategy.NOBODY))

    def _keep(self, record: Record, agent: Agent, outcome: Outcome) -> Outcome:
        self._agents[agent.id] = agent
        for identity in record.claims:
            self._owners[identity] = agent.id
        return self._remember(record, outcome)

    def _remember(self, record: Record, outcome: Outcome) -> Outcome:
        self.records.append(record)
        if record.envelope.delivery_id is not None:
            self._outcomes[record.envelope.delivery_id] = outcome
        return outcome


def _agent(transaction: Transaction, ours: Mapping[str, Agent], agent_id: str) -> Agent | None:
    """An agent as the batch left it so far, or as it is stored."""
    return ours.get(agent_id) or transaction.agents_by_id([agent_id]).get(agent_id)


def _is_alive(transaction: Transaction, ours: Mapping[str, Agent], agent_id: str) -> bool:
    agent = _agent(transaction, ours, agent_id)
    return agent is not None and has_live_client(agent)


def _opened(submission: Submission) -> Opened:
    envelope = submission.envelope
    event = submission.event or decode(envelope)
    return Opened(submission, event, identities(envelope, event), ancestors(envelope), _project_of(envelope, event))


def _project_of(envelope: Envelope, event: Event) -> str | None:
    if envelope.origin is not Origin.HOOK or event.session_only:
        return None
    project = project_at(envelope.host, envelope.observations.project_root or event.meta.cwd)
    return project.id if project.root else None


def _touched(batch: Sequence[Opened]) -> LockScope:
    """What a batch is about."""
    return LockScope(
        delivery_ids=frozenset(each.envelope.delivery_id for each in batch if each.envelope.delivery_id),
        identities=frozenset(chain.from_iterable((*each.known.values(), *each.ancestors) for each in batch)),
        agent_ids=frozenset(each.submission.agent_id for each in batch if each.submission.agent_id),
        new_sessions=frozenset(
            (each.known.get("session"), each.project_id, each.envelope.fired_at) for each in batch if each.project_id
        ),
    )


def _attempt(step: Callable[[Given], Made], given: Given, event_name: str) -> Made | HeadspaceError:
    """One step with one envelope; a mistake of ours is told to its sender and spoils nobody else's."""
    try:
        return step(given)
    except JournalUnavailable:
        raise
    except Exception as error:
        log.exception("event_not_stored", event_name=event_name)
        return unavailable(error)


def _told(envelope: Envelope, care: Care) -> Envelope:
    """An envelope that tells what was said in return, where something was."""
    return envelope if care == NO_CARE else decided(envelope, session_notice=care)


def _refuse_late_answer(agent: Agent | None, event: Event) -> None:
    """The first answer counts; here nobody can come in between."""
    if agent is not None and (objection := too_late(agent, event)) is not None:
        raise BadRequest("too_late", objection, "See `headspace show` for what it waits for now.", status=409)


def _refuse_second_call(agent: Agent | None, event: Event) -> None:
    """A need is announced once, whichever daemon is about to."""
    if agent is not None and (reason := notification_conflict(agent, event)) is not None:
        raise BadRequest("already_called", reason, "See `headspace notify list`.", status=409)


def unavailable(error: Exception) -> HeadspaceError:
    """The refusal that whoever handed something in is told."""
    if isinstance(error, HeadspaceError):
        return error
    return JournalUnavailable("journal_unavailable", f"The event could not be stored: {error}", "See `headspace logs`.")
