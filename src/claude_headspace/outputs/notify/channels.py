"""Notification channels: the desktop, Web Push, and every service that Apprise supports.

Rules
- Everything here may block, so it runs in a thread.
- Apprise is imported at the first use of an address.
- The reason of a failure never contains the secrets of an address.
"""

import contextlib
import logging
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec
import structlog

from claude_headspace.kernel.notify.rules import DESKTOP, PAGE, PUSH
from claude_headspace.outputs.notify import desktop
from claude_headspace.outputs.notify.desktop import DeliveryFailed, Desktop, NoDesktop
from claude_headspace.outputs.notify.preferences import ChannelAddress, NotificationPreferences
from claude_headspace.outputs.notify.push.channel import NO_BROWSER, PushChannel
from claude_headspace.outputs.notify.push.encryption import PushMessage

log = structlog.get_logger(__name__)

DESKTOP_RETRY_SECONDS = 60.0
"""How often a missing desktop is searched for."""
MAX_REASON_LENGTH = 300
MIN_SECRET_LENGTH = 4


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A message to a person."""

    title: str
    text: str
    link: str = ""
    path: str = "/"
    """The view of the dashboard behind the link."""
    urgent: bool = False
    tag: str = ""
    """Id of the message, for channels that accept one."""

    @property
    def body(self) -> str:
        """The text with the link below it."""
        return f"{self.text}\n{self.link}".strip()


class ChannelState(msgspec.Struct, frozen=True):
    """A channel, whether it is available, and how it delivers. Never its address."""

    name: str
    available: bool
    detail: str


class Channels:
    """All channels."""

    def __init__(
        self,
        env: Mapping[str, str] = os.environ,
        find_desktop: Callable[[Mapping[str, str]], Desktop | NoDesktop] = desktop.find_desktop,
        has_page: Callable[[], bool] = lambda: False,
        push: PushChannel | None = None,
    ) -> None:
        self._env = env
        self._find_desktop = find_desktop
        self._has_page = has_page
        self._push = push
        self._desktop: Desktop | NoDesktop | None = None
        self._next_search_at = 0.0
        self._has_logged_missing = False

    def available(self, preferences: NotificationPreferences) -> frozenset[str]:
        """Return the channels that can be used now."""
        return frozenset(state.name for state in self.states(preferences) if state.available)

    def states(self, preferences: NotificationPreferences) -> list[ChannelState]:
        """Return the state of every channel."""
        desktop = self._current_desktop()
        is_missing = isinstance(desktop, NoDesktop)
        detail = desktop.reason if isinstance(desktop, NoDesktop) else f"shown by {desktop.kind}"
        permission = "has notification permission"
        page = f"an open dashboard {permission}" if self._has_page() else f"no open dashboard {permission}"
        others = [ChannelState(name, True, _service_names(address)) for name, address in preferences.addresses.items()]
        push = self._push_state()
        return [
            ChannelState(DESKTOP, not is_missing, detail),
            ChannelState(PAGE, self._has_page(), page),
            push,
            *others,
        ]

    def _push_state(self) -> ChannelState:
        if self._push is None:
            return ChannelState(PUSH, False, NO_BROWSER)
        return ChannelState(PUSH, self._push.is_available, self._push.detail)

    def _current_desktop(self) -> Desktop | NoDesktop:
        is_missing = self._desktop is None or isinstance(self._desktop, NoDesktop)
        if is_missing and time.monotonic() >= self._next_search_at:
            self._desktop = self._find_desktop(self._env)
            self._next_search_at = time.monotonic() + DESKTOP_RETRY_SECONDS
            if isinstance(self._desktop, NoDesktop) and not self._has_logged_missing:
                self._has_logged_missing = True
                log.info(
                    "desktop_unavailable", reason=self._desktop.reason, hint="other channels: docs/notifications.md"
                )
        assert self._desktop is not None
        return self._desktop

    def send(self, name: str, message: Message, preferences: NotificationPreferences) -> str:
        """Send a message. Returns its receipt. Raises `DeliveryFailed`."""
        if name == PAGE:
            return ""  # the page received the claim by the stream
        if name == DESKTOP:
            return self._show_on_desktop(message)
        if name == PUSH:
            return self._send_push(message, is_brief=preferences.push_is_brief)
        address = preferences.addresses.get(name)
        if address is None:
            raise DeliveryFailed(f"the channel {name} no longer exists")
        send_to_address(address, msgspec.structs.replace(message, text="") if address.brief else message)
        return ""

    def _show_on_desktop(self, message: Message) -> str:
        found = self._current_desktop()
        if isinstance(found, NoDesktop):
            raise DeliveryFailed(found.reason)
        try:
            return found.show(message.title, message.text, message.link, urgent=message.urgent, tag=message.tag)
        except DeliveryFailed:
            self._desktop = None  # search again at the next use
            raise

    def _send_push(self, message: Message, *, is_brief: bool) -> str:
        if self._push is None:
            raise DeliveryFailed(NO_BROWSER)
        text = "" if is_brief else message.text
        pushed = PushMessage(tag=message.tag, title=message.title, text=text, path=message.path)
        self._push.send(pushed, urgent=message.urgent)
        return message.tag

    def remove(self, name: str, receipt: str, message: Message, preferences: NotificationPreferences) -> None:
        """Remove a message from the desktop and from browsers, or send `message` to a channel with `tell_over`."""
        if name == DESKTOP and receipt:
            found = self._current_desktop()
            if not isinstance(found, NoDesktop):
                found.close(receipt)
        elif name == PUSH and receipt and self._push is not None:
            self._push.send(PushMessage(tag=receipt, title=message.title, over=True), urgent=False)
        elif (address := preferences.addresses.get(name)) is not None and address.tell_over:
            send_to_address(address, message)


def _service_names(address: ChannelAddress) -> str:
    return ", ".join(f"{urlsplit(url).scheme or 'unknown'}://…" for url in address.urls)


# --- Apprise ----------------------------------------------------------------------------------------------------------


def send_to_address(address: ChannelAddress, message: Message) -> None:
    """Send a message to all addresses of a channel."""
    import apprise

    with _capture_warnings() as warnings:
        notifier: Any = apprise.Apprise()
        added = all(notifier.add(url) for url in address.urls)
        kind = apprise.NotifyType.WARNING if message.urgent else apprise.NotifyType.INFO
        is_sent = added and notifier.notify(
            title=message.title, body=message.body or message.title, notify_type=kind, body_format="text"
        )
    if not is_sent:
        reason = "; ".join(dict.fromkeys(warnings)) or "the service did not accept it"
        raise DeliveryFailed(redact_addresses(reason, address.urls)[:MAX_REASON_LENGTH])


@contextlib.contextmanager
def _capture_warnings() -> Iterator[list[str]]:
    """Collect Apprise's warnings: it reports the reasons of failures only to its logger."""
    warnings: list[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            warnings.append(record.getMessage())

    logger, collector = logging.getLogger("apprise"), Collector(logging.WARNING)
    logger.propagate = False  # its lines may contain an address
    logger.addHandler(collector)
    try:
        yield warnings
    finally:
        logger.removeHandler(collector)


def redact_addresses(text: str, urls: tuple[str, ...]) -> str:
    """Replace addresses and their parts in a text, except for scheme and host."""
    for url in urls:
        text = text.replace(url, f"{urlsplit(url).scheme}://…")
        for secret in sorted(_secrets(url), key=len, reverse=True):
            text = text.replace(secret, "…")
    return text


def _secrets(url: str) -> set[str]:
    rest = url.partition("://")[2]
    host = urlsplit(url).hostname or ""
    host = host if "." in host else ""  # without a dot it may be a topic or a token
    parts = [part for part in re.split(r"[/:@?&=#]", rest) if len(part) >= MIN_SECRET_LENGTH]
    return {form for part in parts for form in (part, unquote(part)) if form.lower() != host.lower()}
