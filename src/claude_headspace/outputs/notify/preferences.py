"""How the user wants to be called, from `notify.toml`, kept current while the daemon runs.

    [channels.phone]
    url = "ntfy://ntfy.sh/my-topic"

    [waiting]
    to = [["desktop", "page"], "phone"]
    escalate_after = "5m"

    [project."~/code/shop".finished]
    longer_than = "2m"

Rules
- A channel's address is a secret: it is never part of the rules, of a view or of a log.
- A file that cannot be used is named with what is wrong in it; the rules before it stay in force.
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
    BUILT_IN,
    DAY,
    DEFAULTS,
    HOUR,
    KINDS,
    MINUTE,
    Limits,
    Quiet,
    Rule,
    Rules,
)

log = structlog.get_logger(__name__)

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_UNITS = {"": SECOND, "s": SECOND, "m": MINUTE, "min": MINUTE, "h": HOUR, "d": DAY}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|min|h|d)?")
_TIME = re.compile(r"([01]?\d|2[0-4]):([0-5]\d)")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")

Span = Annotated[str | float, Meta(description='Seconds, or a text such as "90s", "5m", "1h".')]
Step = str | tuple[str, ...]


class _Channel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An address, or several that are used together, and how often."""

    url: str = ""
    urls: tuple[str, ...] = ()
    per_hour: Annotated[int, Meta(ge=1)] | None = None
    spacing: Span | None = None
    brief: bool = False
    tell_over: bool = False


