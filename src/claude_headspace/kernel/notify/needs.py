"""Needs: what requires a person's attention, derived from the current state of an agent.

Rules
- A need has a stable id, made from the wait, the error, the finished command, the context level or the budget.
- An answer through Headspace closes a need immediately, before the client has processed it.
- Work is finished if a person started it, it took long, nobody has seen the result, and nothing else runs: no shells,
  no sub-agents, no queued prompts.
- A child agent has needs only while it waits. Its errors and finished work belong to its parent.
"""

from collections.abc import Callable, Iterable, Iterator

import msgspec

from claude_headspace.kernel.agent import RESULT_DELAY, Agent, AgentState, Command, Outcome, Trigger
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.notify import messages
from claude_headspace.kernel.notify.budgets import ReachedBudget
from claude_headspace.kernel.notify.messages import PermissionVerb, no_verb
from claude_headspace.kernel.notify.rules import Rule, Rules

HEADLESS = "headless"


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """Something that requires a person's attention."""

    id: str
    kind: str
    agent: Agent
    since: Micros
    title: str
    text: str
    wait_id: str = ""
    not_before: Micros = 0
    """Earliest time for a notification. A result that arrives before it may start new work."""


def find_needs(
    agent: Agent,
    rules: Rules,
    now: Micros,
    permission_verb: PermissionVerb = no_verb,
    reached: Iterable[ReachedBudget] = (),
) -> list[Need]:
    """Return the needs of an agent. `reached` are the budgets of several agents that are used up."""
    if not rules.on or agent.imported_from is not None:
        return []
    found = [_budget_need(agent, budget) for budget in reached if budget.agent_id == agent.id]
    for kind, find in _FINDERS.items():
        rule = rules.find_rule(kind, agent.project)
        if rule.on:
            found += [need for need in find(agent, rule, permission_verb) if now - need.since < rule.max_age]
    return found


def _waiting_needs(agent: Agent, _rule: Rule, permission_verb: PermissionVerb) -> Iterator[Need]:
    if agent.ended_at is not None:
        return
    for wait in agent.waits:
        if wait.answered is None:
            yield Need(
                id=wait.id,
                kind="waiting",
                agent=agent,
                since=wait.opened_at,
                title=messages.wait_title(agent, wait, permission_verb),
                text=messages.wait_text(agent, wait),
                wait_id=wait.id,
            )


def _error_needs(agent: Agent, _rule: Rule, _verb_of: PermissionVerb) -> Iterator[Need]:
    if agent.state is AgentState.ERROR and agent.seen_at < agent.state_since and agent.parent_id is None:
        yield Need(
            id=f"error-{agent.state_since}",
            kind="error",
            agent=agent,
            since=agent.state_since,
            title=messages.error_title(agent),
            text=messages.command_text(agent),
        )


def _finished_needs(agent: Agent, rule: Rule, _verb_of: PermissionVerb) -> Iterator[Need]:
    command = agent.command
    if command is None or command.outcome is not Outcome.COMPLETED or command.ended_at is None or not _is_idle(agent):
        return
    duration = command.ended_at - _started_at(agent, command)
    if duration < rule.longer_than or agent.seen_at >= command.ended_at or agent.parent_id is not None:
        return
    result_deadlines = [
        sub.stopped_at + RESULT_DELAY
        for sub in agent.subagents
        if sub.background and sub.id not in agent.delivered_results
    ]
    yield Need(
        id=f"finished-{command.id}",
        kind="finished",
        agent=agent,
        since=command.ended_at,
        title=messages.finished_title(agent, duration),
        text=messages.command_text(agent),
        not_before=max(result_deadlines, default=0),
    )


def _is_idle(agent: Agent) -> bool:
    """Whether nothing runs. An interactive client that ended does not count: its user saw the result."""
    if agent.running_background or agent.running_subagents or agent.queued_prompts or agent.pending_results:
        return False
    return agent.state is AgentState.IDLE or (agent.state is AgentState.ENDED and agent.mode == HEADLESS)


def _started_at(agent: Agent, command: Command) -> Micros:
    """When a person started the work. A command that a background task triggered belongs to the one before it."""
    for earlier in reversed(agent.past_commands):
        if command.trigger is not Trigger.NOTIFICATION:
            break
        command = earlier
    return command.started_at


def _context_needs(agent: Agent, rule: Rule, _verb_of: PermissionVerb) -> Iterator[Need]:
    used = agent.context_percent
    if agent.ended_at is not None or used is None or agent.session is None:
        return
    reached = [level for level in rule.levels if used >= level]
    if reached:
        yield Need(
            id=f"context-{agent.session.id}-{max(reached):g}",
            kind="context",
            agent=agent,
            since=agent.state_since,
            title=messages.context_title(agent, used),
            text=messages.command_text(agent),
        )


def _budget_need(agent: Agent, budget: ReachedBudget) -> Need:
    text = messages.last_used_text(agent)
    return Need(id=budget.id, kind="cost", agent=agent, since=budget.since, title=budget.title, text=text)


def _cost_needs(agent: Agent, rule: Rule, _verb_of: PermissionVerb) -> Iterator[Need]:
    cost, total = agent.cost_usd, agent.total_cost_usd
    if agent.ended_at is None and rule.agent_budget > 0 and total is not None and total >= rule.agent_budget:
        yield Need(
            id=f"cost-agent-{agent.id}-{rule.agent_budget:g}",
            kind="cost",
            agent=agent,
            since=agent.state_since,
            title=messages.agent_budget_title(agent, total, rule.agent_budget),
            text=messages.command_text(agent),
        )
    if agent.ended_at is None and rule.budget > 0 and cost is not None and cost >= rule.budget:
        session = agent.session.client_id if agent.session else ""
        yield Need(
            id=f"cost-{session}-{rule.budget:g}",
            kind="cost",
            agent=agent,
            since=agent.state_since,
            title=messages.cost_title(agent, cost, rule.budget),
            text=messages.command_text(agent),
        )


_FINDERS: dict[str, Callable[[Agent, Rule, PermissionVerb], Iterator[Need]]] = {
    "waiting": _waiting_needs,
    "error": _error_needs,
    "finished": _finished_needs,
    "context": _context_needs,
    "cost": _cost_needs,
}
