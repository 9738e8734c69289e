"""Times as text, and the strings of a JSON value."""

import pytest

from claude_headspace.kernel.text import iso, strings_in


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


def test_strings_in_order() -> None:
    """Of lists and objects, at any depth, without the type of text blocks."""
    value = {"a": "1", "b": [{"type": "text", "text": "2"}, ["3", 4, None]], "type": "image", "c": {"d": "5"}}
    assert list(strings_in(value)) == ["1", "2", "3", "image", "5"]
    assert list(strings_in("alone")) == ["alone"]


def test_strings_below_the_maximum_depth_are_left_out() -> None:
    """A value that is nested very deeply does not take long."""
    value: object = "deep"
    for _ in range(1_000):
        value = [value]
    assert list(strings_in([value, "near"])) == ["near"]
