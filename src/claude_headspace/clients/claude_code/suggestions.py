"""The permissions that Claude Code suggests with a permission dialog. Pure and total.

Rules
- A suggestion with several rules or directories is offered as one suggestion for each of them.
- A suggestion that cannot be put into words, or was stored redacted or cut, is not offered, so it cannot be granted.
- The id is derived from the content: it never stands for something else than what was shown.
"""

import hashlib
from collections.abc import Collection, Iterator
from typing import Any, Literal, NamedTuple

import msgspec

from claude_headspace.kernel.sanitize import is_altered
from claude_headspace.kernel.tolerant_json import UNREADABLE
from claude_headspace.kernel.wait.grants import Destination, GrantOption

Update = dict[str, Any]
"""A permission update as the client suggests and accepts it."""

DESTINATIONS = {
    "session": Destination.SESSION,
    "localSettings": Destination.PROJECT_OF_USER,
    "projectSettings": Destination.PROJECT,
    "userSettings": Destination.USER,
}
RULE_WORDS = {
    ("addRules", "allow"): "Allow {}",
    ("addRules", "deny"): "Always deny {}",
    ("addRules", "ask"): "Always ask before {}",
    ("replaceRules", "allow"): "Allow only {}",
    ("replaceRules", "deny"): "Deny only {}",
    ("replaceRules", "ask"): "Ask only before {}",
    ("removeRules", "allow"): "No longer allow {}",
    ("removeRules", "deny"): "No longer deny {}",
    ("removeRules", "ask"): "No longer ask before {}",
}
DIRECTORY_WORDS = {"addDirectories": "Allow access to {}", "removeDirectories": "End access to {}"}
MODE_WORDS = {"session": "Switch this session to {}"}
DIVISIBLE = {
    "addRules": "rules",
    "removeRules": "rules",
    "addDirectories": "directories",
    "removeDirectories": "directories",
}
"""Updates whose members are independent of each other, and the field with these members."""


class _Offer(NamedTuple):
    option: GrantOption
    update: Update


def grant_options(stored: str) -> tuple[GrantOption, ...]:
    """What the client suggests with a dialog, from the JSON that the client sent."""
    return tuple(offer.option for offer in _offers(stored))


def selected_updates(stored: str, ids: Collection[str]) -> list[Update]:
    """The permission updates for the client: only those that were selected."""
    return [offer.update for offer in _offers(stored) if offer.option.id in ids]


def _offers(stored: str) -> list[_Offer]:
    try:
        updates = msgspec.json.decode(stored, type=list[dict[str, Any]]) if stored else []
    except UNREADABLE:
        return []
    offers = (_offer(part) for update in updates for part in _divided(update))
    return list({offer.option.id: offer for offer in offers if offer is not None}.values())


def _divided(update: Update) -> Iterator[Update]:
    field = DIVISIBLE.get(str(update.get("type")), "")
    members = update.get(field)
    if isinstance(members, list):
        yield from ({**update, field: [member]} for member in members)
    else:
        yield update


def _offer(update: Update) -> _Offer | None:
    kind, words = _words(update)
    destination = DESTINATIONS.get(str(update.get("destination")))
    if not words or destination is None or is_altered(words):
        return None
    mark = hashlib.blake2b(msgspec.json.encode(update, order="sorted"), digest_size=3).hexdigest()
    return _Offer(GrantOption(id=f"{kind}-{mark}", kind=kind, words=words, destination=destination), update)


def _words(update: Update) -> tuple[Literal["rule", "mode", "directory"], str]:
    """The kind and the words; no words if it is unknown."""
    what, destination = str(update.get("type")), str(update.get("destination"))
    if what == "setMode":
        return "mode", _fill(MODE_WORDS.get(destination, "Start sessions in mode {}"), _texts([update.get("mode")]))
    if what in DIRECTORY_WORDS:
        return "directory", _fill(DIRECTORY_WORDS[what], _texts(update.get("directories")))
    return "rule", _fill(RULE_WORDS.get((what, str(update.get("behavior"))), ""), _rules(update.get("rules")))


def _fill(pattern: str, members: list[str]) -> str:
    return pattern.format(", ".join(members)) if members else ""


def _texts(value: Any) -> list[str]:
    """Texts that are not empty; none if one of them is something else."""
    found = value if isinstance(value, list) else []
    return found if all(isinstance(each, str) and each for each in found) else []


def _rules(value: Any) -> list[str]:
    """Rules as the client writes them in its settings; none if one of them is unknown."""
    found = [_rule(each) for each in value] if isinstance(value, list) else []
    return [] if "" in found else found


def _rule(value: Any) -> str:
    tool, content = (value.get("toolName"), value.get("ruleContent")) if isinstance(value, dict) else (None, None)
    if not isinstance(tool, str) or not tool or not isinstance(content, str | None):
        return ""
    return f"{tool}({content})" if content else tool
