"""What an approval of Codex can grant beyond one call. Pure and total.

With an approval Codex offers decisions. Some of them also allow later calls. Each of these is a grant option, in words
that say exactly what it permits, and how long.

Rules
- A decision that cannot be put into words is not offered, so it cannot be granted.
- The id is derived from the decision: it never stands for something else than what was shown.
- Codex takes one decision, so one option can be granted with an answer.
"""

import hashlib
from collections.abc import Collection
from typing import Any

import msgspec

from claude_headspace.kernel.sanitize import is_altered
from claude_headspace.kernel.tolerant_json import UNREADABLE
from claude_headspace.kernel.wait.grants import Destination, GrantOption

SESSION_WORDS = {
    "command": "Allow exactly this command again without asking",
    "file": "Allow further changes of {} without asking",
}
"""What `acceptForSession` permits, by what is to be approved. The braces stand for the files."""


class Suggestion(msgspec.Struct, frozen=True, omit_defaults=True):
    """A decision that Codex offers, about a `command` or a `file`."""

    kind: str
    decision: Any
    files: str = ""
    """The files that are to be changed, if the decision is about them."""


def write_suggestions(suggestions: Collection[Suggestion], files: str = "") -> str:
    """The suggestions as they are stored with a wait, with the names of the files that it is about."""
    named = [msgspec.structs.replace(each, files=files) if each.kind == "file" else each for each in suggestions]
    return msgspec.json.encode(named).decode() if named else ""


def grant_options(stored: str) -> tuple[GrantOption, ...]:
    """What can be granted, from the suggestions that are stored with a wait."""
    offers = (_option(each) for each in _read(stored))
    return tuple(offer for offer in offers if offer is not None)


def find_decision(stored: str, option_id: str) -> object:
    """The decision for the daemon that an option stands for; None if there is none."""
    found = ((_option(each), each.decision) for each in _read(stored))
    return next((decision for option, decision in found if option is not None and option.id == option_id), None)


def _read(stored: str) -> list[Suggestion]:
    try:
        return msgspec.json.decode(stored, type=list[Suggestion]) if stored else []
    except UNREADABLE:
        return []


def _option(suggestion: Suggestion) -> GrantOption | None:
    words, destination = _words(suggestion)
    if not words or is_altered(words):
        return None
    mark = hashlib.blake2b(msgspec.json.encode(suggestion, order="sorted"), digest_size=3).hexdigest()
    return GrantOption(id=f"rule-{mark}", kind="rule", words=words, destination=destination)


def _words(suggestion: Suggestion) -> tuple[str, Destination]:
    """What a decision permits, and where that is stored; no words if it is unknown."""
    match suggestion.decision:
        case "acceptForSession":
            files = suggestion.files or "all files of this patch"
            return SESSION_WORDS.get(suggestion.kind, "").format(files), Destination.SESSION
        case {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": [*parts]}} if parts and all(
            isinstance(part, str) for part in parts
        ):
            return f"Allow commands that start with {' '.join(map(_quoted, parts))}", Destination.USER
        case {"applyNetworkPolicyAmendment": {"network_policy_amendment": {"action": "allow", "host": str(host)}}}:
            return f"Allow network access to {host}", Destination.USER
        case _:
            return "", Destination.SESSION


def _quoted(part: str) -> str:
    """One word of a command; in quotes if it is not plain."""
    is_plain = part and all(letter.isalnum() or letter in "-_./=:@%+" for letter in part)
    return part if is_plain else msgspec.json.encode(part).decode()
