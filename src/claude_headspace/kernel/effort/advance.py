"""One event's way through the efforts: the same for the engine and for a replay."""

from collections.abc import Callable

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort import acts
from claude_headspace.kernel.effort.evolve import apply, begin, evolve, settle
from claude_headspace.kernel.effort.model import Effort, EffortChange, Task, task_id
from claude_headspace.kernel.effort.snapshot import NO_EFFORTS, EffortsSnapshot
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.facts import Event

FindEffort = Callable[[str], Effort | None]
FindTask = Callable[[str], Task | None]


def act_on(envelope: Envelope, effort_of: FindEffort, task_of: FindTask) -> EffortChange | None:
    """What an act comes to; None where its effort is unknown."""
    act = acts.read(envelope)
    if isinstance(act, acts.EffortStarted):
        return begin(act, task_of(task_id(act.host, act.task_dir)), envelope.fired_at)
    effort = effort_of(act.effort_id)
    return apply(effort, act, envelope) if effort is not None else None


def follow(envelope: Envelope, event: Event, agent: Agent, effort_of: FindEffort) -> EffortChange | None:
    """What a hook comes to that was given to an effort when it arrived."""
    effort = effort_of(envelope.decisions.effort_id) if envelope.decisions.effort_id else None
    return settle(evolve(effort, event, agent), event, agent) if effort is not None else None


class Ledger:
    """The efforts of a log that is read from its beginning, or from where its snapshot says."""

    def __init__(self, before: EffortsSnapshot = NO_EFFORTS) -> None:
        self.efforts: dict[str, Effort] = {kept.effort.id: kept.effort for kept in before.efforts}
        self.tasks: dict[str, Task] = {task.id: task for task in before.tasks}
        self._told = before.seq

    def read(self, seq: int, envelope: Envelope, event: Event, agent: Agent | None) -> EffortChange | None:
        """Take in the next event; `agent` is its agent afterwards, if it has one."""
        if seq <= self._told:
            return None
        if acts.is_act(envelope):
            change = act_on(envelope, self.efforts.get, self.tasks.get)
        elif agent is not None and envelope.decisions.effort_id:
            change = follow(envelope, event, agent, self.efforts.get)
        else:
            return None
        if change is not None:
            self.efforts[change.effort.id] = change.effort
            if change.task is not None:
                self.tasks[change.task.id] = change.task
        return change
