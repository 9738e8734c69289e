"""The user's notification preferences, read from `notify.toml` whenever it changes.

    [channels.phone]
    url = "ntfy://ntfy.sh/my-topic"

    [waiting]
    to = [["desktop", "page"], "phone"]
    escalate_after = "5m"

    [project."~/code/shop".finished]
    longer_than = "2m"

Rules
- A channel's address is a secret. It is never part of the rules, a view or a log.
- If the file is invalid, the error is reported, and the previous preferences stay in force.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec
import structlog
from msgspec import Meta

from claude_headspace.errors import BadConfiguration
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.notify.rules import (
    BUILT_IN_CHANNELS,
    DAY,
    DEFAULTS,
    HOUR,
    KINDS,
    MINUTE,
    PUSH,
    ChannelLimits,
    QuietHours,
    Rule,
    Rules,
)

log = structlog.get_logger(__name__)

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_UNITS = {"": SECOND, "s": SECOND, "m": MINUTE, "min": MINUTE, "h": HOUR, "d": DAY}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|min|h|d)?")
_TIME = re.compile(r"([01]?\d|2[0-4]):([0-5]\d)")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")

Duration = Annotated[str | float, Meta(description='Seconds, or a text such as "90s", "5m", "1h".')]
Step = str | tuple[str, ...]


class _Channel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A channel: one address, or several that are used together, and its limits."""

    url: str = ""
    urls: tuple[str, ...] = ()
    per_hour: Annotated[int, Meta(ge=1)] | None = None
    spacing: Duration | None = None
    brief: bool = False
    tell_over: bool = False


class _Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Overrides of the rule for a kind of need; None keeps the default."""

    on: bool | None = None
    to: tuple[Step, ...] | None = None
    after: Duration | None = None
    present_after: Duration | None = None
    escalate_after: Duration | None = None
    longer_than: Duration | None = None
    levels: tuple[float, ...] | None = None
    budget: Annotated[float, Meta(ge=0)] | None = None
    agent_budget: Annotated[float, Meta(ge=0)] | None = None
    day_budget: Annotated[float, Meta(ge=0)] | None = None
    month_budget: Annotated[float, Meta(ge=0)] | None = None


class _Quiet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    start: str = msgspec.field(name="from")
    end: str = msgspec.field(name="to")
    days: tuple[str, ...] = DAYS
    let_through: tuple[str, ...] = ()


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    on: bool = True
    digest_from: Annotated[int, Meta(ge=2)] = 3
    present_for: Duration = "2m"
    channels: dict[str, _Channel] = {}
    quiet: _Quiet | None = None
    waiting: _Rule | bool = _Rule()
    error: _Rule | bool = _Rule()
    finished: _Rule | bool = _Rule()
    context: _Rule | bool = _Rule()
    cost: _Rule | bool = _Rule()
    project: dict[str, dict[str, _Rule | bool]] = {}


class ChannelAddress(msgspec.Struct, frozen=True, kw_only=True):
    """The addresses of a channel, and what it receives."""

    urls: tuple[str, ...]
    brief: bool = False
    """Send only the title: others may be able to read the messages."""
    tell_over: bool = False
    """Send another message when a need is closed."""


class NotificationPreferences(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of `notify.toml`."""

    rules: Rules = Rules()
    addresses: Mapping[str, ChannelAddress] = {}
    push_is_brief: bool = False
    """Push only the title. Pushes are encrypted, but a phone may show them while it is locked."""
    present_for: Micros = 2 * MINUTE
    """How long after the last key press a person counts as present."""


def read_preferences(path: Path) -> NotificationPreferences:
    """Read the preferences from a file. A missing file means the defaults."""
    try:
        return parse_preferences(path.read_text(encoding="utf-8"), path)
    except FileNotFoundError:
        return NotificationPreferences()
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable(path, error) from error


def parse_preferences(text: str, path: Path) -> NotificationPreferences:
    """The preferences in a text of that file."""
    try:
        return _build_preferences(msgspec.convert(tomllib.loads(text), _File))
    except ValueError as error:  # TOML, msgspec and the parsers below raise it
        raise _unusable(path, error) from error


def _unusable(path: Path, error: Exception) -> BadConfiguration:
    return BadConfiguration(
        "bad_notifications",
        f"{path} cannot be used: {error}",
        "Correct it. `headspace notify rules` shows the rules in force. See docs/notifications.md.",
    )


