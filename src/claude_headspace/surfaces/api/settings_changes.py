"""Changes of `config.toml` and `notify.toml` from the dashboard: planned and shown as a diff, then written.

Rules
- Of `config.toml` only some settings can be changed (`EDITABLE`).
- Nothing is written that was not shown: a plan has a digest, and only that text is written.
- A text that Headspace could not read afterwards is never written.
- Addresses of channels are secrets. They can be set, but a diff never shows them.
"""

import difflib
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import structlog
from msgspec import UNSET, Meta, UnsetType

from claude_headspace.config import Paths, check_settings, parse_settings, read_settings, write_private_file
from claude_headspace.errors import BadConfiguration, BadRequest
from claude_headspace.outputs.notify.preferences import parse_preferences
from claude_headspace.surfaces.text.settings import EDITABLE
from claude_headspace.surfaces.text.toml_change import KeyPath, change_setting, change_toml

log = structlog.get_logger(__name__)

_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*://)([^\s\"',\]]+)", re.IGNORECASE)
Kind = Literal["waiting", "error", "finished", "context", "cost"]
TimeOfDay = Annotated[str, Meta(max_length=5)]


class QuietHoursChange(msgspec.Struct, frozen=True):
    """The quiet hours from now on."""

    begins: TimeOfDay
    ends: TimeOfDay
    days: list[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]]
    """The days on which they begin."""
    let_through: list[Kind] = []


class ChannelChange(msgspec.Struct, frozen=True):
    """A new channel, or changes of one. What is left out stays."""

    url: Annotated[str, Meta(max_length=2_000)] | UnsetType = UNSET
    brief: bool | UnsetType = UNSET
    tell_over: bool | UnsetType = UNSET


class SettingsChange(msgspec.Struct, frozen=True):
    """Settings to change. What is left out stays."""

    settings: dict[str, Any] = {}
    """Settings of `config.toml` by name; null restores the default."""
    notifications: bool | UnsetType = UNSET
    """Whether there are any notifications."""
    kinds: dict[Kind, bool] = {}
    """Whether there are notifications of this kind."""
    quiet: QuietHoursChange | UnsetType | None = UNSET
    """Quiet hours; null removes them."""
    channels: dict[str, ChannelChange | None] = {}
    """Channels by name; null removes one."""
    confirmed: str = ""
    """The digest of the plan that the user saw. Without it nothing is written."""


class SettingsFileChange(msgspec.Struct, frozen=True):
    """The change of one file, as a unified diff without addresses."""

    file: str
    diff: str
    applies: Literal["now", "after a restart"]


class SettingsPlan(msgspec.Struct, frozen=True):
    """What a change does to the files, and whether it was written."""

    files: list[SettingsFileChange]
    digest: str
    written: bool


class _NewText(msgspec.Struct, frozen=True):
    path: Path
    old: str
    new: str
    applies: Literal["now", "after a restart"]


def change_settings(paths: Paths, change: SettingsChange, by: str) -> SettingsPlan:
    """Plan a change; write it if its digest was confirmed."""
    texts = [each for each in (_config_text(paths, change), _notify_text(paths, change)) if each.new != each.old]
    digest = hashlib.sha256("\0".join(f"{each.path}\0{each.old}\0{each.new}" for each in texts).encode()).hexdigest()
    if change.confirmed and change.confirmed != digest:
        raise BadRequest(
            "changed_meanwhile",
            "The files changed after you saw the result. Nothing was written.",
            "Look at the new result, and confirm it.",
            status=409,
        )
    if change.confirmed:
        for each in texts:
            write_private_file(each.path.resolve(), each.new.encode())
            log.info("settings_changed", file=str(each.path), by=by)
    files = [SettingsFileChange(str(each.path), _diff(each), each.applies) for each in texts]
    return SettingsPlan(files, digest, written=bool(change.confirmed))


def _config_text(paths: Paths, change: SettingsChange) -> _NewText:
    path = paths.config_file
    if fixed := sorted(set(change.settings) - EDITABLE):
        raise BadRequest(
            "not_editable",
            f"`{fixed[0][:60]}` cannot be changed here.",
            f"Use `headspace config set {fixed[0][:60]} VALUE`, or edit {path}.",
        )
    try:
        old = new = read_settings(path)
        check_settings({name: value for name, value in change.settings.items() if value is not None}, str(path))
        for name, value in change.settings.items():
            new = change_setting(new, name, value, str(path))
        check_settings(parse_settings(new, str(path)), str(path))
    except BadConfiguration as error:
        raise _refusal(error) from error
    return _NewText(path, old, new, "after a restart")


def _notify_text(paths: Paths, change: SettingsChange) -> _NewText:
    path = paths.notify_file
    try:
        old = read_settings(path)
        new = change_toml(old, _notify_values(change, parse_settings(old, str(path))), str(path))
        if new != old:
            parse_preferences(new, path)
    except BadConfiguration as error:
        raise _refusal(error) from error
    return _NewText(path, old, new, "now")


def _refusal(error: BadConfiguration) -> BadRequest:
    return BadRequest(error.code, error.message, error.hint)


def _notify_values(change: SettingsChange, before: Mapping[str, Any]) -> dict[KeyPath, Any]:
    """The changed values of `notify.toml` by their place."""
    values: dict[KeyPath, Any] = {}
    if change.notifications is not UNSET:
        values["on",] = change.notifications
    for kind, is_on in change.kinds.items():
        place = (kind, "on") if isinstance(before.get(kind), dict) else (kind,)
        values[place] = is_on
    if isinstance(change.quiet, QuietHoursChange):
        quiet = {
            "from": change.quiet.begins,
            "to": change.quiet.ends,
            "days": change.quiet.days,
            "let_through": change.quiet.let_through,
        }
        values |= {("quiet", name): value for name, value in quiet.items()}
    elif change.quiet is None:
        values["quiet",] = None
    for name, channel in change.channels.items():
        values |= _channel_values(name, channel)
    return values


def _channel_values(name: str, channel: ChannelChange | None) -> Mapping[KeyPath, Any]:
    if channel is None:
        return {("channels", name): None}
    given = {key: value for key, value in msgspec.structs.asdict(channel).items() if value is not UNSET}
    if "url" in given:
        given["urls"] = None  # the new address replaces all others
    return {("channels", name, key): value for key, value in given.items()}


def _diff(text: _NewText) -> str:
    """The change without addresses. A new address is marked, because it looks like any other."""
    known = frozenset(_ADDRESS.findall(text.old))

    def hide(match: re.Match[str]) -> str:
        return f"{match[1]}…" if match.groups() in known else f"{match[1]}… (new)"

    old, new = (_ADDRESS.sub(hide, each).splitlines(keepends=True) for each in (text.old, text.new))
    name = text.path.name
    return "".join(difflib.unified_diff(old, new, f"a/{name}", f"b/{name}"))
