"""Notifications: sent and delayed ones, the rules, a test, and which agent a page shows."""

import asyncio
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request

from claude_headspace.outputs.notify.notifier import ChannelOutcome
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.notification_views import Notifications, RulesView, notifications_view, rules_view
from claude_headspace.surfaces.api.openapi import EndpointTable
from claude_headspace.surfaces.api.parameters import read_body

endpoints = EndpointTable()


class ChannelTest(msgspec.Struct, frozen=True):
    """The channel to test; all of them by default."""

    channel: Annotated[str, Meta(max_length=100)] | None = None


class ChannelTestResult(msgspec.Struct, frozen=True):
    """The result of a test, for each channel."""

    ok: bool
    channels: list[ChannelOutcome]


class PageView(msgspec.Struct, frozen=True):
    """What an open page shows. `page` is an id that the page chose."""

    page: Annotated[str, Meta(max_length=100)]
    agent_id: Annotated[str, Meta(max_length=100)] | None = None
    visible: bool = True
    notifies: bool = False


class Accepted(msgspec.Struct, frozen=True):
    """The report was accepted."""

    ok: bool = True


@endpoints.get("/api/notifications")
async def notifications(context: ApiContext, _request: Request) -> Notifications:
    """Notifications that were sent, with their result, and those that are delayed, with the reason."""
    agents = await asyncio.to_thread(context.read.agents.recent)
    return await asyncio.to_thread(notifications_view, context.notifier, agents)


@endpoints.get("/api/notifications/rules")
async def rules(context: ApiContext, _request: Request) -> RulesView:
    """The notification rules in force."""
    return await asyncio.to_thread(rules_view, context.notifier)


@endpoints.post("/api/notifications/test", ChannelTest)
async def test(context: ApiContext, request: Request) -> ChannelTestResult:
    """Send a test notification through one channel or all."""
    wanted = await read_body(request, ChannelTest)
    tried = await context.notifier.test(wanted.channel)
    statuses = {each.status for each in tried}
    return ChannelTestResult("sent" in statuses and "failed" not in statuses, tried)


@endpoints.post("/api/presence", PageView)
async def report_page_view(context: ApiContext, request: Request) -> Accepted:
    """Report what a page shows. A visible agent sends no notifications."""
    seen = await read_body(request, PageView)
    context.notifier.report_page(seen.page, seen.agent_id, visible=seen.visible, notifies=seen.notifies)
    return Accepted()
