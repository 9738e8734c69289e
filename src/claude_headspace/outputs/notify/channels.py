"""The ways to reach a person: the desktop, and every address that Apprise knows. Everything here may take its time, so
it is called in a thread; Apprise is loaded when the first address is used, and not before.

A failure says why, without the secrets of the address.
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

from claude_headspace.kernel.notify.rules import DESKTOP, PAGE
from claude_headspace.outputs.notify import desktop
from claude_headspace.outputs.notify.desktop import DeliveryFailed, Desktop, NoDesktop
from claude_headspace.outputs.notify.preferences import ChannelAddress, NotificationPreferences

log = structlog.get_logger(__name__)

DESKTOP_RETRY_SECONDS = 60.0
"""How soon a desktop that was not there is looked for again."""
MAX_REASON_LENGTH = 300
MIN_SECRET_LENGTH = 4


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """What a person is told."""

    title: str
    text: str
    link: str = ""
    urgent: bool = False
    tag: str = ""
    """What it is called where one may say so."""

    @property
    def body(self) -> str:
        """The text with the link below it."""
        return f"{self.text}\n{self.link}".strip()


class ChannelState(msgspec.Struct, frozen=True):
    """A channel, whether it can be used now, and by what: never its address."""

    name: str
    available: bool
    detail: str


class Channels:
    """All channels of a book."""

    def __init__(
        self,
        env: Mapping[str, str] = os.environ,
        find_desktop: Callable[[Mapping[str, str]], Desktop | NoDesktop] = desktop.find_desktop,
        has_page: Callable[[], bool] = lambda: False,
    ) -> None:
        self._env = env
        self._find_desktop = find_desktop
        self._has_page = has_page
        self._desktop: Desktop | NoDesktop | None = None
        self._next_search_at = 0.0
        self._has_logged_missing = False

    def available(self, preferences: NotificationPreferences) -> frozenset[str]:
        """The channels that can be used now."""
        return frozenset(state.name for state in self.states(preferences) if state.available)

    def states(self, preferences: NotificationPreferences) -> list[ChannelState]:
        """Every channel."""
        desktop = self._current_desktop()
        here = ChannelState(DESKTOP, False, desktop.reason) if isinstance(desktop, NoDesktop) else _shows(desktop)
        page = "a page is open and may notify" if self._has_page() else "no open page that may notify"
        others = [ChannelState(name, True, _service_names(address)) for name, address in preferences.addresses.items()]
        return [here, ChannelState(PAGE, self._has_page(), page), *others]

    def _current_desktop(self) -> Desktop | NoDesktop:
        missing = self._desktop is None or isinstance(self._desktop, NoDesktop)
        if missing and time.monotonic() >= self._next_search_at:
            self._desktop, self._next_search_at = (
                self._find_desktop(self._env),
                time.monotonic() + DESKTOP_RETRY_SECONDS,
            )
            if isinstance(self._desktop, NoDesktop) and not self._has_logged_missing:
                self._has_logged_missing = True
                log.info("no_desktop", why=self._desktop.reason, hint="other channels: docs/notifications.md")
        assert self._desktop is not None
        return self._desktop

    def send(self, name: str, message: Message, preferences: NotificationPreferences) -> str:
        """Send a message; its receipt. Raises `Undelivered`."""
        if name == PAGE:
            return ""  # the stream told it when it was written down
        if name == DESKTOP:
            return self._show_on_desktop(message)
        address = preferences.addresses.get(name)
        if address is None:
            raise DeliveryFailed(f"there is no channel {name} any more")
        sent = msgspec.structs.replace(message, text="") if address.brief else message
        send_to_address(address, sent)
        return ""

    def _show_on_desktop(self, message: Message) -> str:
        found = self._current_desktop()
        if isinstance(found, NoDesktop):
            raise DeliveryFailed(found.reason)
        try:
            return found.show(message.title, message.text, message.link, urgent=message.urgent, tag=message.tag)
        except DeliveryFailed:
            self._desktop = None  # it may be gone: look for it again next time
            raise

    def remove(self, name: str, receipt: str, message: Message, preferences: NotificationPreferences) -> None:
        """Take a message back, or tell that it is settled where the channel wants to know."""
        if name == DESKTOP and receipt:
            found = self._current_desktop()
            if not isinstance(found, NoDesktop):
                found.close(receipt)
        elif (address := preferences.addresses.get(name)) is not None and address.tell_over:
            send_to_address(address, message)


def _shows(found: Desktop) -> ChannelState:
    return ChannelState(DESKTOP, True, f"shown by {found.kind}")


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
        done = added and notifier.notify(
            title=message.title, body=message.body or message.title, notify_type=kind, body_format="text"
        )
    if not done:
        reason = "; ".join(dict.fromkeys(warnings)) or "the service did not take it"
        raise DeliveryFailed(redact_addresses(reason, address.urls)[:MAX_REASON_LENGTH])


@contextlib.contextmanager
def _capture_warnings() -> Iterator[list[str]]:
    """What Apprise says of its failures goes to its log alone."""
    warnings: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            warnings.append(record.getMessage())

    logger, ear = logging.getLogger("apprise"), Ear(logging.WARNING)
    logger.propagate = False  # its lines may hold an address
    logger.addHandler(ear)
    try:
        yield warnings
    finally:
        logger.removeHandler(ear)


def redact_addresses(text: str, urls: tuple[str, ...]) -> str:
    """A text in which nothing of an address is left but its scheme and where it leads."""
    for url in urls:
        text = text.replace(url, f"{urlsplit(url).scheme}://…")
        for secret in sorted(_secrets(url), key=len, reverse=True):
            text = text.replace(secret, "…")
    return text


def _secrets(url: str) -> set[str]:
    rest = url.partition("://")[2]
    host = urlsplit(url).hostname or ""
    host = host if "." in host else ""  # a topic or token may stand in its place
    parts = [part for part in re.split(r"[/:@?&=#]", rest) if len(part) >= MIN_SECRET_LENGTH]
    return {form for part in parts for form in (part, unquote(part)) if form.lower() != host.lower()}
