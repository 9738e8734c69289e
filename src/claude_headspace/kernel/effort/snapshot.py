"""Where the replay of efforts begins when older events are gone: tasks, and the efforts with their rows.

It holds all that events up to its number came to, so those that are still there count for no effort again. A task never
ends: it is kept for the number of its next effort.
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
        """The rows, as if one event had made them."""
        return EffortChange(self.effort, None, list(self.windows), list(self.messages))


class EffortsSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """All efforts after the event `seq`."""

    seq: int = 0
    tasks: list[Task] = []
    efforts: list[EffortWithRows] = []


NO_EFFORTS = EffortsSnapshot()

EFFORTS_SNAPSHOT_ID = "efforts"
"""Under which name it stands among the snapshots of agents: none may be called so."""


def is_finished_before(effort: Effort, before: Micros) -> bool:
    """Whether an effort was finished before a moment: nothing can happen to it any more."""
    return effort.finished_at is not None and effort.finished_at < before
