"""Where a batch keeps its efforts: finds the one that an event belongs to, lets it advise, and keeps what came of it.

Rules
- Which effort an event belongs to is decided once and stored with it, and so is what the client was answered.
- Only who waits for an answer gets one: what is only told counts, and delivers nothing.
- A mistake of ours changes no effort, answers nothing, and leaves its mark on the event.
"""

import msgspec
import structlog

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.acts import caused_by
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

MISTAKE = "the effort was not served: "
"""How the anomaly of an event begins that its effort did not take in."""


class EffortBatch:
    """The efforts of one batch."""

    def __init__(self, transaction: Transaction, is_alive: IsAlive) -> None:
        self._transaction = transaction
        self._is_alive = is_alive
        self._efforts: dict[str, Effort] = {}
        self._tasks: dict[str, Task] = {}

    # --- acts ---

    def act(self, envelope: Envelope) -> tuple[Record, EffortOutcome]:
        """Do something to an effort; refuses what cannot be done."""
        envelope = self._numbered(envelope)
        act = acts.decode_act(envelope)
        if not isinstance(act, acts.EffortStarted):
            self._refuse_unknown(act.effort_id)
        change = process_act(envelope, self._effort, self._task)
        assert change is not None
        self._keep(change)
        return _record(envelope, change), EffortOutcome(change.effort, None, tuple(change.messages))

    def _numbered(self, envelope: Envelope) -> Envelope:
        """A new effort has the next number of its task."""
        act = acts.decode_act(envelope)
        if not isinstance(act, acts.EffortStarted):
            return envelope
        task = self._task(task_id(act.host, act.task_dir))
        numbered = replace(act, ordinal=task.effort_count + 1 if task else 1)
        return replace(envelope, payload=msgspec.json.encode(numbered))

    def _refuse_unknown(self, effort_id: str) -> None:
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

    def follow(self, envelope: Envelope, event: Event, agent: Agent, *, expects_reply: bool) -> "Followed | None":
        """Give a hook of an agent (as it is afterwards) to the effort that it belongs to, if any."""
        try:
            return self._follow(envelope, event, agent, expects_reply=expects_reply)
        except Exception as error:
            log.exception("effort_not_served", event_name=envelope.name, agent=agent.id)
            return Followed(envelope, anomaly=f"{MISTAKE}{type(error).__name__}")

    def _follow(self, envelope: Envelope, event: Event, agent: Agent, *, expects_reply: bool) -> "Followed | None":
        effort = self._effort_of(envelope, event, agent)
        coordinator = self._coordinator(effort, envelope, event)
        if effort is None:
            if coordinator is None:
                return None
            records = self._signal_records(coordinator, envelope, event)
            return Followed(envelope, records=records, coordinator=coordinator)
        change = evolve(effort, event, agent)
        session = agent.session.id if agent.session else None
        if expects_reply:
            window = change.effort.window(session, event.meta.subagent_id)
            advice = advise(change.effort, window, event)
            envelope = decided(envelope, advice=None if advice == NO_ADVICE else advice)
        envelope = decided(envelope, effort_id=effort.id)
        apply_advice(change, replace(event, decisions=envelope.decisions), agent)
        self._keep(change)
        ended = next((each for each in change.windows if each.subagent_id == event.meta.subagent_id), None)
        window = change.effort.window(session, event.meta.subagent_id) or ended
        outcome = EffortOutcome(change.effort, window, tuple(change.messages))
        has_news = _published_parts(effort) != _published_parts(change.effort)
        news = (announcement(change.effort),) if has_news else ()
        records = self._signal_records(coordinator, envelope, event)
        return Followed(envelope, change, outcome, news, records, coordinator)

    def _effort_of(self, envelope: Envelope, event: Event, agent: Agent) -> Effort | None:
        """Only hooks happen in a session; a client that an agent started works for it, and has no effort by itself."""
        if isinstance(event.fact, ContextAdded):
            return self._expecting(envelope.host, event.fact, agent)
        if envelope.origin is not Origin.HOOK or (agent.parent_id is not None and not envelope.observations.fleet_id):
            return None
        efforts = self._active(envelope.host)
        if not efforts:
            return None
        return resolve(
            efforts,
            directory=event.meta.cwd or agent.cwd,
            owner=envelope.observations.fleet_id,
            agent_id=agent.id,
            is_alive=self._is_alive,
        )

    def _expecting(self, host: str, arrived: ContextAdded, agent: Agent) -> Effort | None:
        """The effort whose injections are confirmed, or whose agent has read something."""
        for effort in self._active(host):
            if arrived.files and effort.holder == agent.id:
                return effort
            if any(each.id in arrived.marks and each.delivery is Delivery.DELIVERED for each in effort.injections):
                return effort
        return None

    def _coordinator(self, effort: Effort | None, envelope: Envelope, event: Event) -> Effort | None:
        """The effort that receives a teammate's signal: the named manager, otherwise the one that manages the team."""
        if event.team_signal is None:
            return None
        active = self._active(envelope.host)
        if effort is not None and effort.manager is not None:
            named = (each for each in active if effort.manager in (each.owner, each.holder, each.id))
            return next((each for each in named if each.id != effort.id), None)
        team = event.team_signal.team
        return next((each for each in active if team and team in managed_teams(each)), None)

    def _signal_records(self, coordinator: Effort | None, envelope: Envelope, event: Event) -> list[Record]:
        """Queue the signal as an injection for the coordinator: an act in the same batch, after the hook."""
        text = format_team_signal(event)
        return [self._inject(coordinator, text, envelope)] if coordinator is not None and text is not None else []

    def _inject(self, effort: Effort, text: str, cause: Envelope) -> Record:
        act = acts.InjectionQueued(effort_id=effort.id, text=text, source=cause.id)
        envelope = caused_by(cause, act, "signal")
        change = process_act(envelope, self._effort, self._task)
        assert change is not None
        self._keep(change)
        return _record(envelope, change)

    # --- what the batch knows ---

    def _active(self, host: str) -> list[Effort]:
        stored = {effort.id: effort for effort in self._transaction.active_efforts(host)}
        return [effort for effort in (stored | self._efforts).values() if effort.is_active and effort.host == host]

    def _effort(self, effort_id: str) -> Effort | None:
        return self._efforts.get(effort_id) or self._transaction.effort(effort_id)

    def _task(self, wanted: str) -> Task | None:
        return self._tasks.get(wanted) or self._transaction.task(wanted)

    def _keep(self, change: EffortChange) -> None:
        self._efforts[change.effort.id] = change.effort
        if change.task is not None:
            self._tasks[change.task.id] = change.task


