"""Notifications as the API shows them: sent, delayed, the rules in force, and the state of each channel."""

from collections.abc import Iterable, Mapping

import msgspec

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.notify.needs import Need
from claude_headspace.kernel.notify.rules import KINDS, Rule, Rules
from claude_headspace.kernel.text import Time, iso
from claude_headspace.kernel.views.agent import NoticeView, notice_view
from claude_headspace.outputs.notify.notifier import Notifier

MAX_NOTIFICATIONS = 500


class SentNotification(msgspec.Struct, frozen=True):
    """A notification with its agent."""

    agent_id: str
    agent: str
    notice: NoticeView


class UnsentNotification(msgspec.Struct, frozen=True):
    """A notification that was not sent, or not yet, and why."""

    agent_id: str
    agent: str
    need: str
    kind: str
    title: str
    channel: str
    why: str
    until: Time | None


class ChannelView(msgspec.Struct, frozen=True):
    """A channel: whether it is available, its limits, and the result of its last use. Never its address."""

    name: str
    available: bool
    detail: str
    per_hour: int
    spacing_seconds: float
    last_at: Time | None
    last_failure: str


class Notifications(msgspec.Struct, frozen=True):
    """The notifications of this host: sent ones (the newest first), delayed ones, and those that were not needed."""

    on: bool
    notices: list[SentNotification]
    held: list[UnsentNotification]
    unsent: list[UnsentNotification]
    channels: list[ChannelView]


class RuleView(msgspec.Struct, frozen=True):
    """The rule for one kind of need. Times are in seconds."""

    kind: str
    on: bool
    to: list[list[str]]
    after: float
    present_after: float
    escalate_after: float
    longer_than: float
    levels: list[float]
    budget: float
    """Dollars per session; 0: no budget. Likewise the following ones."""
    agent_budget: float
    day_budget: float
    month_budget: float


class QuietView(msgspec.Struct, frozen=True):
    """Quiet hours, in which no notification is sent."""

    begins: str
    ends: str
    days: list[int]
    let_through: list[str]
    until: Time | None
    """When the current quiet hours end; null outside of them."""


class RulesView(msgspec.Struct, frozen=True):
    """The notification rules in force."""

    on: bool
    file: str
    problem: str | None
    rules: list[RuleView]
    projects: dict[str, list[RuleView]]
    quiet: QuietView | None
    digest_from: int
    present_for: float
    channels: list[ChannelView]


def notifications_view(notifier: Notifier, agents: Iterable[Agent]) -> Notifications:
    """The notifications about these agents, and what the notifier delays."""
    sent = [SentNotification(each.id, each.name, notice_view(notice)) for each in agents for notice in each.notices]
    sent.sort(key=lambda each: each.notice.begun_at, reverse=True)
    held = [_unsent(each.need, each.channel, each.reason, each.until) for each in notifier.delayed]
    unsent = [_unsent(each.need, "", each.reason, each.at) for each in reversed(notifier.unsent)]
    rules = notifier.preferences.current().rules
    return Notifications(
        rules.on, sent[:MAX_NOTIFICATIONS], held[:MAX_NOTIFICATIONS], unsent, _channels(notifier, rules)
    )


def _unsent(need: Need, channel: str, why: str, until: Micros | None) -> UnsentNotification:
    agent, end = need.agent, iso(until) if until else None
    return UnsentNotification(agent.id, agent.name, need.id, need.kind, need.title, channel, why, end)


def rules_view(notifier: Notifier) -> RulesView:
    """The rules in force."""
    preferences = notifier.preferences.current()
    rules = preferences.rules
    return RulesView(
        rules.on,
        str(notifier.preferences.path),
        notifier.preferences.failure,
        _rules(rules, rules.kinds),
        {pattern: _rules(rules, kinds) for pattern, kinds in rules.projects},
        _quiet(notifier),
        rules.digest_from,
        preferences.present_for / SECOND,
        _channels(notifier, rules),
    )


def _channels(notifier: Notifier, rules: Rules) -> list[ChannelView]:
    views = []
    for state in notifier.channels.states(notifier.preferences.current()):
        limits, (at, failure) = rules.channels[state.name], notifier.last_results.get(state.name, (0, ""))
        views.append(
            ChannelView(
                state.name,
                state.available,
                state.detail,
                limits.per_hour,
                limits.spacing / SECOND,
                iso(at) if at else None,
                failure,
            )
        )
    return views


def _rules(rules: Rules, kinds: Mapping[str, Rule]) -> list[RuleView]:
    channels = frozenset(rules.channels)
    return [
        RuleView(
            kind,
            rule.on,
            [list(step) for step in rules.available_steps(rule, channels)],
            rule.after / SECOND,
            rule.present_after / SECOND,
            rule.escalate_after / SECOND,
            rule.longer_than / SECOND,
            list(rule.levels),
            rule.budget,
            rule.agent_budget,
            rule.day_budget,
            rule.month_budget,
        )
        for kind, rule in ((kind, kinds[kind]) for kind in KINDS)
    ]


def _quiet(notifier: Notifier) -> QuietView | None:
    quiet = notifier.preferences.current().rules.quiet
    if quiet is None:
        return None
    until = notifier.quiet_until()
    return QuietView(
        f"{quiet.begins // 60:02}:{quiet.begins % 60:02}",
        f"{quiet.ends // 60:02}:{quiet.ends % 60:02}",
        sorted(quiet.days),
        sorted(quiet.let_through),
        iso(until) if until is not None else None,
    )
