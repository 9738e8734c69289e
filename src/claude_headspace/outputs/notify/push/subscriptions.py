"""The browsers that receive pushes, in a file with mode 0600.

Rules
- A browser has one subscription; subscribing again replaces it. It lasts as long as the browser is signed in.
- The address of a subscription is a secret: who knows it can send to the browser. No view and no log contains it.
- Subscriptions belong to the secret of the installation. Deleting the secret signs out all browsers, and ends these.
- A file that cannot be read counts as empty. The browsers subscribe again when their dashboard is opened.
"""

import base64
import binascii
import hashlib
import hmac
import ipaddress
import threading
from collections.abc import Collection
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import structlog

from claude_headspace.config import write_private_file
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.envelope import Micros
from claude_headspace.ports import Clock

log = structlog.get_logger(__name__)

MAX_SUBSCRIPTIONS = 20
"""The oldest one is dropped if there are more."""
PUBLIC_KEY_BYTES, SECRET_BYTES = 65, 16


class Subscription(msgspec.Struct, frozen=True, kw_only=True):
    """A browser that receives pushes, as its push service described it."""

    browser: str
    """Id of the signed-in browser."""
    endpoint: str
    browser_key: bytes
    browser_secret: bytes
    name: str
    """Browser and system, for people."""
    origin: str
    """The address of the dashboard in this browser."""
    created_at: Micros
    expires_at: Micros
    """When its sign-in ends."""

    @property
    def service(self) -> str:
        """The origin of the push service."""
        found = urlsplit(self.endpoint)
        return f"{found.scheme}://{found.netloc}"


class _File(msgspec.Struct, frozen=True):
    installation: str
    subscriptions: list[Subscription]


class Subscriptions:
    """The subscriptions of this installation."""

    def __init__(self, path: Path, secret: bytes, clock: Clock) -> None:
        self._path = path
        self._installation = hmac.new(secret, b"headspace push", hashlib.sha256).hexdigest()[:32]
        self.clock = clock
        self._lock = threading.Lock()
        self._by_browser = {each.browser: each for each in self._read()}

    def current(self) -> list[Subscription]:
        """The subscriptions of browsers that are signed in, the newest last."""
        now = self.clock()
        with self._lock:
            return [each for each in self._by_browser.values() if each.expires_at > now]

    def add(self, subscription: Subscription) -> None:
        """Store a subscription in place of the previous one of the same browser or with the same address."""
        with self._lock:
            others = [
                each
                for each in self._by_browser.values()
                if each.endpoint != subscription.endpoint and each.browser != subscription.browser
            ]
            self._write([*others, subscription][-MAX_SUBSCRIPTIONS:])

    def remove(self, browser: str, endpoint: str | None = None) -> bool:
        """Remove the subscription of a browser, if it still has this endpoint. Returns whether there was one."""
        with self._lock:
            found = self._by_browser.get(browser)
            if found is None or endpoint not in (None, found.endpoint):
                return False
            self._write([each for each in self._by_browser.values() if each is not found])
            return True

    def _read(self) -> list[Subscription]:
        try:
            file = msgspec.json.decode(self._path.read_bytes(), type=_File)
        except FileNotFoundError:
            return []
        except (OSError, msgspec.MsgspecError) as error:
            log.warning("push_subscriptions_unreadable", reason=type(error).__name__)
            return []
        return file.subscriptions if file.installation == self._installation else []

    def _write(self, subscriptions: list[Subscription]) -> None:
        write_private_file(self._path, msgspec.json.encode(_File(self._installation, subscriptions)))
        self._by_browser = {each.browser: each for each in subscriptions}


def parse_keys(browser_key: str, browser_secret: str) -> tuple[bytes, bytes]:
    """The key and the secret of a browser. Raises `BadRequest` if they cannot be used."""
    from cryptography.hazmat.primitives.asymmetric import ec

    try:
        key, secret = map(_decode64, (browser_key, browser_secret))
        if len(key) != PUBLIC_KEY_BYTES or len(secret) != SECRET_BYTES:
            raise ValueError
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), key)
    except (ValueError, binascii.Error) as error:
        raise BadRequest(
            "bad_push_keys", "The keys of this push subscription are not valid.", "Enable notifications again."
        ) from error
    return key, secret


def _decode64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def check_endpoint(endpoint: str, services: Collection[str]) -> None:
    """Raise `BadRequest` unless pushes may be sent to an address: https, or a push service of the settings."""
    try:
        found = urlsplit(endpoint)
        origin, has_login = f"{found.scheme}://{found.netloc}", "@" in found.netloc
        is_public = found.scheme == "https" and found.port in (None, 443) and not _is_private_address(found.hostname)
    except ValueError:
        origin, has_login, is_public = "", True, False
    if has_login or not (is_public or origin in services):
        raise BadRequest(
            "bad_push_service",
            "Pushes are sent to push services with https and a public address only.",
            "Add the origin of another push service to `push_services` in config.toml.",
        )


def _is_private_address(host: str | None) -> bool:
    """Whether a host is an address of a private network. The address of a name is checked when it is used."""
    try:
        return not ipaddress.ip_address(host or "").is_global
    except ValueError:
        return not host
