"""Notification rules: channels, delays and escalation for each kind of need, optionally by project."""

from collections.abc import Mapping

import msgspec

from claude_headspace.kernel.agent import Project
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.policy.rules import matches_any

MINUTE: Micros = 60 * SECOND
HOUR: Micros = 60 * MINUTE
DAY: Micros = 24 * HOUR

DESKTOP, PAGE, PUSH = "desktop", "page", "push"
BUILT_IN_CHANNELS = (DESKTOP, PAGE, PUSH)
"""Channels without an address."""
FIRST_STEP = (DESKTOP, PAGE)
"""Used first by default: they reach a person at the computer."""

Steps = tuple[tuple[str, ...], ...]
"""Escalation steps. The channels of a step are used together; the next step follows if nobody reacts."""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """The rule for one kind of need."""

    on: bool = True
    to: Steps = ()
    """Empty: the desktop and the page, then push, then every other channel."""
    after: Micros = 0
    """Delay while nobody is present."""
    present_after: Micros = 20 * SECOND
    """Delay while a person is present, who may see the need on the board or in the terminal first."""
    escalate_after: Micros = 0
    """Delay before the next step; 0 disables escalation."""
    longer_than: Micros = 0
    """For `finished`: minimum duration of the work."""
    levels: tuple[float, ...] = ()
    """For `context`: percentages, each sent once per context window."""
    budget: float = 0.0
    """For `cost`: dollars per session; 0 means no budget."""
    agent_budget: float = 0.0
    """For `cost`: dollars for all sessions of an agent."""
    day_budget: float = 0.0
    """For `cost`: dollars per day for all agents together; in a project, for its agents."""
    month_budget: float = 0.0
    max_age: Micros = 12 * HOUR
    """Older needs are ignored."""


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
    """Minimum time between two messages. Notifications within it are delayed and combined."""


BUILT_IN_LIMITS: Mapping[str, ChannelLimits] = {
    DESKTOP: ChannelLimits(per_hour=120, spacing=5 * SECOND),
    PAGE: ChannelLimits(per_hour=1_000, spacing=0),
    PUSH: ChannelLimits(per_hour=60, spacing=5 * SECOND),
}
"""Limits of the built-in channels."""


class QuietHours(msgspec.Struct, frozen=True, kw_only=True):
    """Hours without notifications, in minutes of the day. They cross midnight if `ends` is before `begins`."""

    begins: int
    ends: int
    days: frozenset[int] = frozenset(range(7))
    """The weekdays on which they begin; Monday is 0."""
    let_through: frozenset[str] = frozenset()
    """Kinds of needs that are sent during quiet hours."""

    def until(self, now: Micros, utc_offset: Micros) -> Micros | None:
        """Return when the current quiet hours end; None outside of them. `utc_offset` is local time minus UTC."""
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
    """All notification rules."""

    on: bool = True
    kinds: Mapping[str, Rule] = msgspec.field(default_factory=lambda: DEFAULTS)
    projects: tuple[tuple[str, Mapping[str, Rule]], ...] = ()
    """Patterns for a project's name or directory; the first match counts."""
    channels: Mapping[str, ChannelLimits] = msgspec.field(default_factory=lambda: BUILT_IN_LIMITS)
    quiet: QuietHours | None = None
    digest_from: int = 3
    """From this many simultaneous needs, one message is sent for all."""

    def find_rule(self, kind: str, project: Project) -> Rule:
        """Return the rule for a kind of need in a project."""
        for pattern, kinds in self.projects:
            if matches_project(pattern, project):
                return kinds[kind]
        return self.kinds[kind]

    def available_steps(self, rule: Rule, available: frozenset[str]) -> Steps:
        """Return the steps of a rule, without unavailable channels and empty steps."""
        others = tuple((name,) for name in self.channels if name not in FIRST_STEP)
        steps = rule.to or (FIRST_STEP, *others)
        usable = (tuple(channel for channel in step if channel in available) for step in steps)
        return tuple(step for step in usable if step)


def matches_project(pattern: str, project: Project) -> bool:
    """Whether a pattern matches a project's name, or its directory or a parent of it."""
    if "/" not in pattern:
        return matches_any((pattern,), (project.name,))
    return matches_any((f"{pattern.rstrip('/')}/*",), (f"{project.root}/",))
