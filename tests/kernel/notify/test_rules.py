"""Rules: which one applies to a project, which steps are available, and when quiet hours end."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_headspace.kernel.agent import Project
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.notify.rules import (
    DAY,
    DEFAULTS,
    HOUR,
    MINUTE,
    ChannelLimits,
    QuietHours,
    Rule,
    Rules,
    matches_project,
)

SHOP = Project("p", "shop", "/home/ann/code/shop")


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("shop", True),
        ("sh*", True),
        ("s?op", True),
        ("hop", False),
        ("/home/ann/code/shop", True),
        ("/home/ann/code", True),
        ("/home/ann/code/", True),
        ("/home/*/code", True),
        ("/home/ann/wor", False),
        ("/home/bob", False),
        ("shop.", False),
    ],
)
def test_a_pattern_matches_a_name_or_a_directory(pattern: str, matches: bool) -> None:
    """A directory matches everything below it; a star matches any text."""
    assert matches_project(pattern, SHOP) is matches


def test_the_first_matching_project_counts() -> None:
    """Without a match, the general rules apply."""
    loud, mute = Rule(after=1), Rule(on=False)
    kinds = dict.fromkeys(DEFAULTS, loud)
    rules = Rules(projects=(("shop", kinds), ("*", dict.fromkeys(DEFAULTS, mute))))
    assert rules.find_rule("waiting", SHOP) == loud
    assert rules.find_rule("waiting", Project("q", "bank", "/bank")) == mute
    assert Rules().find_rule("waiting", SHOP) == DEFAULTS["waiting"]


def test_unavailable_steps_are_omitted() -> None:
    """Without a desktop, the next step is the first."""
    rules = Rules(
        channels={
            "desktop": ChannelLimits(),
            "page": ChannelLimits(),
            "phone": ChannelLimits(),
            "mail": ChannelLimits(),
        }
    )
    everything = frozenset(rules.channels)
    assert rules.available_steps(Rule(), everything) == (("desktop", "page"), ("phone",), ("mail",))
    assert rules.available_steps(Rule(), frozenset({"page", "mail"})) == (("page",), ("mail",))
    assert rules.available_steps(Rule(to=(("phone",), ("desktop",))), frozenset({"desktop"})) == (("desktop",),)
    assert rules.available_steps(Rule(), frozenset()) == ()


def at(text: str) -> Micros:
    """A time in UTC."""
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1_000_000


NIGHT = QuietHours(begins=22 * 60, ends=8 * 60)
WEEKEND = QuietHours(begins=0, ends=0, days=frozenset({5, 6}))
SIESTA = QuietHours(begins=13 * 60, ends=14 * 60 + 30)


@pytest.mark.parametrize(
    ("quiet", "now", "until"),
    [
        (NIGHT, "2026-11-15T21:59", None),
        (NIGHT, "2026-11-15T22:00", "2026-11-16T08:00"),
        (NIGHT, "2026-11-16T03:00", "2026-11-16T08:00"),
        (NIGHT, "2026-11-16T07:59", "2026-11-16T08:00"),
        (NIGHT, "2026-11-16T08:00", None),
        (SIESTA, "2026-11-16T13:10", "2026-11-16T14:30"),
        (SIESTA, "2026-11-16T14:30", None),
        (WEEKEND, "2026-11-14T12:00", "2026-11-15T00:00"),
        (WEEKEND, "2026-11-15T12:00", "2026-11-16T00:00"),
        (WEEKEND, "2026-11-16T12:00", None),
    ],
)
def test_quiet_hours_have_an_end(quiet: QuietHours, now: str, until: str | None) -> None:
    """Also across midnight. The weekday is the one on which they begin."""
    assert quiet.until(at(now), 0) == (at(until) if until else None)


def test_quiet_hours_are_in_local_time() -> None:
    """22:00 is 21:00 UTC in a zone one hour ahead."""
    assert NIGHT.until(at("2026-11-15T21:00"), HOUR) == at("2026-11-16T07:00")
    assert NIGHT.until(at("2026-11-15T20:59"), HOUR) is None


@given(
    begins=st.integers(0, 1439),
    ends=st.integers(0, 1439),
    now=st.integers(0, 60_000 * DAY),
    offset=st.integers(-14 * 60, 14 * 60),
)
def test_quiet_hours_end_later_and_within_a_day(begins: int, ends: int, now: int, offset: int) -> None:
    """For all hours: the end is in the future, and the quiet hours have ended then."""
    quiet = QuietHours(begins=begins, ends=ends)
    until = quiet.until(now, offset * MINUTE)
    if until is not None:
        assert now < until <= now + DAY
        assert (until + offset * MINUTE) // MINUTE % (24 * 60) == ends
        assert begins == ends or quiet.until(until, offset * MINUTE) is None
