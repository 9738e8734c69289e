"""Encrypts messages for a browser (RFC 8291), and signs requests for its push service (VAPID, RFC 8292).

Rules
- The private key is created once, in a file with mode 0600. Browsers subscribe with the public key, so another key ends
  all subscriptions.
- Only the browser can read a message. Its length is rounded up, so that the push service learns little from it.
- The libraries are imported at the first use.
"""

import base64
import hashlib
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from claude_headspace.config import write_private_file
from claude_headspace.outputs.notify.push.subscriptions import Subscription

if TYPE_CHECKING:
    from py_vapid import Vapid02

TOKEN_SECONDS = 12 * 3600
"""How long a signature is valid. A push service accepts at most a day."""
TTL_SECONDS = 24 * 3600
"""How long a push service keeps a message for a browser that cannot be reached."""
BLOCK_BYTES = 512
MAX_BYTES = 3_584
"""Maximum size of a message, a multiple of the block. A push service accepts 4,096 bytes with what encryption adds."""
TOPIC_LENGTH = 32
LOCAL_CONTACT = "mailto:headspace@localhost"


class PushMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the service worker of the page receives."""

    tag: str
    """A message replaces one with the same tag."""
    title: str
    text: str = ""
    path: str = "/"
    """The view to open."""
    over: bool = False
    """The need was met: the notification is removed."""


class PushRequest(msgspec.Struct, frozen=True):
    """A request for a push service."""

    url: str
    headers: dict[str, str]
    body: bytes


class PushKey:
    """The key pair of this installation."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _vapid(self) -> "Vapid02":
        from py_vapid import Vapid02

        if self._path.exists():
            return Vapid02.from_pem(self._path.read_bytes())
        created = Vapid02()
        created.generate_keys()
        write_private_file(self._path, created.private_pem())
        return created

    @cached_property
    def public_key(self) -> str:
        """The public key, as browsers expect it."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        point = self._vapid.public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return base64.urlsafe_b64encode(point).rstrip(b"=").decode()

    def request(self, subscription: Subscription, message: PushMessage, *, urgent: bool) -> PushRequest:
        """The request that sends a message to a browser."""
        claims = {
            "aud": subscription.service,
            "exp": int(time.time()) + TOKEN_SECONDS,
            "sub": _contact(subscription.origin),
        }
        headers = {
            **self._vapid.sign(claims),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(TTL_SECONDS),
            "Topic": topic(message.tag),
            "Urgency": "high" if urgent else "normal",
        }
        return PushRequest(subscription.endpoint, headers, encrypt(subscription, encode(message)))


def topic(tag: str) -> str:
    """A topic for a tag. While a message waits at the push service, one with the same topic replaces it."""
    return base64.urlsafe_b64encode(hashlib.sha256(tag.encode()).digest())[:TOPIC_LENGTH].decode()


def encode(message: PushMessage) -> bytes:
    """A message as JSON, with spaces up to the next block. A long text is cut."""
    content = msgspec.json.encode(message)
    while len(content) > MAX_BYTES:
        excess = len(content) - MAX_BYTES
        message = msgspec.structs.replace(message, text=f"{message.text[: -max(excess // 4, 2)]}…")
        content = msgspec.json.encode(message)
    return content.ljust(-(-len(content) // BLOCK_BYTES) * BLOCK_BYTES)


def encrypt(subscription: Subscription, content: bytes) -> bytes:
    """Encrypt for a browser, with a key pair for this message alone."""
    import http_ece
    from cryptography.hazmat.primitives.asymmetric import ec

    encrypted: bytes = http_ece.encrypt(
        content,
        private_key=ec.generate_private_key(ec.SECP256R1()),
        dh=subscription.browser_key,
        auth_secret=subscription.browser_secret,
        version="aes128gcm",
    )
    return encrypted


def _contact(origin: str) -> str:
    """Whom a push service can contact: the address of this dashboard, if it has a name of its own."""
    found = urlsplit(origin)
    has_name = found.scheme == "https" and "." in (found.hostname or "")
    return f"https://{found.hostname}" if has_name else LOCAL_CONTACT
