"""The efforts of a batch: acts on efforts, and the effect of hooks on the effort that they belong to.

Rules
- The effort of an event is decided once and stored with it, and so is the advice that the client got.
- Only a hook that expects a reply gets advice. Any other hook counts, but delivers nothing.
- A bug here changes no effort and gives no advice. It is recorded as the anomaly of the event.
"""

from dataclasses import dataclass, field

import msgspec
import structlog

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.act_events import caused_by
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import Strategy, project_at
from claude_headspace.kernel.effort import acts
from claude_headspace.kernel.effort.advance import process_act
from claude_headspace.kernel.effort.advice import NO_ADVICE
from claude_headspace.kernel.effort.advise import advise
from claude_headspace.kernel.effort.evolve import apply_advice, evolve, format_team_signal, managed_teams
from claude_headspace.kernel.effort.model import Delivery, Effort, EffortChange, EffortOutcome, Task, task_id
from claude_headspace.kernel.effort.resolve import IsAlive, resolve
from claude_headspace.kernel.effort.views import effort_view
from claude_headspace.kernel.envelope import Envelope, Origin, decided
from claude_headspace.kernel.facts import ContextAdded, Event
from claude_headspace.kernel.react import Publish
from claude_headspace.ports import Record, Transaction

log = structlog.get_logger(__name__)

replace = msgspec.structs.replace

EFFORT_FAILED = "the effort was not served: "
"""Prefix of the anomaly of an event that could not be applied to its effort."""


