"""Facts that change one attribute of the agent: context, model, directory, to-do list, usage."""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Origin
from claude_headspace.kernel.evolve.change import Change, open_command_of
from claude_headspace.kernel.facts import Meta
from claude_headspace.kernel.usage import CONTINUED, Report, Usage, count

MAX_TODOS = 100

WINDOW, LARGE_WINDOW = 200_000, 1_000_000
LARGE_SUFFIX = "[1m]"
LARGE_MODELS = ("claude-opus-5",)
"""Models with a context window of a million tokens whose name does not say so."""


def compaction_started(change: Change, meta: Meta, fact: facts.CompactionStarted) -> None:
    """Only a manual compaction counts as work. During an automatic one the agent is in a turn anyway."""
    if fact.trigger == "manual":
        change.why = "compacts its context"
        change.agent.compaction_started_at = max(change.agent.compaction_started_at, meta.at)


def compaction_finished(change: Change, meta: Meta, fact: facts.CompactionFinished) -> None:
    """The compaction ended. After a manual one outside of a command the main thread is idle."""
    agent = change.agent
    change.why = "has compacted its context"
    if fact.trigger == "manual" and open_command_of(agent) is None:
        agent.idle_at = max(agent.idle_at, meta.at)
    agent.compaction_ended_at = max(agent.compaction_ended_at, meta.at)


def model_switched(change: Change, _meta: Meta, fact: facts.ModelSwitched) -> None:
    """Record the new model."""
    change.agent.model = fact.model or change.agent.model


def directory_changed(change: Change, _meta: Meta, fact: facts.DirectoryChanged) -> None:
    """Record the new working directory."""
    change.agent.cwd = fact.cwd or change.agent.cwd


def todo_added(change: Change, _meta: Meta, fact: facts.TodoAdded) -> None:
    """Add an entry to the to-do list."""
    change.agent.todos = _with(change.agent.todos, fact.task_id)


def todo_done(change: Change, _meta: Meta, fact: facts.TodoDone) -> None:
    """Mark an entry of the to-do list as done. Adds it if its creation was missed."""
    change.agent.todos = _with(change.agent.todos, fact.task_id)
    change.agent.todos_done = _with(change.agent.todos_done, fact.task_id)


def _with(ids: tuple[str, ...], one: str) -> tuple[str, ...]:
    return ids if one in ids else (*ids[1 - MAX_TODOS :], one)


def usage_measured(change: Change, meta: Meta, fact: facts.UsageMeasured) -> None:
    """Record context size, model and cost. The newest measurement counts."""
    agent = change.agent
    agent.cost_usd = agent.cost_usd if fact.cost_usd is None else fact.cost_usd
    agent.rate_limits = fact.limits or agent.rate_limits
    if fact.cost_usd is not None or fact.totals or fact.added is not None:
        _count_usage(change, meta, fact)
    if meta.subagent_id is not None or meta.at < agent.measured_at or fact.tokens is None:
        return
    if _is_of_another_window(agent, meta):
        return
    if fact.model and not (agent.model or "").startswith(fact.model):
        agent.model = fact.model
    agent.context_window = fact.window or agent.context_window
    agent.measured_at, agent.tokens = meta.at, fact.tokens
    agent.context_percent = round(100 * fact.tokens / _window(agent, fact.tokens), 1)


def _count_usage(change: Change, meta: Meta, fact: facts.UsageMeasured) -> None:
    """Count what the report adds to the usage of all sessions."""
    agent, session = change.agent, change.agent.session
    current = session if session is not None and session.client_id == meta.session_id else None
    report = Report(
        session_id=meta.session_id,
        opened=current.id if current else "",
        is_continued=current is not None and current.source in CONTINUED,
        is_of_process=current is not None and current.source == "clear" and meta.origin is Origin.STATUS_LINE,
        at=meta.at,
        model=fact.model or agent.model or "",
        cost_usd=fact.cost_usd,
        totals=fact.totals,
        added=fact.added,
    )
    agent.usage, buckets = count(agent.usage or Usage(), report, agent.id, meta.event_id)
    change.usage.update({bucket.id: bucket for bucket in buckets})


def _is_of_another_window(agent: Agent, meta: Meta) -> bool:
    """Whether a late measurement belongs to the previous context window: another session, or before compaction."""
    session = agent.session
    if session is None:
        return False
    of_another = bool(meta.session_id) and meta.session_id != session.client_id
    return of_another or (session.source == "compact" and meta.at < session.started_at)


def _window(agent: Agent, tokens: int) -> int:
    """The size of the context window: as reported, else by the model's name, else the default; never less than used."""
    name = agent.model or ""
    large = LARGE_SUFFIX in name or name.startswith(LARGE_MODELS) or tokens > WINDOW
    return agent.context_window or (LARGE_WINDOW if large else WINDOW)


def observed(_change: Change, _meta: Meta, _fact: facts.Observed) -> None:
    """No change: the event only shows that the client is alive."""
