"""The local time zone of the machine."""

from datetime import UTC, datetime

from claude_headspace.kernel.envelope import SECOND, Micros


def utc_offset(now: Micros) -> Micros:
    """Return local time minus UTC."""
    offset = datetime.fromtimestamp(now / SECOND, tz=UTC).astimezone().utcoffset()
    return round(offset.total_seconds()) * SECOND if offset is not None else 0
