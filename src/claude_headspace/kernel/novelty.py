"""Whether an observation is new. Hooks, transcript and registry report the same things; repetitions are not stored.

An observation is new if it would change the view of the agent or write a row.
"""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.evolve import evolve
from claude_headspace.kernel.evolve.change import MAX_RECENT, SOURCE_TOLERANCE
from claude_headspace.kernel.facts import ContextAdded, Event, Fact
from claude_headspace.kernel.views.agent import view_changes

IGNORED_FIELDS = {"last_active_at", "evidence", "tokens", "context_percent"}
"""Fields of the view that change with nearly every event. Usage is checked by `is_new_usage`."""


def is_new(agent: Agent, event: Event) -> bool:
    """Whether the event would change the view of the agent or write a row."""
    if isinstance(event.fact, ContextAdded):
        return True  # for its effort
    change = evolve(agent, event)
    rows = (change.sessions, change.commands, change.turns, change.patches, change.waits, change.usage)
    return any(rows) or any(name not in IGNORED_FIELDS for name in view_changes(agent, change.agent))


def is_older_than_recent_turns(agent: Agent, at: Micros) -> bool:
    """Whether a time is too old to recognise duplicates. Hooks reported everything of that time already."""
    if len(agent.recent_turns) < MAX_RECENT or not agent.created_at <= at <= agent.last_hook_at:
        return False
    return at < min(entry.at for entry in agent.recent_turns) - SOURCE_TOLERANCE


def was_reported_by_hooks(agent: Agent, at: Micros) -> bool:
    """Whether something happened while hooks reported the agent. Only for clients whose hooks report everything."""
    return agent.created_at - SOURCE_TOLERANCE <= at <= agent.last_hook_at


def is_new_usage(agent: Agent, event: Event) -> bool:
    """Whether the usage changed: the context or a limit by a percent, the cost by a cent, or the model."""
    after = evolve(agent, event).agent
    return _usage(agent) != _usage(after) or after.session != agent.session


def _usage(agent: Agent) -> tuple[object, ...]:
    cost, percent = agent.cost_usd, agent.context_percent
    return (
        agent.model,
        None if percent is None else round(percent),
        None if cost is None else round(cost, 2),
        tuple((limit.name, round(limit.used_percent)) for limit in agent.rate_limits),
    )


def is_repetition(found: tuple[Fact, ...]) -> bool:
    """Whether hooks also report all of these facts: tool calls without a question, sub-agents, usage."""
    return all(
        isinstance(fact, _REPETITIONS) and not getattr(fact, "ask", None) and not getattr(fact, "answer", "")
        for fact in found
    )


_REPETITIONS = (
    facts.ToolStarted,
    facts.ToolFinished,
    facts.ToolFailed,
    facts.SubagentStarted,
    facts.SubagentDescribed,
    facts.SubagentStopped,
    facts.UsageMeasured,
)


def measured_tokens(found: tuple[Fact, ...]) -> int | None:
    """The tokens of the first usage among these facts; None if there is none."""
    return next((fact.tokens for fact in found if isinstance(fact, facts.UsageMeasured)), None)


def counts_usage(found: tuple[Fact, ...]) -> bool:
    """Whether one of these facts counts in the usage of a session. Hooks report nothing of it."""
    return any(isinstance(fact, facts.UsageMeasured) and (fact.added or fact.totals) for fact in found)
