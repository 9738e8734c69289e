"""Web Push: which browsers receive notifications, also while the dashboard is closed."""

import asyncio
import re
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request

from claude_headspace.errors import Forbidden
from claude_headspace.kernel.text import Time, iso
from claude_headspace.outputs.notify.push.subscriptions import Subscription, check_endpoint, parse_keys
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import EndpointTable
from claude_headspace.surfaces.api.parameters import read_body
from claude_headspace.surfaces.auth.sign_in import SignedInBrowser

endpoints = EndpointTable()

MAX_ENDPOINT_LENGTH = 2_000
BROWSERS = {
    "Edg": "Edge",
    "OPR": "Opera",
    "SamsungBrowser": "Samsung Internet",
    "Firefox": "Firefox",
    "FxiOS": "Firefox",
    "Chrome": "Chrome",
    "CriOS": "Chrome",
    "Safari": "Safari",
}
SYSTEMS = ("Android", "iPhone", "iPad", "Windows", "Macintosh", "Linux")
"""The words of a user agent that name browser and system; the first one that occurs counts."""


class PushKeys(msgspec.Struct, frozen=True):
    """The keys of a subscription, as the browser names them."""

    p256dh: Annotated[str, Meta(max_length=200)]
    auth: Annotated[str, Meta(max_length=100)]


class PushSubscription(msgspec.Struct, frozen=True):
    """A subscription, as the browser describes it."""

    endpoint: Annotated[str, Meta(max_length=MAX_ENDPOINT_LENGTH)]
    keys: PushKeys


class PushBrowser(msgspec.Struct, frozen=True):
    """A browser that receives pushes. Never its address."""

    id: str
    name: str
    origin: str
    since: Time
    until: Time
    """When its sign-in ends, and with it the pushes."""
    is_this: bool
    """Whether it sent the request."""
    last_failure: str


class PushStatus(msgspec.Struct, frozen=True):
    """The key to subscribe with, and the browsers that receive pushes."""

    public_key: str
    browsers: list[PushBrowser]


class BrowserId(msgspec.Struct, frozen=True):
    """A browser, by its id."""

    id: Annotated[str, Meta(max_length=100)]


@endpoints.get("/api/notifications/push")
async def status(context: ApiContext, request: Request) -> PushStatus:
    """The browsers that receive pushes, and the key to subscribe with."""
    return await _status(context, request)


@endpoints.post("/api/notifications/push", PushSubscription)
async def subscribe(context: ApiContext, request: Request) -> PushStatus:
    """Send pushes to the browser that sends this request, as long as it is signed in. Only for browsers."""
    await context.requesters.refuse_agents(request)
    wanted = await read_body(request, PushSubscription)
    browser = _browser(context, request)
    if browser is None:
        raise Forbidden(
            "no_browser", "Only a signed-in browser can receive pushes.", "Use the settings of the dashboard."
        )
    check_endpoint(wanted.endpoint, context.notifier.push.services)
    key, secret = parse_keys(wanted.keys.p256dh, wanted.keys.auth)
    subscription = Subscription(
        browser=browser.id,
        endpoint=wanted.endpoint,
        browser_key=key,
        browser_secret=secret,
        name=browser_name(request.headers.get("user-agent", "")),
        origin=request.headers.get("origin", ""),
        created_at=context.notifier.push.subscriptions.clock(),
        expires_at=browser.expires_at,
    )
    await asyncio.to_thread(context.notifier.push.subscriptions.add, subscription)
    context.notifier.channels_changed()
    return await _status(context, request)


@endpoints.post("/api/notifications/push/remove", BrowserId)
async def remove(context: ApiContext, request: Request) -> PushStatus:
    """Send no more pushes to a browser."""
    await context.requesters.refuse_agents(request)
    wanted = await read_body(request, BrowserId)
    await asyncio.to_thread(context.notifier.push.subscriptions.remove, wanted.id)
    return await _status(context, request)


def browser_name(user_agent: str) -> str:
    """Browser and system of a user agent: "Chrome on Android"."""
    browser = next((name for word, name in BROWSERS.items() if re.search(rf"\b{word}/", user_agent)), "Browser")
    system = next((word for word in SYSTEMS if word in user_agent), "")
    return f"{browser} on {system.replace('Macintosh', 'macOS')}" if system else browser


async def _status(context: ApiContext, request: Request) -> PushStatus:
    this = _browser(context, request)
    push = context.notifier.push
    key = await asyncio.to_thread(lambda: push.public_key)
    browsers = [
        PushBrowser(
            each.browser,
            each.name,
            each.origin,
            iso(each.created_at),
            iso(each.expires_at),
            this is not None and each.browser == this.id,
            push.failures.get(each.browser, ""),
        )
        for each in push.subscriptions.current()
    ]
    return PushStatus(key, browsers)


def _browser(context: ApiContext, request: Request) -> SignedInBrowser | None:
    """The signed-in browser that sends a request."""
    headers = request.headers
    cookies, key = headers.get("cookie"), headers.get("x-headspace-key")
    if cookies is None or key is None:
        return None
    return context.installation.sign_in.browser(cookies.encode("latin-1"), key.encode("latin-1"))
