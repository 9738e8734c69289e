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
from claude_headspace.outputs.notify.desktop import Desktop, Missing, Undelivered
from claude_headspace.outputs.notify.preferences import Address, Book

log = structlog.get_logger(__name__)

LOOK_AGAIN_SECONDS = 60.0
"""How soon a desktop that was not there is looked for again."""
LONGEST_REASON = 300
SHORTEST_SECRET = 4


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
        find_desktop: Callable[[Mapping[str, str]], Desktop | Missing] = desktop.find,
        has_page: Callable[[], bool] = lambda: False,
    ) -> None:
        self._env = env
        self._find_desktop = find_desktop
        self._has_page = has_page
        self._desktop: Desktop | Missing | None = None
        self._looked_at = 0.0
        self._said_missing = False

    def available(self, book: Book) -> frozenset[str]:
        """The channels that can be used now."""
        return frozenset(state.name for state in self.states(book) if state.available)

    def states(self, book: Book) -> list[ChannelState]:
        """Every channel."""
        found = self._find()
        here = ChannelState(DESKTOP, False, found.why) if isinstance(found, Missing) else _shows(found)
        page = "a page is open and may notify" if self._has_page() else "no open page that may notify"
        others = [ChannelState(name, True, _services(address)) for name, address in book.addresses.items()]
        return [here, ChannelState(PAGE, self._has_page(), page), *others]

    def _find(self) -> Desktop | Missing:
        missing = self._desktop is None or isinstance(self._desktop, Missing)
        if missing and time.monotonic() >= self._looked_at:
            self._desktop, self._looked_at = self._find_desktop(self._env), time.monotonic() + LOOK_AGAIN_SECONDS
            if isinstance(self._desktop, Missing) and not self._said_missing:
                self._said_missing = True
                log.info("no_desktop", why=self._desktop.why, hint="other channels: docs/notifications.md")
        assert self._desktop is not None
        return self._desktop

    def send(self, name: str, message: Message, book: Book) -> str:
        """Send a message; its receipt. Raises `Undelivered`."""
        if name == PAGE:
            return ""  # the stream told it when it was written down
        if name == DESKTOP:
            return self._show(message)
        address = book.addresses.get(name)
        if address is None:
            raise Undelivered(f"there is no channel {name} any more")
        told = msgspec.structs.replace(message, text="") if address.brief else message
        send_to(address, told)
        return ""

    def _show(self, message: Message) -> str:
        found = self._find()
        if isinstance(found, Missing):
            raise Undelivered(found.why)
        try:
            return found.show(message.title, message.text, message.link, urgent=message.urgent, tag=message.tag)
        except Undelivered:
            self._desktop = None  # it may be gone: look for it again next time
            raise

    def withdraw(self, name: str, receipt: str, message: Message, book: Book) -> None:
        """Take a message back, or tell that it is settled where the channel wants to know."""
        if name == DESKTOP and receipt:
            found = self._find()
            if not isinstance(found, Missing):
                found.close(receipt)
        elif (address := book.addresses.get(name)) is not None and address.tell_over:
            send_to(address, message)


def _shows(found: Desktop) -> ChannelState:
    return ChannelState(DESKTOP, True, f"shown by {found.kind}")


def _services(address: Address) -> str:
    return ", ".join(f"{urlsplit(url).scheme or 'unknown'}://…" for url in address.urls)


# --- Apprise ----------------------------------------------------------------------------------------------------------


def send_to(address: Address, message: Message) -> None:
    """Send a message to all addresses of a channel."""
    import apprise

    with _overheard() as said:
        notifier: Any = apprise.Apprise()
        added = all(notifier.add(url) for url in address.urls)
        kind = apprise.NotifyType.WARNING if message.urgent else apprise.NotifyType.INFO
        done = added and notifier.notify(
            title=message.title, body=message.body or message.title, notify_type=kind, body_format="text"
        )
    if not done:
        reason = "; ".join(dict.fromkeys(said)) or "the service did not take it"
        raise Undelivered(without_secrets(reason, address.urls)[:LONGEST_REASON])


@contextlib.contextmanager
def _overheard() -> Iterator[list[str]]:
    """What Apprise says of its failures goes to its log alone."""
    said: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    logger, ear = logging.getLogger("apprise"), Ear(logging.WARNING)
    logger.propagate = False  # its lines may hold an address
    logger.addHandler(ear)
    try:
        yield said
    finally:
        logger.removeHandler(ear)


def without_secrets(text: str, urls: tuple[str, ...]) -> str:
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
    parts = [part for part in re.split(r"[/:@?&=#]", rest) if len(part) >= SHORTEST_SECRET]
    return {form for part in parts for form in (part, unquote(part)) if form.lower() != host.lower()}