class Followed(msgspec.Struct, frozen=True):
    """A hook with what came of it for its effort."""

    envelope: Envelope
    change: EffortChange | None = None
    outcome: EffortOutcome | None = None
    news: tuple[Publish, ...] = ()
    """What the stream is told."""
    records: list[Record] = []
    """What it caused for other efforts."""
    coordinator: Effort | None = None
    """The effort that was told of it."""
    anomaly: str | None = None


def _record(envelope: Envelope, change: EffortChange) -> Record:
    return Record(
        envelope=envelope,
        agent_id=change.effort.holder or "",
        strategy=Strategy.EFFORT,
        anomaly=None,
        change=None,
        claims=(),
        publish=(announcement(change.effort),),
        efforts=(change,),
    )


def _published_parts(effort: Effort) -> object:
    """The parts of an effort whose change is published. Counters are not: tool calls are published themselves."""
    windows = [(window.id, window.restart_reason, window.overflow_reported) for window in effort.windows]
    deliveries = [injection.delivery for injection in effort.injections]
    return windows, deliveries, effort.directives, effort.holder


def announcement(effort: Effort) -> Publish:
    """Tell the stream how an effort stands."""
    project = project_at(effort.host, effort.project_root)
    data: dict[str, object] = {"agent_id": effort.holder, "project_id": project.id, "effort": effort_view(effort)}
    return Publish("effort_changed", effort.holder or "", project.id, data)
