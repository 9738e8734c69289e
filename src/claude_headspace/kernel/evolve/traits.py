"""Facts that change a single trait of the agent: its context, model, directory, list of things to do, name."""

from claude_headspace.kernel import facts
from claude_headspace.kernel.evolve.change import Change
from claude_headspace.kernel.facts import Meta

REMEMBERED_TODOS = 100


def compaction_started(change: Change, meta: Meta, fact: facts.CompactionStarted) -> None:
    """An automatic compaction may come to nothing, and the agent works anyway: only a manual one is a state."""
    if fact.trigger == "manual":
        change.why = "compacts its context"
        change.agent.compacting_at = max(change.agent.compacting_at, meta.at)


def compaction_finished(change: Change, meta: Meta, _fact: facts.CompactionFinished) -> None:
    """The context is compacted, and the agent is what it was before."""
    change.why = "has compacted its context"
    change.agent.compacted_at = max(change.agent.compacted_at, meta.at)


def model_switched(change: Change, _meta: Meta, fact: facts.ModelSwitched) -> None:
    """Another model answers."""
    change.agent.model = fact.model or change.agent.model


def directory_changed(change: Change, _meta: Meta, fact: facts.DirectoryChanged) -> None:
    """The agent works in another directory."""
    change.agent.cwd = fact.cwd or change.agent.cwd


def todo_added(change: Change, _meta: Meta, fact: facts.TodoAdded) -> None:
    """The agent's list grew."""
    change.agent.todos = _with(change.agent.todos, fact.task_id)


def todo_done(change: Change, _meta: Meta, fact: facts.TodoDone) -> None:
    """The agent's list has one thing less to do, even if nobody told that it was put there."""
    change.agent.todos = _with(change.agent.todos, fact.task_id)
    change.agent.todos_done = _with(change.agent.todos_done, fact.task_id)


def _with(ids: tuple[str, ...], one: str) -> tuple[str, ...]:
    return ids if one in ids else (*ids[1 - REMEMBERED_TODOS :], one)


def renamed(change: Change, _meta: Meta, fact: facts.AgentRenamed) -> None:
    """A person gave the agent another name."""
    change.agent.name = fact.name or change.agent.name


def observed(_change: Change, _meta: Meta, _fact: facts.Observed) -> None:
    """Only a sign of life."""
