"""What "always" grants with a permission dialog of opencode. Pure and total.

The client allows the patterns of a dialog together, or none of them. A pattern that was stored redacted or cut is not
offered, so it cannot be granted.
"""

import hashlib

import msgspec

from claude_headspace.clients.opencode.wire import WirePermission
from claude_headspace.kernel.sanitize import is_altered
from claude_headspace.kernel.tolerant_json import UNREADABLE
from claude_headspace.kernel.wait.grants import Destination, GrantOption


class Offer(msgspec.Struct, frozen=True):
    """What "always" allows: a kind of permission for patterns of its subject."""

    permission: str
    patterns: list[str]


def as_suggestions(asked: WirePermission) -> str:
    """What a dialog offers, as it is stored with the wait."""
    if not asked.permission or not asked.always:
        return ""
    return msgspec.json.encode([Offer(asked.permission, asked.always)]).decode()


def grant_options(stored: str) -> tuple[GrantOption, ...]:
    """What can be granted with an answer."""
    try:
        offers = msgspec.json.decode(stored, type=list[Offer]) if stored else []
    except UNREADABLE:
        return ()
    words = ((offer, f"Allow {offer.permission} of {', '.join(offer.patterns)}") for offer in offers)
    return tuple(_option(offer, text) for offer, text in words if not is_altered(text))


def _option(offer: Offer, words: str) -> GrantOption:
    mark = hashlib.blake2b(msgspec.json.encode(offer), digest_size=3).hexdigest()
    return GrantOption(id=f"rule-{mark}", kind="rule", words=words, destination=Destination.PROCESS)
