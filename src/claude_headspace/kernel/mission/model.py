"""The data types of missions. All are immutable."""

from enum import StrEnum

import msgspec

from claude_headspace.kernel.envelope import Micros

INTERACTIVE, MISSION, BACKGROUND = MODES = ("interactive", "mission", "background")
WORKER_MODES = (MISSION, BACKGROUND)
"""Modes of an unattended agent. Such an agent sends no messages to people."""

MAX_GOAL_CHARS = 2_000
MAX_REPORT_CHARS = 8_000
MAX_ANSWER_CHARS = 2_000
MAX_WORKER_REPORTS = 16
"""Worker reports that a conversation keeps; older ones are dropped."""


class MissionOutcome(StrEnum):
    """How a mission ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    ABANDONED = "abandoned"


class Mission(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The task of an unattended agent."""

    id: str
    started_at: Micros
    goal: str = ""
    started_by: str = ""
    conversation_id: str | None = None
    """The agent that started it and receives the result."""
    report: str = ""
    """The result, as reported by the worker."""
    answer: str = ""
    """The last message of the worker's last turn."""
    reminded_at: Micros | None = None
    outcome: MissionOutcome | None = None
    reason: str = msgspec.field(default="", name="words")
    """Why the mission has this outcome."""
    ended_at: Micros | None = None


class WorkerReport(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The result of a worker, for the conversation that started it."""

    mission_id: str
    goal: str
    text: str
    at: Micros
    woken: bool = False
    """Whether the conversation was woken for it. That happens once."""
