"""One event's way through the efforts: the same for the engine and for a replay."""

from collections.abc import Callable

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort import acts
from claude_headspace.kernel.effort.evolve import apply_act, apply_advice, evolve, start_effort
from claude_headspace.kernel.effort.model import Effort, EffortChange, Task, task_id
from claude_headspace.kernel.effort.snapshot import NO_EFFORTS, EffortsSnapshot
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.facts import Event

FindEffort = Callable[[str], Effort | None]
FindTask = Callable[[str], Task | None]


def process_act(envelope: Envelope, find_effort: FindEffort, find_task: FindTask) -> EffortChange | None:
    """What an act comes to; None where its effort is unknown."""
    act = acts.decode_act(envelope)
    if isinstance(act, acts.EffortStarted):
        return start_effort(act, find_task(task_id(act.host, act.task_dir)), envelope.fired_at)
    effort = find_effort(act.effort_id)
    return apply_act(effort, act, envelope) if effort is not None else None


def process_hook(envelope: Envelope, event: Event, agent: Agent, find_effort: FindEffort) -> EffortChange | None:
    """What a hook comes to that was given to an effort when it arrived."""
    effort = find_effort(envelope.decisions.effort_id) if envelope.decisions.effort_id else None
    return apply_advice(evolve(effort, event, agent), event, agent) if effort is not None else None


class EffortReplay:
    """The efforts of a log that is read from its beginning, or from where its snapshot says."""

    def __init__(self, snapshot: EffortsSnapshot = NO_EFFORTS) -> None:
        self.efforts: dict[str, Effort] = {kept.effort.id: kept.effort for kept in snapshot.efforts}
        self.tasks: dict[str, Task] = {task.id: task for task in snapshot.tasks}
        self._snapshot_seq = snapshot.seq

    def apply(self, seq: int, envelope: Envelope, event: Event, agent: Agent | None) -> EffortChange | None:
        """Take in the next event; `agent` is its agent afterwards, if it has one."""
        if seq <= self._snapshot_seq:
            return None
        if acts.is_act(envelope):
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
