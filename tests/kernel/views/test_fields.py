"""Times in views."""

import pytest

from claude_headspace.kernel.views.fields import iso


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (0, "1970-01-01T00:00:00.000000+00:00"),
        (1_790_000_000_123_456, "2026-09-21T14:13:20.123456+00:00"),
        (-1, "1969-12-31T23:59:59.999999+00:00"),
        (10**18, "9999-12-31T23:59:59.000000+00:00"),
        (-(10**18), "0001-01-01T00:00:00.000000+00:00"),
        (10**30, "9999-12-31T23:59:59.000000+00:00"),
    ],
)
def test_times_are_shown_in_utc(at: int, shown: str) -> None:
    """All times have the same length, so they sort as text. A time outside the calendar is clamped."""
    assert iso(at) == shown
