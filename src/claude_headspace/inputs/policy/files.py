"""Rules from files: what comes with Headspace, the user's `policy.toml`, a project's `.headspace/policy.toml`.

Rules
- The user may add rules, and change or switch off any that comes with Headspace, by its id.
- A project may only add: rules that deny, ask or warn, under ids of their own. It cannot weaken what the user set.
- Whom an interactive session may write to is looked at once there is a `contacts.toml`, and always under `strict`: who
  never named a contact has Claude Code's own permissions for it.
- A file that cannot be used is named with what is wrong in it; nothing of it is used.
"""

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from claude_headspace.config import Paths
from claude_headspace.errors import BadConfiguration
from claude_headspace.inputs.policy.paths import MAX_SCRIPT_BYTES, read_small_text
from claude_headspace.kernel.policy.policy import Policy
from claude_headspace.kernel.policy.rules import Rule, Texts
from claude_headspace.kernel.policy.verdict import Ruling

PROJECT_FILE = ".headspace/policy.toml"


class Messaging(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which calls write to people."""

    send: Texts = ()
    draft: Texts = ()
    recipients: Texts = ()
    commands: Texts = ()


class Contact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody the user knows."""

    name: str
    addresses: Texts = ()
    tags: Texts = ()


class RuleBook(msgspec.Struct, frozen=True, kw_only=True):
    """All that was read: the rules, what counts as a message, and who is known."""

    policy: Policy
    messaging: Messaging
    contacts: tuple[Contact, ...] = ()


class _PolicyFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rule: tuple[dict[str, Any], ...] = ()
    messaging: dict[str, Texts] = {}


class _ContactsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    contact: tuple[Contact, ...] = ()


def load(places: Paths, preset: str) -> RuleBook:
    """The rules of this home under a preset."""
    return compose(preset, places, _read(places.policy_file), places.policy_file, contacts_of(places.contacts_file))


def built_in(places: Paths, preset: str) -> RuleBook:
    """The rules that come with Headspace, as they are; contacts that cannot be read are still meant."""
    contacts = () if places.contacts_file.exists() else None
    return compose(preset, places, _PolicyFile(), places.policy_file, contacts)


def compose(
    preset: str, places: Paths, own: _PolicyFile, source: Path, contacts: tuple[Contact, ...] | None = None
) -> RuleBook:
    """Rules and messaging: those that come with Headspace, as the user changed them."""
    shipped = _shipped()
    rules = {str(rule["id"]): dict(rule) for rule in shipped.rule}
    for rule in own.rule:
        name = str(rule.get("id", ""))
        rules[name] = {**rules.get(name, {}), **rule}
    made = tuple(_rule(rule, source, _own_places(places)) for rule in rules.values())
    if contacts is None and preset != "strict":
        made = _without_contacts(made, {str(rule.get("id")) for rule in own.rule})
    messaging = _messaging({**shipped.messaging, **own.messaging}, source)
    policy = Policy(rules=made if preset != "off" else (), strict=preset == "strict", shadow=preset == "watch")
    return RuleBook(policy=policy, messaging=messaging, contacts=contacts or ())


def _without_contacts(rules: tuple[Rule, ...], own: set[str]) -> tuple[Rule, ...]:
    """Rules about contacts that nobody has named hold only where the user wrote them."""
    return tuple(
        msgspec.structs.replace(rule, enabled=False) if rule.untagged and rule.id not in own else rule for rule in rules
    )


def _own_places(places: Paths) -> dict[str, str]:
    return {"{headspace-config}": str(places.config), "{headspace-secret}": str(places.secret_file)}


def read_policy(path: Path, preset: str, places: Paths) -> RuleBook:
    """The rules with another file in place of the user's."""
    if not path.is_file():
        raise _unusable(path, "there is no such file")
    return compose(preset, places, _read(path), path, contacts_of(places.contacts_file))


def read_project(root: str) -> tuple[Rule, ...]:
    """What a project adds; never anything that allows, switches off or replaces."""
    path = Path(root) / PROJECT_FILE
    found = _read(path)
    if found.messaging:
        raise _unusable(path, "`messaging` is the user's to set")
    rules = tuple(_rule(rule, path, {}) for rule in found.rule)
    known = {str(rule["id"]) for rule in _shipped().rule}
    for rule in rules:
        if rule.id in known:
            raise _unusable(path, f"a project cannot change the rule {rule.id}; give it an id of its own")
        if Ruling.ALLOW in (rule.outcome, rule.strict, rule.unclear):
            raise _unusable(path, f"a project's rule can deny, ask or warn, not allow ({rule.id})")
    return tuple(msgspec.structs.replace(rule, id=f"project-{rule.id}"[:64]) for rule in rules)


def contacts_of(path: Path) -> tuple[Contact, ...] | None:
    """The people that the user has named; None without such a file."""
    if not path.exists():
        return None
    try:
        return msgspec.convert(_toml(path), _ContactsFile).contact
    except msgspec.ValidationError as error:
        raise _unusable(path, str(error)) from error


@lru_cache(maxsize=1)
def _shipped() -> _PolicyFile:
    text = files("claude_headspace.inputs.policy").joinpath("defaults.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _PolicyFile)


def _read(path: Path) -> _PolicyFile:
    try:
        return msgspec.convert(_toml(path), _PolicyFile)
    except msgspec.ValidationError as error:
        raise _unusable(path, str(error)) from error


def _toml(path: Path) -> dict[str, Any]:
    """What a file says; one that is not there says nothing. Never waits for a pipe."""
    try:
        if not path.exists():
            return {}
        text = read_small_text(str(path))
        if text is None:
            raise _unusable(path, f"it is no text file of at most {MAX_SCRIPT_BYTES} bytes that can be read")
        return tomllib.loads(text)
    except (OSError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise _unusable(path, str(error)) from error


def _rule(values: Mapping[str, Any], source: Path, own: Mapping[str, str]) -> Rule:
    name = values.get("id", "without an id")
    try:
        rule = msgspec.convert(values, Rule)
    except msgspec.ValidationError as error:
        raise _unusable(source, f"rule {name}: {error}") from error
    if not rule.is_about_something:
        raise _unusable(source, f"rule {name} would hold for every call: say which tools, commands or paths")
    if rule.outcome is Ruling.ABSTAIN:
        raise _unusable(source, f"rule {name}: the outcome is deny, ask, warn or allow; `enabled = false` for none")
    lists = {field: _placed(getattr(rule, field), own) for field in ("reads", "writes", "deletes", "changes")}
    return msgspec.structs.replace(rule, **lists)


def _messaging(values: Mapping[str, Texts], source: Path) -> Messaging:
    try:
        return msgspec.convert(values, Messaging)
    except msgspec.ValidationError as error:
        raise _unusable(source, f"messaging: {error}") from error


def _placed(patterns: Texts, own: Mapping[str, str]) -> Texts:
    """Patterns with the places of this home in them."""
    for name, path in own.items():
        patterns = tuple(pattern.replace(name, path) for pattern in patterns)
    return patterns


def _unusable(path: Path, problem: str) -> BadConfiguration:
    return BadConfiguration(
        "bad_policy",
        f"{path} cannot be used: {problem}.",
        "Correct it; `headspace policy check` tells whether it is good. docs/policy.md explains every key.",
    )
