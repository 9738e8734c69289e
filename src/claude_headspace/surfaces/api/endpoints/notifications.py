"""Being called, over the API: what was sent, what is held back and why, the rules in force, a test; and what pages say
of where their reader looks.
"""

import asyncio
from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request

from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.notify.needs import Need
from claude_headspace.kernel.notify.rules import KINDS, Rule, Rules
from claude_headspace.kernel.views import NoticeView, Time, iso, notice_view
from claude_headspace.outputs.notify.notifier import Notifier, Tried
from claude_headspace.surfaces.api.openapi import Endpoint
from claude_headspace.surfaces.api.parameters import read_body
from claude_headspace.surfaces.api.services import Serving

RECENTLY: Micros = 24 * 3_600 * SECOND
MOST = 500


class Sent(msgspec.Struct, frozen=True):
    """A call, and the agent that it was about."""

    agent_id: str
    agent: str
    notice: NoticeView


class Waiting(msgspec.Struct, frozen=True):
    """A call that is not made yet, or never was, and why."""

    agent_id: str
    agent: str
    need: str
    kind: str
    title: str
    channel: str
    why: str
    until: Time | None


class ChannelView(msgspec.Struct, frozen=True):
    """A channel: whether it can be used now, by what, and what came of its last use. Never its address."""

    name: str
    available: bool
    detail: str
    per_hour: int
    spacing_seconds: float
    last_at: Time | None
    last_failure: str


class Notifications(msgspec.Struct, frozen=True):
    """All that is known of calls on this machine: the newest first, what is held, what never had to be sent."""

    on: bool
    notices: list[Sent]
    held: list[Waiting]
    unsent: list[Waiting]
    channels: list[ChannelView]


class RuleView(msgspec.Struct, frozen=True):
    """What is done about one kind of need; seconds."""

    kind: str
    on: bool
    to: list[list[str]]
    after: float
    present_after: float
    escalate_after: float
    longer_than: float
    levels: list[float]
    budget: float


class QuietView(msgspec.Struct, frozen=True):
    """Hours in which nobody is called."""

    begins: str
    ends: str
    days: list[int]
    let_through: list[str]
    until: Time | None
    """Where they are now: until when."""


class RulesView(msgspec.Struct, frozen=True):
    """How somebody is called."""

    on: bool
    file: str
    problem: str | None
    rules: list[RuleView]
    projects: dict[str, list[RuleView]]
    quiet: QuietView | None
    digest_from: int
    present_for: float
    channels: list[ChannelView]


class Testing(msgspec.Struct, frozen=True):
    """Which channel to try; all if none is named."""

    channel: Annotated[str, Meta(max_length=100)] | None = None


class Tested(msgspec.Struct, frozen=True):
    """What came of a test."""

    ok: bool
    channels: list[Tried]


class Sighting(msgspec.Struct, frozen=True):
    """What a page shows, by a name that it gave itself."""

    page: Annotated[str, Meta(max_length=100)]
    agent_id: Annotated[str, Meta(max_length=100)] | None = None
    visible: bool = True
    notifies: bool = False


class Noted(msgspec.Struct, frozen=True):
    """It is known now."""

    ok: bool = True


async def notifications(api: Serving, _request: Request) -> Notifications:
    """What was sent, what is held."""
    return await asyncio.to_thread(_notifications, api)


def _notifications(api: Serving) -> Notifications:
    notifier, now = api.services.notifier, api.services.clock()
    sent = [
        Sent(agent.id, agent.name, notice_view(notice))
        for agent in api.services.journal.agents(ended_after=now - RECENTLY)
        for notice in agent.notices
    ]
    sent.sort(key=lambda each: each.notice.begun_at, reverse=True)
    held = [_waiting(each.need, each.channel, each.why, each.until) for each in notifier.held]
    unsent = [_waiting(each.need, "", each.why, each.at) for each in reversed(notifier.unsent)]
    rules = notifier.keeper.current().rules
    return Notifications(rules.on, sent[:MOST], held[:MOST], unsent, _channels(notifier, rules))


def _waiting(need: Need, channel: str, why: str, until: Micros | None) -> Waiting:
    agent, known = need.agent, iso(until) if until else None
    return Waiting(agent.id, agent.name, need.id, need.kind, need.title, channel, why, known)


def _channels(notifier: Notifier, rules: Rules) -> list[ChannelView]:
    found = []
    for state in notifier.channels.states(notifier.keeper.current()):
        limits, (at, failure) = rules.channels[state.name], notifier.last.get(state.name, (0, ""))
        found.append(
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
    return found


async def rules(api: Serving, _request: Request) -> RulesView:
    """The rules in force."""
    return await asyncio.to_thread(_rules, api)


def _rules(api: Serving) -> RulesView:
    notifier = api.services.notifier
    book = notifier.keeper.current()
    found = book.rules
    return RulesView(
        found.on,
        str(notifier.keeper.path),
        notifier.keeper.failure,
        _rule_views(found, found.kinds),
        {pattern: _rule_views(found, kinds) for pattern, kinds in found.projects},
        _quiet(notifier),
        found.digest_from,
        book.present_for / SECOND,
        _channels(notifier, found),
    )


def _rule_views(found: Rules, kinds: Mapping[str, Rule]) -> list[RuleView]:
    everything = frozenset(found.channels)
    return [
        RuleView(
            kind,
            rule.on,
            [list(step) for step in found.chain(rule, everything)],
            rule.after / SECOND,
            rule.present_after / SECOND,
            rule.escalate_after / SECOND,
            rule.longer_than / SECOND,
            list(rule.levels),
            rule.budget,
        )
        for kind, rule in ((kind, kinds[kind]) for kind in KINDS)
    ]


def _quiet(notifier: Notifier) -> QuietView | None:
    quiet = notifier.keeper.current().rules.quiet
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


async def test(api: Serving, request: Request) -> Tested:
    """Try the channels."""
    wanted = await read_body(request, Testing)
    tried = await api.services.notifier.test(wanted.channel)
    found = {each.status for each in tried}
    return Tested("sent" in found and "failed" not in found, tried)


async def sighting(api: Serving, request: Request) -> Noted:
    """A page says what it shows."""
    told = await read_body(request, Sighting)
    api.services.notifier.sight(told.page, told.agent_id, visible=told.visible, notifies=told.notifies)
    return Noted()


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/notifications",
        "Who was called about what and what came of it; what is held back, and why.",
        notifications,
        Notifications,
    ),
    Endpoint("GET", "/api/notifications/rules", "How somebody is called: the rules in force.", rules, RulesView),
    Endpoint(
        "POST",
        "/api/notifications/test",
        "Send a test through every channel, or one.",
        test,
        Tested,
        scope="act",
        takes=Testing,
    ),
    Endpoint(
        "POST",
        "/api/presence",
        "Tell what a page shows: nobody is called about what is before him.",
        sighting,
        Noted,
        scope="act",
        takes=Sighting,
    ),
)
