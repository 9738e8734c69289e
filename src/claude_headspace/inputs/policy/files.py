"""Reads the rules: the built-in ones, the user's `policy.toml`, and a project's `.headspace/policy.toml`.

Rules
- The user can add rules, and change or disable built-in rules by their id.
- A project can only add rules that deny, ask or warn, with new ids. It cannot weaken the user's rules.
- The rules about contacts deny if there is a `contacts.toml`, or with the preset `strict`. Otherwise they ask, because
  nobody is named.
- An invalid file raises `BadConfiguration` with the problem. No part of it is used.
"""

import os
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.clients.config_dirs import config_dir_names
from claude_headspace.config import Paths
from claude_headspace.errors import BadConfiguration
from claude_headspace.inputs.policy.paths import MAX_SCRIPT_BYTES, read_small_text
from claude_headspace.kernel.policy.rules import Policy, Rule, Strings
from claude_headspace.kernel.policy.verdict import Ruling

PROJECT_FILE = ".headspace/policy.toml"
NO_CONTACTS = (
    "There is no contacts.toml, so Headspace does not know whom agents may write to. Name people there, with the tags"
    " claude_direct or claude_draft, and only messages to others are denied."
)
"""The reason for asking about messages while no contacts are named."""


class Messaging(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which tool calls are messages. `defaults.toml` describes the keys."""

    send: Strings = ()
    draft: Strings = ()
    recipients: Strings = ()
    commands: Strings = ()
    contact: Strings = ()
    contacts: Strings = ()
    texts: Strings = ()


class Contact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A person in the user's contacts."""

    name: str
    addresses: Strings = ()
    tags: Strings = ()


class RuleBook(msgspec.Struct, frozen=True, kw_only=True):
    """The content of all files: rules, the definition of messages, contacts."""

    policy: Policy
    messaging: Messaging
    contacts: tuple[Contact, ...] = ()


class _PolicyFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rule: tuple[dict[str, Any], ...] = ()
    messaging: dict[str, Strings] = {}


class _ContactsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    contact: tuple[Contact, ...] = ()


def load_rules(paths: Paths, preset: str, path: Path | None = None) -> RuleBook:
    """Load the built-in rules and the user's. `path` replaces the user's policy file; it must exist."""
    if path is not None and not path.is_file():
        raise BadConfiguration("bad_policy", f"The file {path} does not exist.", "Check the name.")
    file = path or paths.policy_file
    return _build_rule_book(preset, paths, _read_policy_file(file), file, read_contacts(paths.contacts_file))


def load_built_in_rules(paths: Paths, preset: str) -> RuleBook:
    """Load only the built-in rules. An existing contacts file counts as empty."""
    contacts = () if paths.contacts_file.exists() else None
    return _build_rule_book(preset, paths, _PolicyFile(), paths.policy_file, contacts)


def _build_rule_book(
    preset: str, paths: Paths, user_file: _PolicyFile, source: Path, contacts: tuple[Contact, ...] | None
) -> RuleBook:
    """Combine the built-in rules with the user's changes."""
    built_in = _read_built_in_file()
    values = {str(rule["id"]): dict(rule) for rule in built_in.rule}
    for rule in user_file.rule:
        name = str(rule.get("id", ""))
        values[name] = {**values.get(name, {}), **rule}
    rules = tuple(_build_rule(rule, source, _path_placeholders(paths)) for rule in values.values())
    if contacts is None and preset != "strict":
        rules = _ask_about_contacts(rules, except_ids={str(rule.get("id")) for rule in user_file.rule})
    messaging = _build_messaging({**built_in.messaging, **user_file.messaging}, source)
    policy = Policy(rules=rules if preset != "off" else (), strict=preset == "strict", record_only=preset == "watch")
    return RuleBook(policy=policy, messaging=messaging, contacts=contacts or ())


def _ask_about_contacts(rules: tuple[Rule, ...], except_ids: set[str]) -> tuple[Rule, ...]:
    asking = {"outcome": Ruling.ASK, "unattended": Ruling.DENY, "reason": NO_CONTACTS}
    return tuple(
        msgspec.structs.replace(rule, **asking) if rule.untagged and rule.id not in except_ids else rule
        for rule in rules
    )


def _path_placeholders(paths: Paths) -> dict[str, str]:
    return {
        "{headspace-config}": str(paths.config),
        "{headspace-state}": str(paths.state),
        "{headspace-data}": str(paths.data),
        "{headspace-runtime}": str(paths.runtime),
        "{headspace-secret}": str(paths.secret_file),
        "{headspace-pid}": str(os.getpid()),
        "{claude-config}": os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude",
        **{f"{{{name}-config}}": config_dir_names(os.environ, name)[0] for name in CLIENTS},
    }


def read_project_rules(root: str) -> tuple[Rule, ...]:
    """Read the rules that a project adds."""
    path = Path(root) / PROJECT_FILE
    file = _read_policy_file(path)
    if file.messaging:
        raise _invalid_file(path, "a project cannot define `messaging`")
    rules = tuple(_build_rule(rule, path, {}) for rule in file.rule)
    built_in_ids = {str(rule["id"]) for rule in _read_built_in_file().rule}
    for rule in rules:
        if rule.id in built_in_ids:
            raise _invalid_file(path, f"a project cannot change the built-in rule {rule.id}; choose another id")
        if Ruling.ALLOW in (rule.outcome, rule.strict, rule.unclear):
            raise _invalid_file(path, f"rule {rule.id}: a rule of a project can deny, ask or warn, not allow")
    return tuple(msgspec.structs.replace(rule, id=f"project-{rule.id}"[:64]) for rule in rules)


def read_contacts(path: Path) -> tuple[Contact, ...] | None:
    """Read the user's contacts; None if there is no file."""
    if not path.exists():
        return None
    try:
        return msgspec.convert(_read_toml(path), _ContactsFile).contact
    except msgspec.ValidationError as error:
        raise _invalid_file(path, str(error)) from error


@lru_cache(maxsize=1)
def _read_built_in_file() -> _PolicyFile:
    text = files("claude_headspace.inputs.policy").joinpath("defaults.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _PolicyFile)


def _read_policy_file(path: Path) -> _PolicyFile:
    try:
        return msgspec.convert(_read_toml(path), _PolicyFile)
    except msgspec.ValidationError as error:
        raise _invalid_file(path, str(error)) from error


def _read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; empty if there is none. Never blocks on a pipe."""
    try:
        if not path.exists():
            return {}
        text = read_small_text(str(path))
        if text is None:
            raise _invalid_file(path, f"it is not a readable text file of at most {MAX_SCRIPT_BYTES} bytes")
        return tomllib.loads(text)
    except (OSError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise _invalid_file(path, str(error)) from error


def _build_rule(values: Mapping[str, Any], source: Path, placeholders: Mapping[str, str]) -> Rule:
    name = values.get("id", "without an id")
    try:
        rule = msgspec.convert(values, Rule)
    except msgspec.ValidationError as error:
        raise _invalid_file(source, f"rule {name}: {error}") from error
    if not rule.has_condition:
        raise _invalid_file(source, f"rule {name} would match every call: add tools, commands or paths")
    if rule.outcome is Ruling.ABSTAIN:
        raise _invalid_file(
            source, f"rule {name}: the outcome must be deny, ask, warn or allow; `enabled = false` disables a rule"
        )
    fields = ("reads", "writes", "deletes", "changes", "arguments")
    return msgspec.structs.replace(
        rule, **{field: _fill_placeholders(getattr(rule, field), placeholders) for field in fields}
    )


def _build_messaging(values: Mapping[str, Strings], source: Path) -> Messaging:
    try:
        return msgspec.convert(values, Messaging)
    except msgspec.ValidationError as error:
        raise _invalid_file(source, f"messaging: {error}") from error


def _fill_placeholders(patterns: Strings, placeholders: Mapping[str, str]) -> Strings:
    for placeholder, path in placeholders.items():
        patterns = tuple(pattern.replace(placeholder, path) for pattern in patterns)
    return patterns


def _invalid_file(path: Path, problem: str) -> BadConfiguration:
    return BadConfiguration(
        "bad_policy",
        f"{path} cannot be used: {problem}.",
        "Correct the file, then run `headspace policy check`. docs/policy.md describes all keys.",
    )
