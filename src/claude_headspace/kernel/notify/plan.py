"""What is to be done now: whom to call, what to take back, what is held and why, and when to look again.

Rules
- A need is announced once per channel, and goes to the next step of its chain when the step before failed, or when
  nobody reacted in time. A reaction is the answer, or a look at the agent through Headspace.
- Nobody is called about what he has before him. What only has to be known is seen by that.
- Held back are calls in quiet hours, calls soon after another one, and those beyond what a channel takes in an hour.
  What becomes due together becomes one message when it is much.
- A need that is no more is over, whether somebody was reached or not.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.notify.messages import PermissionVerb, no_verb
from claude_headspace.kernel.notify.needs import Need, find_needs
from claude_headspace.kernel.notify.notification import Notification
from claude_headspace.kernel.notify.rules import HOUR, ChannelLimits, Rule, Rules

WATCHED_CHECK_INTERVAL: Micros = 3 * SECOND
"""How soon it is looked again whether somebody still has an agent before him."""
PRESENCE_CHECK_INTERVAL: Micros = 30 * SECOND
"""How soon it is looked again whether somebody is still at the machine."""
SEEN_BY_VIEWING = ("waiting", "error", "finished")
"""Kinds of which it is told that somebody saw them: the last two are settled by that, the first is not passed on."""


class Attention(msgspec.Struct, frozen=True):
    """Where people look: the agents that somebody has before him, and whether somebody is at the machine at all."""

    watched: frozenset[str] = frozenset()
    is_present: bool = False


class Delivery(msgspec.Struct, frozen=True):
    """Call somebody through a channel; about several needs in one message."""

    channel: str
    needs: tuple[Need, ...]


class DelayedNotification(msgspec.Struct, frozen=True):
    """A call that is not made yet, why, and until when at least."""

    need: Need
    channel: str
    reason: str
    until: Micros | None


class ClosedNeed(msgspec.Struct, frozen=True):
    """A need that is no more."""

    agent: Agent
    need: str
    kind: str


class Plan(msgspec.Struct):
    """All that is to be done now."""

    deliveries: list[Delivery] = []
    closed: list[ClosedNeed] = []
    seen: list[Agent] = []
    """Agents that somebody has before him, and that have something to be seen."""
    delayed: list[DelayedNotification] = []

    @property
    def next_check_at(self) -> Micros | None:
        """When to look again, if nothing happens before."""
        return min((held.until for held in self.delayed if held.until is not None), default=None)


class Conditions(msgspec.Struct, frozen=True, kw_only=True):
    """All that a plan depends on beside the agents."""

    rules: Rules
    available: frozenset[str]
    """The channels that can be used here and now."""
    now: Micros
    attention: Attention = Attention()
    quiet_until: Micros | None = None
    permission_verb: PermissionVerb = no_verb
    """The words for tools in titles."""


def find_notifiable(agents: Iterable[Agent], rules: Rules, now: Micros) -> list[Agent]:
    """The agents about which somebody may have to be called: only of these it matters who looks at them."""
    return [agent for agent in agents if any(_may_notify(need, rules) for need in find_needs(agent, rules, now))]


def _may_notify(need: Need, rules: Rules) -> bool:
    rule = rules.find_rule(need.kind, need.agent.project)
    is_delivered = any(notice.need == need.id and notice.is_delivered for notice in need.agent.notices)
    return rule.escalate_after > 0 or not is_delivered


def plan(agents: Collection[Agent], conditions: Conditions) -> Plan:
    """What is to be done."""
    result = Plan()
    ready: dict[str, list[Need]] = {}
    for agent in agents:
        needs = find_needs(agent, conditions.rules, conditions.now, conditions.permission_verb)
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
    for channel, found in ready.items():
        _apply_limits(result, channel, found, sent.get(channel, []), conditions)
    return result


def _is_unseen(need: Need) -> bool:
    """Whether nobody has looked since it came, or since somebody was called about it."""
    completed = (notice.completed_at for notice in need.agent.notices if notice.need == need.id)
    return need.kind in SEEN_BY_VIEWING and need.agent.seen_at < max(need.since, *completed, 0)


def _closed_needs(agent: Agent, open_needs: Collection[str]) -> Iterator[ClosedNeed]:
    gone = {
        notice.need: notice.kind for notice in agent.notices if not notice.closed_at and notice.need not in open_needs
    }
    return (ClosedNeed(agent, need, kind) for need, kind in gone.items())


# --- when -------------------------------------------------------------------------------------------------------------


def _due_channels(need: Need, conditions: Conditions) -> Iterator[tuple[str, Micros]]:
    """The channels that a need is announced through next, and from when on."""
    rule = conditions.rules.find_rule(need.kind, need.agent.project)
    notifications = {notice.channel: notice for notice in need.agent.notices if notice.need == need.id}
    delay = rule.present_after if conditions.attention.is_present else rule.after
    due: Micros | None = max(need.since + delay, need.not_before)
    is_delivered = any(notice.is_delivered for notice in notifications.values())
    for step in conditions.rules.available_steps(rule, conditions.available | notifications.keys()):
        if due is None:
            return
        usable = tuple(channel for channel in step if channel in conditions.available)
        yield from _due_in_step(usable, notifications, due, is_delivered=is_delivered)
        due = _next_step_due([notifications.get(channel) for channel in step], rule, need.agent, conditions.now)


def _due_in_step(
    step: tuple[str, ...], notifications: Mapping[str, Notification], due: Micros, *, is_delivered: bool
) -> Iterator[tuple[str, Micros]]:
    """Each channel once; one that failed again after a while, as long as nobody was reached."""
    for channel in step:
        notification = notifications.get(channel)
        if notification is None:
            yield channel, due
        elif not is_delivered and notification.retry_at is not None:
            yield channel, notification.retry_at


def _next_step_due(step: list[Notification | None], rule: Rule, agent: Agent, now: Micros) -> Micros | None:
    """When the step after this one is due; None: not as things are."""
    used = [notice for notice in step if notice is not None]
    if len(used) < len(step):
        return None
    delivered = [notice for notice in used if notice.is_delivered]
    if not delivered:
        return None if any(not notice.completed_at for notice in used) else now
    first_at = min(notice.completed_at for notice in delivered)
    if rule.escalate_after <= 0 or agent.seen_at >= first_at:
        return None
    return first_at + rule.escalate_after


# --- whether ----------------------------------------------------------------------------------------------------------


def _delay(need: Need, channel: str, due: Micros, conditions: Conditions) -> DelayedNotification | None:
    """Why a call is not made now, if so."""
    quiet_until = conditions.quiet_until
    is_let_through = conditions.rules.quiet is not None and need.kind in conditions.rules.quiet.let_through
    if need.agent.id in conditions.attention.watched:
        return DelayedNotification(need, channel, "somebody looks at it", conditions.now + WATCHED_CHECK_INTERVAL)
    if due > conditions.now:
        until = min(due, conditions.now + PRESENCE_CHECK_INTERVAL) if conditions.attention.is_present else due
        return DelayedNotification(need, channel, "it is not time yet", until)
    if quiet_until is not None and not is_let_through:
        return DelayedNotification(need, channel, "quiet hours", quiet_until)
    return None


def _send_times(agents: Iterable[Agent]) -> dict[str, list[Micros]]:
    """When each channel was used; what was told together counts once."""
    times: dict[str, set[Micros]] = {}
    for agent in agents:
        for notice in agent.notices:
            times.setdefault(notice.channel, set()).add(notice.started_at // SECOND * SECOND)
    return {channel: sorted(found) for channel, found in times.items()}


def _apply_limits(result: Plan, channel: str, needs: list[Need], sent: list[Micros], conditions: Conditions) -> None:
    """Let calls go, apart or together, as often as the channel may be used."""
    limits, now = conditions.rules.channels.get(channel, ChannelLimits()), conditions.now
    recent = [at for at in sent if at > now - HOUR]
    free_at = recent[-1] + limits.spacing if recent else now
    if free_at > now:
        result.delayed += [
            DelayedNotification(need, channel, "another call was made just now", free_at) for need in needs
        ]
        return
    remaining = limits.per_hour - len(recent)
    if remaining <= 0:
        reason, until = f"no more than {limits.per_hour} calls an hour", recent[-limits.per_hour] + HOUR
        result.delayed += [DelayedNotification(need, channel, reason, until) for need in needs]
    elif len(needs) >= conditions.rules.digest_from or len(needs) > remaining:
        result.deliveries.append(Delivery(channel, tuple(needs)))
    else:
        result.deliveries += [Delivery(channel, (need,)) for need in needs]