@dataclass
class EffortBatch:
    """The efforts of one batch."""

    _transaction: Transaction
    _is_alive: IsAlive
    changed: dict[str, Effort] = field(default_factory=dict)
    """The efforts that this batch changed, by id."""
    _tasks: dict[str, Task] = field(default_factory=dict)

    # --- acts ---

    def act(self, envelope: Envelope) -> tuple[Record, EffortOutcome]:
        """Store an act on an effort. Refuses one that cannot be done."""
        envelope = self._numbered(envelope)
        act = acts.decode_act(envelope)
        if not isinstance(act, acts.EffortStarted):
            self._check(act.effort_id)
        change = process_act(envelope, self._effort, self._task)
        assert change is not None
        self._update(change)
        return _record(envelope, change), EffortOutcome(change.effort, None, tuple(change.messages))

    def _numbered(self, envelope: Envelope) -> Envelope:
        """A new effort has the next number of its task."""
        act = acts.decode_act(envelope)
        if not isinstance(act, acts.EffortStarted):
            return envelope
        task = self._task(task_id(act.host, act.task_dir))
        numbered = replace(act, ordinal=task.effort_count + 1 if task else 1)
        return replace(envelope, payload=msgspec.json.encode(numbered))

    def _check(self, effort_id: str) -> None:
        effort = self._effort(effort_id)
        if effort is None:
            raise BadRequest(
                "unknown_effort", f"There is no effort {effort_id}.", "`headspace effort list` shows them.", status=404
            )
        if not effort.is_active:
            raise BadRequest(
                "effort_finished", "That effort is finished.", "Begin another: headspace effort start SKILL", status=409
            )

    # --- hooks ---

    def apply(self, envelope: Envelope, event: Event, agent: Agent, *, expects_reply: bool) -> "AppliedToEffort | None":
        """Apply an event to the effort that it belongs to, if any. `agent` is as it is after the event."""
        may_belong = envelope.origin is Origin.HOOK or isinstance(event.fact, ContextAdded)
        try:
            if not may_belong or not self._active(envelope.host):
                return None
            return self._apply(envelope, event, agent, expects_reply=expects_reply)
        except Exception as error:
            log.exception("effort_failed", event_name=envelope.name, agent=agent.id)
            return AppliedToEffort(envelope, anomaly=f"{EFFORT_FAILED}{type(error).__name__}")

    def _apply(
        self, envelope: Envelope, event: Event, agent: Agent, *, expects_reply: bool
    ) -> "AppliedToEffort | None":
        effort = self._effort_of(envelope, event, agent)
        coordinator = self._coordinator(effort, envelope, event)
        if effort is None:
            if coordinator is None:
                return None
            return AppliedToEffort(
                envelope, records=self._signals(coordinator, envelope, event), coordinator=coordinator
            )
        change = evolve(effort, event, agent)
        session = agent.session.id if agent.session else None
        if expects_reply:
            window = change.effort.window(session, event.meta.subagent_id)
            advice = advise(change.effort, window, event)
            envelope = decided(envelope, advice=None if advice == NO_ADVICE else advice)
        envelope = decided(envelope, effort_id=effort.id)
        apply_advice(change, replace(event, decisions=envelope.decisions), agent)
        self._update(change)
        ended = next((each for each in change.windows if each.subagent_id == event.meta.subagent_id), None)
        window = change.effort.window(session, event.meta.subagent_id) or ended
        outcome = EffortOutcome(change.effort, window, tuple(change.messages))
        publish = (effort_changed(change.effort),) if _shown(effort) != _shown(change.effort) else ()
        return AppliedToEffort(
            envelope, change, outcome, publish, self._signals(coordinator, envelope, event), coordinator
        )

    def _effort_of(self, envelope: Envelope, event: Event, agent: Agent) -> Effort | None:
        """The effort of an event. A client that an agent started works for that agent, and has no effort of its own."""
        if isinstance(event.fact, ContextAdded):
            return self._confirmed(envelope.host, event.fact, agent)
        if agent.parent_id is not None and not envelope.observations.fleet_id:
            return None
        return resolve(
            self._active(envelope.host),
            directory=event.meta.cwd or agent.cwd,
            owner=envelope.observations.fleet_id,
            agent_id=agent.id,
            is_alive=self._is_alive,
        )

    def _confirmed(self, host: str, arrived: ContextAdded, agent: Agent) -> Effort | None:
        """The effort whose injections were received, or whose agent has read a file."""
        for effort in self._active(host):
            if arrived.files and effort.holder == agent.id:
                return effort
            if any(each.id in arrived.marks and each.delivery is Delivery.DELIVERED for each in effort.injections):
                return effort
        return None

    def _coordinator(self, effort: Effort | None, envelope: Envelope, event: Event) -> Effort | None:
        """The effort that gets the signals of a teammate: the manager of its effort, or else of the team."""
        if event.team_signal is None:
            return None
        active = self._active(envelope.host)
        if effort is not None and effort.manager is not None:
            named = (each for each in active if effort.manager in (each.owner, each.holder, each.id))
            return next((each for each in named if each.id != effort.id), None)
        team = event.team_signal.team
        return next((each for each in active if team and team in managed_teams(each)), None)

    def _signals(self, coordinator: Effort | None, envelope: Envelope, event: Event) -> list[Record]:
        """The injection for the coordinator, as an act after the hook."""
        text = format_team_signal(event)
        return [self._inject(coordinator, text, envelope)] if coordinator is not None and text is not None else []

    def _inject(self, effort: Effort, text: str, cause: Envelope) -> Record:
        act = acts.InjectionQueued(effort_id=effort.id, text=text, source=cause.id)
        envelope = caused_by(cause, act, "signal")
        change = process_act(envelope, self._effort, self._task)
        assert change is not None
        self._update(change)
        return _record(envelope, change)

    # --- efforts and tasks as the batch sees them ---

    def _active(self, host: str) -> list[Effort]:
        stored = {effort.id: effort for effort in self._transaction.active_efforts(host)}
        return [effort for effort in (stored | self.changed).values() if effort.is_active and effort.host == host]

    def _effort(self, effort_id: str) -> Effort | None:
        return self.changed.get(effort_id) or self._transaction.effort(effort_id)

    def _task(self, wanted: str) -> Task | None:
        return self._tasks.get(wanted) or self._transaction.task(wanted)

    def _update(self, change: EffortChange) -> None:
        self.changed[change.effort.id] = change.effort
        if change.task is not None:
            self._tasks[change.task.id] = change.task


class AppliedToEffort(msgspec.Struct, frozen=True):
    """An event that was applied to its effort."""

    envelope: Envelope
    change: EffortChange | None = None
    outcome: EffortOutcome | None = None
    publish: tuple[Publish, ...] = ()
    """Messages for the stream."""
    records: list[Record] = []
    """Acts on other efforts that it caused."""
    coordinator: Effort | None = None
    """The effort that got a signal."""
    anomaly: str | None = None


def _record(envelope: Envelope, change: EffortChange) -> Record:
    return Record(
        envelope=envelope,
        agent_id=change.effort.holder or "",
        strategy=Strategy.EFFORT,
        anomaly=None,
        change=None,
        claims=(),
        publish=(effort_changed(change.effort),),
        efforts=(change,),
    )


def _shown(effort: Effort) -> object:
    """The parts of an effort whose changes are published. Counts are not: the tool calls are published themselves."""
    windows = [(window.id, window.restart_reason, window.overflow_reported) for window in effort.windows]
    deliveries = [injection.delivery for injection in effort.injections]
    return windows, deliveries, effort.directives, effort.holder


def effort_changed(effort: Effort) -> Publish:
    """The stream message about an effort."""
    project = project_at(effort.host, effort.project_root)
    data: dict[str, object] = {"agent_id": effort.holder, "project_id": project.id, "effort": effort_view(effort)}
    return Publish("effort_changed", effort.holder or "", project.id, data)
