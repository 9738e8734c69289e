"""For tests of code that uses Headspace: a clock that is set by hand, and the events that Claude Code sends.

For a journal use `journal.sql.SqlJournal` with a temporary SQLite file.
"""

import json
from itertools import count

from claude_headspace.clients.claude_code.simulation.payloads import hook_payload
from claude_headspace.kernel.envelope import (
    NO_DECISIONS,
    NO_OBSERVATIONS,
    SECOND,
    Decisions,
    Envelope,
    Micros,
    Observations,
    Origin,
)

_ids = count(1)

START: Micros = 1_790_000_000 * SECOND
"""The time at which a `ManualClock` starts."""


class ManualClock:
    """A clock that only moves when `advance` is called."""

    def __init__(self, now: Micros = START) -> None:
        self.now = now

    def __call__(self) -> Micros:
        """The current time."""
        return self.now

    def advance(self, seconds: float) -> Micros:
        """Move the clock forward; returns the new time."""
        self.now += round(seconds * SECOND)
        return self.now


def hook(
    name: str,
    at: Micros = START,
    *,
    observations: Observations = NO_OBSERVATIONS,
    decisions: Decisions = NO_DECISIONS,
    delivery_id: str | None = None,
    host: str = "laptop",
    origin: Origin = Origin.HOOK,
    **payload: object,
) -> Envelope:
    """An envelope of a Claude Code hook event. `payload` adds fields to the hook's JSON or replaces them."""
    return Envelope(
        id=f"{next(_ids):012x}",
        name=name,
        origin=origin,
        client="claude-code",
        host=host,
        fired_at=at,
        received_at=at,
        payload=json.dumps(hook_payload(name, **payload)).encode(),
        observations=observations,
        decisions=decisions,
        delivery_id=delivery_id,
    )
