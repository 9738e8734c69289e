"""A notice: that a person was called about a need, through one channel, and what came of it.

Rules
- A need is announced once per channel. Whoever is about to call writes that down first (`NoticeBegun`): the second one
  is refused in the batch, whichever daemon it is.
- A call whose result nobody wrote down (a crash in between) may be made again when its claim is over, and one that
  failed after a pause; both a few times only.
- What is over stays over.
"""

import msgspec

from claude_headspace.kernel.envelope import SECOND, Micros

CLAIM_DURATION: Micros = 60 * SECOND
"""So long a call may take. After that whoever began it is believed to be gone."""
MAX_ATTEMPTS = 3
RETRY_DELAYS: tuple[Micros, ...] = (10 * SECOND, 60 * SECOND)
"""After the first failure, and after every further one."""
MAX_CLOSED = 8
"""How many notices that are over an agent carries."""


class Notification(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """One call about one need."""

    need: str
    kind: str
    channel: str
    title: str
    started_at: Micros
    attempts: int = 1
    completed_at: Micros = 0
    """When its result was known; 0: it is under way."""
    failure: str = ""
    receipt: str = ""
    """What the channel calls it, to take it back."""
    closed_at: Micros = 0
    outcome: str = ""
    """Why nobody has to be called about it any more."""

    @property
    def status(self) -> str:
        """How far it is, in a word."""
        if self.closed_at:
            return "over"
        if not self.completed_at:
            return "sending"
        return "failed" if self.failure else "delivered"

    @property
    def is_delivered(self) -> bool:
        """Whether it went out."""
        return self.completed_at > 0 and not self.failure

    @property
    def retry_at(self) -> Micros | None:
        """When it may be tried again; None: never."""
        if self.closed_at or self.is_delivered or self.attempts >= MAX_ATTEMPTS:
            return None
        if not self.completed_at:
            return self.started_at + CLAIM_DURATION
        return self.completed_at + RETRY_DELAYS[min(self.attempts, len(RETRY_DELAYS)) - 1]


def find_notification(notifications: tuple[Notification, ...], need: str, channel: str) -> Notification | None:
    """The call about a need through a channel."""
    return next((each for each in notifications if each.need == need and each.channel == channel), None)
