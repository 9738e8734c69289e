"""The nouns: what an agent was sent to do, and what its conversation is to be told of it. All are immutable."""

from enum import StrEnum

import msgspec

from claude_headspace.kernel.envelope import Micros

INTERACTIVE, MISSION, BACKGROUND = MODES = ("interactive", "mission", "background")
WORKER_MODES = (MISSION, BACKGROUND)
"""In these an agent works by itself, and writes to nobody."""

LONGEST_GOAL = 2_000
LONGEST_REPORT = 8_000
LONGEST_ANSWER = 2_000
REMEMBERED_NEWS = 16
"""How many workers a conversation can be told of at once; the oldest are forgotten."""


class MissionOutcome(StrEnum):
    """How a mission ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    ABANDONED = "abandoned"


class Mission(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What an agent was sent to do."""

    id: str
    started_at: Micros
    goal: str = ""
    started_by: str = ""
    conversation_id: str | None = None
    """The agent on whose behalf it works, and who is told when it is over."""
    report: str = ""
    """The worker's own word."""
    answer: str = ""
    """The last thing that it said at the end of a turn."""
    reminded_at: Micros | None = None
    outcome: MissionOutcome | None = None
    words: str = ""
    """Why it ended so."""
    ended_at: Micros | None = None


class News(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A worker is back."""

    mission_id: str
    goal: str
    text: str
    at: Micros
    woken: bool = False
    """Whether the conversation was woken for it; that happens once."""