class _Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is said of a kind of need; what is left out stays as it is."""

    on: bool | None = None
    to: tuple[Step, ...] | None = None
    after: Span | None = None
    present_after: Span | None = None
    escalate_after: Span | None = None
    longer_than: Span | None = None
    levels: tuple[float, ...] | None = None
    budget: Annotated[float, Meta(ge=0)] | None = None


class _Quiet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    start: str = msgspec.field(name="from")
    end: str = msgspec.field(name="to")
    days: tuple[str, ...] = DAYS
    let_through: tuple[str, ...] = ()


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    on: bool = True
    digest_from: Annotated[int, Meta(ge=2)] = 3
    present_for: Span = "2m"
    channels: dict[str, _Channel] = {}
    quiet: _Quiet | None = None
    waiting: _Rule | bool = _Rule()
    error: _Rule | bool = _Rule()
    finished: _Rule | bool = _Rule()
    context: _Rule | bool = _Rule()
    cost: _Rule | bool = _Rule()
    project: dict[str, dict[str, _Rule | bool]] = {}


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """How a channel is reached, and how much it is told."""

    urls: tuple[str, ...]
    brief: bool = False
    """Only who and what kind of thing, nothing of what is asked: for services that others can read."""
    tell_over: bool = False
    """Whether it is told as well that a need is over."""


class Book(msgspec.Struct, frozen=True, kw_only=True):
    """All that was read."""

    rules: Rules = Rules()
    addresses: Mapping[str, Address] = {}
    present_for: Micros = 2 * MINUTE
    """How long after the last key somebody is believed to be there."""


def read_book(path: Path) -> Book:
    """The book of a file; no file is the defaults."""
    try:
        found = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _File)
        return _composed(found)
    except FileNotFoundError:
        return Book()
    except (OSError, ValueError) as error:  # all that TOML, msgspec and our own readers raise
        raise BadConfiguration(
            "bad_notifications",
            f"{path} cannot be used: {error}",
            "Correct it; `headspace notify rules` shows what is in force. See docs/notifications.md.",
        ) from error


def _composed(found: _File) -> Book:
    for name in found.channels:
        if not _NAME.fullmatch(name):
            raise ValueError(f"a channel cannot be called {name!r}: small letters, digits and dashes")
    channels = {**Rules().channels, **{name: _limits(name, channel) for name, channel in found.channels.items()}}
    addresses = {
        name: Address(urls=_urls(name, channel), brief=channel.brief, tell_over=channel.tell_over)
        for name, channel in found.channels.items()
        if name not in BUILT_IN
    }
    kinds = {kind: _rule(kind, getattr(found, kind), DEFAULTS[kind], channels) for kind in KINDS}
    projects = tuple(
        (_expanded(pattern), _of_project(pattern, given, kinds, channels)) for pattern, given in found.project.items()
    )
    return Book(
        rules=Rules(
            on=found.on,
            kinds=kinds,
            projects=projects,
            channels=channels,
            quiet=_quiet(found.quiet) if found.quiet else None,
            digest_from=found.digest_from,
        ),
        addresses=addresses,
        present_for=_span(found.present_for),
    )


def _urls(name: str, channel: _Channel) -> tuple[str, ...]:
    urls = tuple(filter(None, (channel.url, *channel.urls)))
    if not urls:
        raise ValueError(f"the channel {name} has no `url`")
    return urls


def _limits(name: str, channel: _Channel) -> Limits:
    usual = Rules().channels.get(name, Limits())
    return Limits(
        per_hour=usual.per_hour if channel.per_hour is None else channel.per_hour,
        spacing=usual.spacing if channel.spacing is None else _span(channel.spacing),
    )


def _of_project(
    pattern: str, given: dict[str, _Rule | bool], kinds: Mapping[str, Rule], channels: Mapping[str, Limits]
) -> dict[str, Rule]:
    if unknown := [kind for kind in given if kind not in KINDS]:
        raise ValueError(f"there is no kind {unknown[0]!r} in project {pattern!r}: {', '.join(KINDS)}")
    return {kind: _rule(kind, given.get(kind, True), kinds[kind], channels) for kind in KINDS}


def _rule(kind: str, given: _Rule | bool, usual: Rule, channels: Mapping[str, Limits]) -> Rule:
    """A rule as the user changed it; `false` switches it off."""
    if isinstance(given, bool):
        return usual if given else msgspec.structs.replace(usual, on=False)
    changed = {name: value for name, value in msgspec.structs.asdict(given).items() if value is not None}
    for name in ("after", "present_after", "escalate_after", "longer_than"):
        if name in changed:
            changed[name] = _span(changed[name])
    if "to" in changed:
        changed["to"] = tuple((step,) if isinstance(step, str) else step for step in changed["to"])
        if unknown := [name for step in changed["to"] for name in step if name not in channels]:
            raise ValueError(f"`{kind}` names the channel {unknown[0]!r}, which there is not: {', '.join(channels)}")
    return msgspec.structs.replace(usual, **changed)


def _quiet(found: _Quiet) -> Quiet:
    if unknown := [day for day in found.days if day.lower()[:3] not in DAYS]:
        raise ValueError(f"there is no day {unknown[0]!r}: {', '.join(DAYS)}")
    if unknown := [kind for kind in found.let_through if kind not in KINDS]:
        raise ValueError(f"there is no kind {unknown[0]!r} to let through: {', '.join(KINDS)}")
    return Quiet(
        begins=_minute(found.start),
        ends=_minute(found.end),
        days=frozenset(DAYS.index(day.lower()[:3]) for day in found.days),
        let_through=frozenset(found.let_through),
    )


def _minute(text: str) -> int:
    if (match := _TIME.fullmatch(text)) is None:
        raise ValueError(f'{text!r} is no time of day: write "22:00"')
    return (int(match[1]) * 60 + int(match[2])) % (24 * 60)


def _span(value: str | float) -> Micros:
    match = _SPAN.fullmatch(str(value).strip())
    if match is None:
        raise ValueError(f'{value!r} is no time: write "90s", "5m" or "1h"')
    return round(float(match[1]) * _UNITS[match[2] or ""])


def _expanded(pattern: str) -> str:
    return str(Path(pattern).expanduser()) if pattern.startswith("~") else pattern


class BookKeeper:
    """Keeps the book current: the file is read again when it changed, and a bad one changes nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp: object = ""
        self.failure: str | None = None
        self._book = Book()

    def current(self) -> Book:
        """The rules in force."""
        stamp = self._look()
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._book, self.failure = read_book(self.path), None
            except BadConfiguration as error:
                self.failure = error.message
                log.error("notify_unusable", problem=error.message)  # noqa: TRY400  # its message says it all
        return self._book

    def _look(self) -> object:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino
