"""Links in notifications that answer one wait. Whoever has a link can answer that wait, without signing in.

    links.create(wait, "ann")   ->   https://headspace.example.net/answer/…

A link is signed with the secret of this installation, like tokens; nothing is stored, and deleting the secret revokes
all links. It contains the wait and the recipient, who is recorded as the author of the answer.

Rules
- A link works while its wait can be answered. A wait is answered once, so a link works once.
- No link is created without `public_url`, or for a wait whose hook is not held open.
"""

import base64
import hashlib
import hmac
from urllib.parse import urlsplit

import msgspec

from claude_headspace.kernel.agent import Wait

PATH = "/answer/"
MAX_RECIPIENT_LENGTH = 100


class AnswerGrant(msgspec.Struct, frozen=True, array_like=True):
    """The content of a link: the wait that it answers, and the recipient."""

    wait_id: str
    recipient: str


class AnswerLinks:
    """Creates and verifies links."""

    def __init__(self, secret: bytes, public_url: str) -> None:
        self._secret = secret
        self._public_url = public_url.rstrip("/")

    def create(self, wait: Wait, recipient: str) -> str | None:
        """The URL at which a wait can be answered; None if it cannot be answered that way."""
        if not self._public_url or not wait.held_until or wait.answered is not None or wait.closed_at is not None:
            return None
        return f"{self._public_url}{PATH}{self.sign(AnswerGrant(wait.id, recipient[:MAX_RECIPIENT_LENGTH]))}"

    def sign(self, grant: AnswerGrant) -> str:
        """The last part of the URL: the grant with its signature."""
        body = base64.urlsafe_b64encode(msgspec.json.encode(grant)).decode().rstrip("=")
        return f"{body}.{self._mac(body)}"

    def verify(self, signed: str) -> AnswerGrant | None:
        """The grant in a link; None if the signature is wrong."""
        body, _, mac = signed.partition(".")
        if not signed.isascii() or not hmac.compare_digest(self._mac(body), mac):
            return None
        padded = body + "=" * (-len(body) % 4)
        return msgspec.json.decode(base64.urlsafe_b64decode(padded), type=AnswerGrant)

    def _mac(self, body: str) -> str:
        return hmac.new(self._secret, f"headspace answer link {body}".encode(), hashlib.sha256).hexdigest()[:40]


def hostname(public_url: str) -> str:
    """The host name in `public_url`; empty if there is none."""
    return urlsplit(public_url).hostname or ""
