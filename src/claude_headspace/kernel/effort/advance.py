"""Apply one event to its effort: the same code for the engine and for a replay. Pure."""

from collections.abc import Callable

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort import acts
from claude_headspace.kernel.effort.evolve import apply_act, apply_advice, evolve, start_effort
from claude_headspace.kernel.effort.model import Effort, EffortChange, Task, task_id
from claude_headspace.kernel.effort.snapshot import NO_EFFORTS, EffortsSnapshot
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.facts import Event

FindEffort = Callable[[str], Effort | None]
FindTask = Callable[[str], Task | None]


def process_act(envelope: Envelope, find_effort: FindEffort, find_task: FindTask) -> EffortChange | None:
    """Apply an act to its effort; None if the effort is unknown."""
    act = acts.decode_act(envelope)
    if isinstance(act, acts.EffortStarted):
        return start_effort(act, find_task(task_id(act.host, act.task_dir)), envelope.fired_at)
    effort = find_effort(act.effort_id)
    return apply_act(effort, act, envelope) if effort is not None else None


def process_hook(envelope: Envelope, event: Event, agent: Agent, find_effort: FindEffort) -> EffortChange | None:
    """Apply a hook to the effort that was stored with it when it arrived; None without an effort."""
    effort = find_effort(envelope.decisions.effort_id) if envelope.decisions.effort_id else None
    return apply_advice(evolve(effort, event, agent), event, agent) if effort is not None else None


class EffortReplay:
    """The efforts of a log, replayed from its beginning or from a snapshot."""

    def __init__(self, snapshot: EffortsSnapshot = NO_EFFORTS) -> None:
        self.efforts: dict[str, Effort] = {stored.effort.id: stored.effort for stored in snapshot.efforts}
        self.tasks: dict[str, Task] = {task.id: task for task in snapshot.tasks}
        self._snapshot_seq = snapshot.seq

    def apply(self, seq: int, envelope: Envelope, event: Event, agent: Agent | None) -> EffortChange | None:
        """Apply the next event. `agent` is the event's agent after it, if there is one."""
        if seq <= self._snapshot_seq:
            return None
        if envelope.origin is Origin.OPERATOR and envelope.name in acts.ACTS:
            change = process_act(envelope, self.efforts.get, self.tasks.get)
        elif agent is not None and envelope.decisions.effort_id:
            change = process_hook(envelope, event, agent, self.efforts.get)
        else:
            return None
        if change is not None:
            self.efforts[change.effort.id] = change.effort
            if change.task is not None:
                self.tasks[change.task.id] = change.task
        return change
