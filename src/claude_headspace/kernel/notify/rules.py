"""How the user wants to be called: for each kind of need whom, how soon, and what next; by project where told so."""

import re
from collections.abc import Mapping
from functools import lru_cache

import msgspec

from claude_headspace.kernel.agent import Project
from claude_headspace.kernel.envelope import SECOND, Micros

MINUTE: Micros = 60 * SECOND
HOUR: Micros = 60 * MINUTE
DAY: Micros = 24 * HOUR

DESKTOP, PAGE = "desktop", "page"
BUILT_IN_CHANNELS = (DESKTOP, PAGE)
"""The channels that need no address."""

Steps = tuple[tuple[str, ...], ...]
"""Steps; the channels of one step are called together, the next step when nobody reacts."""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """What is done about one kind of need."""

    on: bool = True
    to: Steps = ()
    """Empty: the desktop and the page, then every other channel."""
    after: Micros = 0
    present_after: Micros = 20 * SECOND
    """The same while somebody is at the machine: the board and the terminal may tell it first."""
    escalate_after: Micros = 0
    """When nobody reacts; 0: the first step is all."""
    longer_than: Micros = 0
    """For `finished`: work that took less is not announced."""
    levels: tuple[float, ...] = ()
    """For `context`: percents, each announced once per context window."""
    budget: float = 0.0
    """For `cost`: dollars of one session; 0: none."""
    max_age: Micros = 12 * HOUR
    """What nobody was called about for so long is no news any more."""


DEFAULTS: Mapping[str, Rule] = {
    "waiting": Rule(escalate_after=3 * MINUTE, max_age=7 * DAY),
    "error": Rule(escalate_after=3 * MINUTE),
    "finished": Rule(after=5 * SECOND, present_after=30 * SECOND, longer_than=10 * MINUTE),
    "context": Rule(levels=(90.0,), max_age=7 * DAY),
    "cost": Rule(max_age=7 * DAY),
}
KINDS = tuple(DEFAULTS)


class ChannelLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How often a channel may be used."""

    per_hour: int = 20
    spacing: Micros = 15 * SECOND
    """What comes so soon after a call waits, and is told together with others."""


BUILT_IN_LIMITS: Mapping[str, ChannelLimits] = {
    DESKTOP: ChannelLimits(per_hour=120, spacing=5 * SECOND),
    PAGE: ChannelLimits(per_hour=1_000, spacing=0),
}
"""Of the channels that need no address."""


class QuietHours(msgspec.Struct, frozen=True, kw_only=True):
    """Hours in which nobody is called: minutes of the day, from and to (over midnight if to is earlier)."""

    begins: int
    ends: int
    days: frozenset[int] = frozenset(range(7))
    """The days on which they begin, Monday is 0."""
    let_through: frozenset[str] = frozenset()
    """Kinds that are announced all the same."""

    def until(self, now: Micros, utc_offset: Micros) -> Micros | None:
        """When the quiet hours end that it is in now; None if it is in none. `offset`: local time less UTC."""
        local = now + utc_offset
        day, time_of_day = divmod(local, DAY)
        minute = time_of_day // MINUTE
        length = (self.ends - self.begins) % (24 * 60) or 24 * 60
        for start_day in (day, day - 1):
            elapsed = minute + (day - start_day) * 24 * 60 - self.begins
            if 0 <= elapsed < length and (start_day + 3) % 7 in self.days:  # 1970 began on a Thursday
                return (start_day * 24 * 60 + self.begins + length) * MINUTE - utc_offset
        return None


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    on: bool = True
    kinds: Mapping[str, Rule] = msgspec.field(default_factory=lambda: DEFAULTS)
    projects: tuple[tuple[str, Mapping[str, Rule]], ...] = ()
    """Patterns of a project's name or directory; the first that fits counts."""
    channels: Mapping[str, ChannelLimits] = msgspec.field(default_factory=lambda: BUILT_IN_LIMITS)
    quiet: QuietHours | None = None
    digest_from: int = 3
    """So many needs at one moment become one message."""

    def find_rule(self, kind: str, project: Project) -> Rule:
        """What is done about a kind of need in a project."""
        for pattern, kinds in self.projects:
            if matches_project(pattern, project):
                return kinds[kind]
        return self.kinds[kind]

    def available_steps(self, rule: Rule, available: frozenset[str]) -> Steps:
        """The steps of a rule, as far as they can be taken here."""
        others = tuple((name,) for name in self.channels if name not in BUILT_IN_CHANNELS)
        steps = rule.to or (BUILT_IN_CHANNELS, *others)
        reachable = (tuple(channel for channel in step if channel in available) for step in steps)
        return tuple(step for step in reachable if step)


def matches_project(pattern: str, project: Project) -> bool:
    """Whether a pattern means a project: its name, or its directory or one above."""
    if "/" not in pattern:
        return _glob(pattern).fullmatch(project.name) is not None
    return _glob(f"{pattern.rstrip('/')}/*").fullmatch(f"{project.root}/") is not None


@lru_cache(maxsize=256)
def _glob(pattern: str) -> "re.Pattern[str]":
    return re.compile("".join({"*": ".*", "?": "."}.get(sign, re.escape(sign)) for sign in pattern), re.DOTALL)
