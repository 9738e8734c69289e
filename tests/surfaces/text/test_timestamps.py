"""Times that people write."""

from datetime import UTC, datetime

import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.surfaces.text.timestamps import is_duration, parse_duration, parse_past_time, parse_time

NOW = int(datetime(2026, 3, 1, 12, 0, tzinfo=UTC).timestamp()) * SECOND


def utc(*parts: int) -> int:
    """A time in UTC."""
    return int(datetime(*parts, tzinfo=UTC).timestamp()) * SECOND  # type: ignore[arg-type,misc]  # its own parts


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-02-01T10:30:05Z", utc(2026, 2, 1, 10, 30, 5)),
        ("2026-02-01T10:30:05+01:00", utc(2026, 2, 1, 9, 30, 5)),
        ("2026-02-01T10:30:05 01:00", utc(2026, 2, 1, 9, 30, 5)),
        ("2h", NOW - 7_200 * SECOND),
        ("30 min ago", NOW - 1_800 * SECOND),
        ("1w", NOW - 604_800 * SECOND),
        ("1772366400", utc(2026, 3, 1, 12)),
        ("1772366400.5", utc(2026, 3, 1, 12) + SECOND // 2),
        (" 2026-02-01T10:30:05.25Z ", utc(2026, 2, 1, 10, 30, 5) + SECOND // 4),
    ],
)
def test_valid_times(text: str, moment: int) -> None:
    """ISO 8601, a duration, or seconds since 1970."""
    assert parse_time("at", text, NOW) == moment


@pytest.mark.parametrize(("text", "hour", "minute"), [("14:30", 14, 30), ("9:05", 9, 5), ("2026-03-01T08:15", 8, 15)])
def test_times_without_a_zone_are_local(text: str, hour: int, minute: int) -> None:
    """A time of day is today."""
    local = datetime.fromtimestamp(parse_time("at", text, NOW) / SECOND).astimezone()
    assert (local.hour, local.minute) == (hour, minute)


@pytest.mark.parametrize("text", ["", "soon", "25:99", "2026-13-01", "9" * 30, "-2h", "\0", "2h2h", "1e9", "１２"])
def test_invalid_times_are_explained(text: str) -> None:
    """The hint describes the formats."""
    with pytest.raises(BadRequest) as refusal:
        parse_time("since", text, NOW)
    assert "`since`" in refusal.value.message
    assert "2h" in refusal.value.hint


def test_future_times_are_rejected() -> None:
    """The error shows the local time with its zone."""
    assert parse_past_time("at", "1h", NOW) == NOW - 3_600 * SECOND
    with pytest.raises(BadRequest) as refusal:
        parse_past_time("--at", "2026-03-02T08:15", NOW)
    assert refusal.value.code == "still_to_come"
    assert "2026-03-02 08:15:00 " in refusal.value.message


def test_durations_are_recognised() -> None:
    """For callers that count forward."""
    assert is_duration("30d")
    assert not is_duration("14:30")


def test_durations() -> None:
    """An invalid one is explained."""
    assert [parse_duration("--for", text) for text in ("60s", "5m", "2 h")] == [60.0, 300.0, 7200.0]
    with pytest.raises(BadRequest, match="not a valid duration"):
        parse_duration("--for", "ever")
