"""The start of a replay of efforts when older events were removed: tasks, and efforts with their rows.

A snapshot contains the result of all events up to its `seq`; a replay skips those events for efforts. Tasks are never
removed: they contain the ordinal of the next effort.
"""

import msgspec

from claude_headspace.kernel.effort.model import Effort, EffortChange, Message, Task, Window
from claude_headspace.kernel.envelope import Micros


class EffortWithRows(msgspec.Struct, frozen=True, kw_only=True):
    """An effort with its rows."""

    effort: Effort
    windows: list[Window] = []
    messages: list[Message] = []

    def to_change(self) -> EffortChange:
        """The effort and its rows as one change."""
        return EffortChange(self.effort, None, list(self.windows), list(self.messages))


class EffortsSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """All efforts after the event `seq`."""

    seq: int = 0
    tasks: list[Task] = []
    efforts: list[EffortWithRows] = []


NO_EFFORTS = EffortsSnapshot()

EFFORTS_SNAPSHOT_ID = "efforts"
"""Its id among the snapshots of agents. No agent can have this id."""


def is_finished_before(effort: Effort, before: Micros) -> bool:
    """Whether an effort was finished before a time. A finished effort never changes again."""
    return effort.finished_at is not None and effort.finished_at < before
