"""Background work: tasks that continue after the turn, from their start to their result."""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import BackgroundTask, Subagent
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.evolve.change import (
    MAX_CALLS,
    Change,
    find_subagent,
    known_subagent,
    replace,
    stop_subagent,
    store_subagent,
)


def background_started(change: Change, task: facts.Task, at: Micros) -> None:
    """A tool call started background work."""
    _store(change, _known_task(change, task, at))


def _known_task(change: Change, task: facts.Task, at: Micros) -> BackgroundTask:
    """The task with that id, or a new one. A new one has ended if it started before the list of running tasks."""
    agent = change.agent
    over = agent.background_listed_at if at < agent.background_listed_at else 0
    new = BackgroundTask(id=task.id, kind=task.kind, description=task.description, started_at=at, ended_at=over)
    return next((known for known in agent.background if known.id == task.id), new)


def background_ended(change: Change, task_id: str, at: Micros) -> None:
    """A task ended. An unknown id is stored as both a task and a sub-agent."""
    agent = change.agent
    task = next((task for task in agent.background if task.id == task_id), None)
    sub = find_subagent(agent, task_id)
    if task is not None or sub is None:
        task = task or BackgroundTask(id=task_id, kind="", description="", started_at=0)
        _store(change, replace(task, ended_at=max(task.ended_at, at)))
    if sub is None or sub.last_seen_at < at:
        stop_subagent(change, sub or Subagent(id=task_id), at)


def apply_task_list(change: Change, at: Micros, listed: tuple[facts.Task, ...] | None) -> None:
    """Apply the client's complete list of running tasks. Without a list only foreground sub-agents have ended."""
    agent = change.agent
    running = {task.id for task in listed or ()}
    for sub in agent.running_subagents:
        over = sub.id not in running if listed is not None else not sub.background
        if over and sub.last_seen_at <= at:
            stop_subagent(change, sub, at)
    if listed is None:
        return
    for task in agent.running_background:
        if task.id not in running and task.last_seen_at <= at:
            _store(change, replace(task, ended_at=at))
    for entry in listed:
        _apply_entry(change, entry, at)
    agent.background_listed_at = max(agent.background_listed_at, at)


def _apply_entry(change: Change, entry: facts.Task, at: Micros) -> None:
    if entry.kind != "subagent":
        task = _known_task(change, entry, at)
        _store(change, replace(task, listed_at=max(task.listed_at, at)))
        return
    sub = known_subagent(change.agent, entry.id, at)
    store_subagent(
        change,
        replace(
            sub,
            type=sub.type or entry.subagent_type,
            background=True,
            last_active_at=max(sub.last_active_at, at),
            description=sub.description or entry.description,
        ),
    )


def _store(change: Change, task: BackgroundTask) -> None:
    """Store a new value of a task. Above the limit, the oldest ended one is removed."""
    agent = change.agent
    others = [other for other in agent.background if other.id != task.id]
    if len(others) >= MAX_CALLS:
        others.remove(next((other for other in others if not other.is_running), others[0]))
    agent.background = (*others, task)
