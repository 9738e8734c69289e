"""The channel `push`: sends a message to every subscribed browser, and removes it when its need is met.

Rules
- A message is delivered if one browser's push service accepted it. A browser that ended its subscription is forgotten.
- A message that only removes another one has the same tag and topic: if the first was not delivered yet, the push
  service drops it.
"""

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from claude_headspace.kernel.text import count
from claude_headspace.outputs.notify.desktop import DeliveryFailed
from claude_headspace.outputs.notify.push import push_service
from claude_headspace.outputs.notify.push.encryption import PushKey, PushMessage
from claude_headspace.outputs.notify.push.subscriptions import Subscription, Subscriptions

NO_BROWSER = "no browser is subscribed"


class PushChannel:
    """Pushes to all subscribed browsers."""

    def __init__(self, key_file: Path, subscriptions: Subscriptions, services: Collection[str] = ()) -> None:
        self._key = PushKey(key_file)
        self.subscriptions = subscriptions
        self.services = frozenset(service.rstrip("/") for service in services)
        self.failures: dict[str, str] = {}
        """Why the last message to a browser failed, by the id of the browser."""

    @property
    def public_key(self) -> str:
        """The key with which browsers subscribe."""
        return self._key.public_key

    @property
    def is_available(self) -> bool:
        """Whether a browser is subscribed."""
        return bool(self.subscriptions.current())

    @property
    def detail(self) -> str:
        """How many browsers are subscribed."""
        found = len(self.subscriptions.current())
        return f"{count(found, 'subscribed browser')}" if found else NO_BROWSER

    def send(self, message: PushMessage, *, urgent: bool) -> None:
        """Send a message to all browsers. Raises `DeliveryFailed` if none of their push services accepted it."""
        found = self.subscriptions.current()
        if not found:
            raise DeliveryFailed(NO_BROWSER)
        with ThreadPoolExecutor(len(found), "push") as threads:
            failures = list(threads.map(lambda each: self._send_to(each, message, urgent=urgent), found))
        if all(failures):
            raise DeliveryFailed("; ".join(dict.fromkeys(failures)))

    def _send_to(self, subscription: Subscription, message: PushMessage, *, urgent: bool) -> str:
        """Send a message to a browser. Returns why it failed; empty if it was accepted."""
        try:
            push_service.send(self._key.request(subscription, message, urgent=urgent), self.services)
        except push_service.SubscriptionGone as error:
            self.subscriptions.remove(subscription.browser, subscription.endpoint)
            self.failures.pop(subscription.browser, None)
            return str(error)
        except DeliveryFailed as error:
            self.failures[subscription.browser] = str(error)
            return str(error)
        self.failures.pop(subscription.browser, None)
        return ""
