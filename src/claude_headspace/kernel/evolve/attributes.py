"""Facts that change a single trait of the agent: its context, model, directory, list of things to do."""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.evolve.change import Change, open_command_of
from claude_headspace.kernel.facts import Meta

MAX_TODOS = 100

WINDOW, LARGE_WINDOW = 200_000, 1_000_000
LARGE_SUFFIX = "[1m]"
LARGE_MODELS = ("claude-opus-5",)
"""Models that take in a million tokens without saying so in their name."""


def compaction_started(change: Change, meta: Meta, fact: facts.CompactionStarted) -> None:
    """An automatic compaction may come to nothing, and the agent works anyway: only a manual one is a state."""
    if fact.trigger == "manual":
        change.why = "compacts its context"
        change.agent.compaction_started_at = max(change.agent.compaction_started_at, meta.at)


def compaction_finished(change: Change, meta: Meta, fact: facts.CompactionFinished) -> None:
    """The context is compacted, and the agent is what it was before. One that was told to by hand did nothing else."""
    agent = change.agent
    change.why = "has compacted its context"
    if fact.trigger == "manual" and open_command_of(agent) is None:
        agent.idle_at = max(agent.idle_at, meta.at)
    agent.compaction_ended_at = max(agent.compaction_ended_at, meta.at)


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
    return ids if one in ids else (*ids[1 - MAX_TODOS :], one)


def usage_measured(change: Change, meta: Meta, fact: facts.UsageMeasured) -> None:
    """How full the context is, which model fills it, and what it has cost. The newest measure counts."""
    agent = change.agent
    agent.cost_usd = agent.cost_usd if fact.cost_usd is None else fact.cost_usd
    agent.rate_limits = fact.limits or agent.rate_limits
    if meta.subagent_id is not None or meta.at < agent.measured_at or fact.tokens is None:
        return
    if _is_of_another_window(agent, meta):
        return
    if fact.model and not (agent.model or "").startswith(fact.model):
        agent.model = fact.model
    agent.context_window = fact.window or agent.context_window
    agent.measured_at, agent.tokens = meta.at, fact.tokens
    agent.context_percent = round(100 * fact.tokens / _window(agent, fact.tokens), 1)


def _is_of_another_window(agent: Agent, meta: Meta) -> bool:
    """Whether what is told late was measured in the window before: of another session, or before a compaction."""
    session = agent.session
    if session is None:
        return False
    of_another = bool(meta.session_id) and meta.session_id != session.client_id
    return of_another or (session.source == "compact" and meta.at < session.started_at)


def _window(agent: Agent, tokens: int) -> int:
    """How much the model takes in: as told, else as its name says, else what most take; never less than is in it."""
    name = agent.model or ""
    large = LARGE_SUFFIX in name or name.startswith(LARGE_MODELS) or tokens > WINDOW
    return agent.context_window or (LARGE_WINDOW if large else WINDOW)


def observed(_change: Change, _meta: Meta, _fact: facts.Observed) -> None:
    """Only a sign of life."""
