"""The plan: which notifications to send now, which are delayed and why, which needs are closed, when to check again.

Rules
- A need is sent once per channel. The next step follows if the previous one failed, or if nobody reacted in time. A
  reaction is an answer, or a view of the agent through Headspace.
- No notification is sent about an agent that a person is looking at. Its errors and finished work count as seen.
- Notifications are delayed in quiet hours, soon after another one, and above the hourly limit of a channel. Several
  that are due together become one message.
- A need that no longer exists is closed, whether or not its notification was delivered.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.notify.budgets import ReachedBudget
from claude_headspace.kernel.notify.messages import PermissionVerb, no_verb
from claude_headspace.kernel.notify.needs import Need, find_needs
from claude_headspace.kernel.notify.notification import Notification
from claude_headspace.kernel.notify.rules import HOUR, ChannelLimits, Rule, Rules

WATCHED_CHECK_INTERVAL: Micros = 3 * SECOND
"""How often to check whether a person is still looking at an agent."""
PRESENCE_CHECK_INTERVAL: Micros = 30 * SECOND
"""How often to check whether a person is still present."""
SEEN_BY_VIEWING = ("waiting", "error", "finished")
"""Kinds that a view marks as seen. That closes `error` and `finished`, and stops the escalation of `waiting`."""


class Attention(msgspec.Struct, frozen=True):
    """The agents that people are looking at, and whether anybody is present."""

    watched: frozenset[str] = frozenset()
    is_present: bool = False


class Delivery(msgspec.Struct, frozen=True):
    """One message to send through a channel, about one or more needs."""

    channel: str
    needs: tuple[Need, ...]


class DelayedNotification(msgspec.Struct, frozen=True):
    """A notification that is not sent yet, the reason, and the earliest time for the next check."""

    need: Need
    channel: str
    reason: str
    until: Micros | None


class ClosedNeed(msgspec.Struct, frozen=True):
    """A need that no longer exists, with open notifications."""

    agent: Agent
    need: str
    kind: str


class Plan(msgspec.Struct):
    """What to do now."""

    deliveries: list[Delivery] = []
    closed: list[ClosedNeed] = []
    seen: list[Agent] = []
    """Agents with unseen needs that a person is looking at."""
    delayed: list[DelayedNotification] = []

    @property
    def next_check_at(self) -> Micros | None:
        """When to plan again if nothing changes before."""
        return min((each.until for each in self.delayed if each.until is not None), default=None)


class Conditions(msgspec.Struct, frozen=True, kw_only=True):
    """What a plan depends on, besides the agents."""

    rules: Rules
    available: frozenset[str]
    """The channels that can be used now."""
    now: Micros
    attention: Attention = Attention()
    quiet_until: Micros | None = None
    permission_verb: PermissionVerb = no_verb
    reached: tuple[ReachedBudget, ...] = ()
    """The budgets of several agents that are used up."""


def find_notifiable(
    agents: Iterable[Agent], rules: Rules, now: Micros, reached: Collection[ReachedBudget] = ()
) -> list[Agent]:
    """Return the agents that may need a notification. Attention has to be observed for these only."""
    return [
        agent
        for agent in agents
        if any(_may_notify(need, rules) for need in find_needs(agent, rules, now, reached=reached))
    ]


def _may_notify(need: Need, rules: Rules) -> bool:
    rule = rules.find_rule(need.kind, need.agent.project)
    is_delivered = any(each.need == need.id and each.is_delivered for each in need.agent.notices)
    return rule.escalate_after > 0 or not is_delivered


def plan(agents: Collection[Agent], conditions: Conditions) -> Plan:
    """Compute what to do now."""
    result = Plan()
    ready: dict[str, list[Need]] = {}
    for agent in agents:
        needs = find_needs(agent, conditions.rules, conditions.now, conditions.permission_verb, conditions.reached)
        result.closed += _closed_needs(agent, {need.id for need in needs})
        if agent.id in conditions.attention.watched and any(map(_is_unseen, needs)):
            result.seen.append(agent)
        for need in needs:
            for channel, due in _due_channels(need, conditions):
                if (delayed := _delay(need, channel, due, conditions)) is not None:
                    result.delayed.append(delayed)
                else:
                    ready.setdefault(channel, []).append(need)
    sent = _send_times(agents)
    for channel, due_needs in ready.items():
        _apply_limits(result, channel, due_needs, sent.get(channel, []), conditions)
    return result


def _is_unseen(need: Need) -> bool:
    """Whether nobody has viewed the agent since the need arose, and since its last notification."""
    completed = (each.completed_at for each in need.agent.notices if each.need == need.id)
    return need.kind in SEEN_BY_VIEWING and need.agent.seen_at < max(need.since, *completed, 0)


def _closed_needs(agent: Agent, open_needs: Collection[str]) -> Iterator[ClosedNeed]:
    open_notifications = (each for each in agent.notices if not each.closed_at)
    closed = {each.need: each.kind for each in open_notifications if each.need not in open_needs}
    return (ClosedNeed(agent, need, kind) for need, kind in closed.items())


# --- when -------------------------------------------------------------------------------------------------------------


def _due_channels(need: Need, conditions: Conditions) -> Iterator[tuple[str, Micros]]:
    """Yield the next channels for a need, each with the time from which it is due."""
    rule = conditions.rules.find_rule(need.kind, need.agent.project)
    notifications = {each.channel: each for each in need.agent.notices if each.need == need.id}
    delay = rule.present_after if conditions.attention.is_present else rule.after
    due: Micros | None = max(need.since + delay, need.not_before)
    is_delivered = any(notification.is_delivered for notification in notifications.values())
    for step in conditions.rules.available_steps(rule, conditions.available | notifications.keys()):
        if due is None:
            return
        usable = tuple(channel for channel in step if channel in conditions.available)
        yield from _due_in_step(usable, notifications, due, is_delivered=is_delivered)
        due = _next_step_due([notifications.get(channel) for channel in step], rule, need.agent, conditions.now)


def _due_in_step(
    step: tuple[str, ...], notifications: Mapping[str, Notification], due: Micros, *, is_delivered: bool
) -> Iterator[tuple[str, Micros]]:
    """Yield unused channels, and failed ones with their retry time while no channel was successful."""
    for channel in step:
        notification = notifications.get(channel)
        if notification is None:
            yield channel, due
        elif not is_delivered and notification.retry_at is not None:
            yield channel, notification.retry_at


def _next_step_due(step: list[Notification | None], rule: Rule, agent: Agent, now: Micros) -> Micros | None:
    """Return when the following step is due; None if it is not."""
    used = [notification for notification in step if notification is not None]
    if len(used) < len(step):
        return None
    delivered = [notification for notification in used if notification.is_delivered]
    if not delivered:
        return None if any(not notification.completed_at for notification in used) else now
    first_at = min(notification.completed_at for notification in delivered)
    if rule.escalate_after <= 0 or agent.seen_at >= first_at:
        return None
    return first_at + rule.escalate_after


# --- whether ----------------------------------------------------------------------------------------------------------


def _delay(need: Need, channel: str, due: Micros, conditions: Conditions) -> DelayedNotification | None:
    """Return why a notification must be delayed; None if it can be sent now."""
    quiet_until = conditions.quiet_until
    is_let_through = conditions.rules.quiet is not None and need.kind in conditions.rules.quiet.let_through
    if need.agent.id in conditions.attention.watched:
        return DelayedNotification(need, channel, "you are looking at it", conditions.now + WATCHED_CHECK_INTERVAL)
    if due > conditions.now:
        until = min(due, conditions.now + PRESENCE_CHECK_INTERVAL) if conditions.attention.is_present else due
        return DelayedNotification(need, channel, "not due yet", until)
    if quiet_until is not None and not is_let_through:
        return DelayedNotification(need, channel, "quiet hours", quiet_until)
    return None


def _send_times(agents: Iterable[Agent]) -> dict[str, list[Micros]]:
    """Return when each channel was used. Notifications within one second count as one message."""
    times: dict[str, set[Micros]] = {}
    for agent in agents:
        for notification in agent.notices:
            times.setdefault(notification.channel, set()).add(notification.started_at // SECOND * SECOND)
    return {channel: sorted(found) for channel, found in times.items()}


def _apply_limits(result: Plan, channel: str, needs: list[Need], sent: list[Micros], conditions: Conditions) -> None:
    """Add what a channel's limits permit to the deliveries, as single messages or a digest; delay the rest."""
    limits, now = conditions.rules.channels.get(channel, ChannelLimits()), conditions.now
    recent = [at for at in sent if at > now - HOUR]
    free_at = recent[-1] + limits.spacing if recent else now
    if free_at > now:
        reason = "another notification was just sent"
        result.delayed += [DelayedNotification(need, channel, reason, free_at) for need in needs]
        return
    remaining = limits.per_hour - len(recent)
    if remaining <= 0:
        reason, until = f"hourly limit of {limits.per_hour} reached", recent[-limits.per_hour] + HOUR
        result.delayed += [DelayedNotification(need, channel, reason, until) for need in needs]
    elif len(needs) >= conditions.rules.digest_from or len(needs) > remaining:
        result.deliveries.append(Delivery(channel, tuple(needs)))
    else:
        result.deliveries += [Delivery(channel, (need,)) for need in needs]
