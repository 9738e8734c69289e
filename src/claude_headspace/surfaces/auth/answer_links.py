"""Links that answer one wait, for messages: whoever has one may answer that wait and nothing else, without signing in.

    links.link(wait, "ann")   ->   https://headspace.example.net/answer/…

A link is made from the secret of this home, as tokens are: nothing is stored, deleting the secret revokes it. It names
the wait and to whom it was sent, which is who the journal says answered.

Rules
- It is good while its wait can be answered, and a wait is answered once: so is a link used, and so does it expire.
- There is none where nobody could open it: without `public_url`, or for what its client does not hold open.
"""

import base64
import hashlib
import hmac
from urllib.parse import urlsplit

import msgspec

from claude_headspace.kernel.agent import Wait

PATH = "/answer/"
LONGEST_NAME = 100


class Invited(msgspec.Struct, frozen=True, array_like=True):
    """What a link is about: a wait, and to whom it was sent."""

    wait_id: str
    to: str


class Links:
    """Makes links, and knows its own."""

    def __init__(self, secret: bytes, public_url: str) -> None:
        self._secret = secret
        self._public_url = public_url.rstrip("/")

    def link(self, wait: Wait, to: str) -> str | None:
        """The address at which somebody can answer a wait; None if there is none that would work."""
        if not self._public_url or not wait.held_until or wait.answered is not None or wait.closed_at is not None:
            return None
        return f"{self._public_url}{PATH}{self.seal(Invited(wait.id, to[:LONGEST_NAME]))}"

    def seal(self, invited: Invited) -> str:
        """The part of the address that nobody can guess."""
        body = base64.urlsafe_b64encode(msgspec.json.encode(invited)).decode().rstrip("=")
        return f"{body}.{self._mac(body)}"

    def read(self, sealed: str) -> Invited | None:
        """What a link is about, if it is one of ours."""
        body, _, mac = sealed.partition(".")
        if not sealed.isascii() or not hmac.compare_digest(self._mac(body), mac):
            return None
        padded = body + "=" * (-len(body) % 4)
        return msgspec.json.decode(base64.urlsafe_b64decode(padded), type=Invited)

    def _mac(self, body: str) -> str:
        return hmac.new(self._secret, f"headspace answer link {body}".encode(), hashlib.sha256).hexdigest()[:40]


def host_of(public_url: str) -> str:
    """The name under which links lead here."""
    return urlsplit(public_url).hostname or ""