def _build_preferences(file: _File) -> NotificationPreferences:
    for name, channel in file.channels.items():
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a channel name: use lowercase letters, digits, dashes and underscores")
        if name in BUILT_IN_CHANNELS and (channel.url or channel.urls):
            raise ValueError(f"the channel {name} is built in and has no `url`: give yours another name")
    channels = {**Rules().channels, **{name: _limits(name, channel) for name, channel in file.channels.items()}}
    addresses = {
        name: ChannelAddress(urls=_urls(name, channel), brief=channel.brief, tell_over=channel.tell_over)
        for name, channel in file.channels.items()
        if name not in BUILT_IN_CHANNELS
    }
    kinds = {kind: _override_rule(kind, getattr(file, kind), DEFAULTS[kind], channels) for kind in KINDS}
    projects = tuple(
        (_expand_home(pattern), _project_rules(pattern, overrides, kinds, channels))
        for pattern, overrides in file.project.items()
    )
    return NotificationPreferences(
        rules=Rules(
            on=file.on,
            kinds=kinds,
            projects=projects,
            channels=channels,
            quiet=_quiet_hours(file.quiet) if file.quiet else None,
            digest_from=file.digest_from,
        ),
        addresses=addresses,
        push_is_brief=PUSH in file.channels and file.channels[PUSH].brief,
        present_for=_parse_duration(file.present_for),
    )


def _urls(name: str, channel: _Channel) -> tuple[str, ...]:
    urls = tuple(filter(None, (channel.url, *channel.urls)))
    if not urls:
        raise ValueError(f"the channel {name} has no `url`")
    return urls


def _limits(name: str, channel: _Channel) -> ChannelLimits:
    default = Rules().channels.get(name, ChannelLimits())
    return ChannelLimits(
        per_hour=default.per_hour if channel.per_hour is None else channel.per_hour,
        spacing=default.spacing if channel.spacing is None else _parse_duration(channel.spacing),
    )


def _project_rules(
    pattern: str, overrides: dict[str, _Rule | bool], kinds: Mapping[str, Rule], channels: Mapping[str, ChannelLimits]
) -> dict[str, Rule]:
    if unknown := [kind for kind in overrides if kind not in KINDS]:
        raise ValueError(f"unknown kind {unknown[0]!r} in project {pattern!r}: use {', '.join(KINDS)}")
    # Budgets of all agents together are no budgets of a project.
    own = {kind: msgspec.structs.replace(rule, day_budget=0.0, month_budget=0.0) for kind, rule in kinds.items()}
    return {kind: _override_rule(kind, overrides.get(kind, True), own[kind], channels) for kind in KINDS}


def _override_rule(kind: str, override: _Rule | bool, default: Rule, channels: Mapping[str, ChannelLimits]) -> Rule:
    """Apply the user's changes to a rule. `false` disables it."""
    if isinstance(override, bool):
        return default if override else msgspec.structs.replace(default, on=False)
    changes = {name: value for name, value in msgspec.structs.asdict(override).items() if value is not None}
    for name in ("after", "present_after", "escalate_after", "longer_than"):
        if name in changes:
            changes[name] = _parse_duration(changes[name])
    if "to" in changes:
        changes["to"] = tuple((step,) if isinstance(step, str) else step for step in changes["to"])
        if unknown := [name for step in changes["to"] for name in step if name not in channels]:
            raise ValueError(f"unknown channel {unknown[0]!r} in `{kind}`: use {', '.join(channels)}")
    return msgspec.structs.replace(default, **changes)


def _quiet_hours(section: _Quiet) -> QuietHours:
    if unknown := [day for day in section.days if day.lower()[:3] not in DAYS]:
        raise ValueError(f"unknown day {unknown[0]!r}: use {', '.join(DAYS)}")
    if unknown := [kind for kind in section.let_through if kind not in KINDS]:
        raise ValueError(f"unknown kind {unknown[0]!r} in `let_through`: use {', '.join(KINDS)}")
    return QuietHours(
        begins=_parse_time_of_day(section.start),
        ends=_parse_time_of_day(section.end),
        days=frozenset(DAYS.index(day.lower()[:3]) for day in section.days),
        let_through=frozenset(section.let_through),
    )


def _parse_time_of_day(text: str) -> int:
    if (match := _TIME.fullmatch(text)) is None:
        raise ValueError(f'{text!r} is not a time of day: use a format such as "22:00"')
    return (int(match[1]) * 60 + int(match[2])) % (24 * 60)


def _parse_duration(value: str | float) -> Micros:
    match = _DURATION.fullmatch(str(value).strip())
    if match is None:
        raise ValueError(f'{value!r} is not a duration: use seconds, or a text such as "90s", "5m" or "1h"')
    return round(float(match[1]) * _UNITS[match[2] or ""])


def _expand_home(pattern: str) -> str:
    return str(Path(pattern).expanduser()) if pattern.startswith("~") else pattern


class PreferencesFile:
    """The preferences of a file. Reads it again after a change; an invalid file keeps the previous preferences."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._version: object = ""
        self.failure: str | None = None
        self._preferences = NotificationPreferences()

    def current(self) -> NotificationPreferences:
        """Return the preferences in force."""
        version = self._file_version()
        if version != self._version:
            self._version = version
            try:
                self._preferences, self.failure = read_preferences(self.path), None
            except BadConfiguration as error:
                self.failure = error.message
                log.error("notify_file_invalid", problem=error.message)  # noqa: TRY400  # the message is sufficient
        return self._preferences

    def _file_version(self) -> object:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino
