"""A notification about a need, through one channel, with its result.

Rules
- A need is sent once per channel. A daemon claims a notification before it sends it (`NotificationStarted`). A second
  claim is rejected in the batch, also from another daemon.
- A claim without a result (after a crash) expires and may be repeated. A failure may be retried after a delay. Both at
  most `MAX_ATTEMPTS` times.
- A closed notification stays closed.
"""

import msgspec

from claude_headspace.kernel.envelope import SECOND, Micros

CLAIM_DURATION: Micros = 60 * SECOND
"""Maximum time for sending. After that, the daemon that claimed it is presumed dead."""
MAX_ATTEMPTS = 3
RETRY_DELAYS: tuple[Micros, ...] = (10 * SECOND, 60 * SECOND)
"""Delay after the first failure, and after each further one."""
MAX_CLOSED = 8
"""Maximum number of closed notifications per agent."""


class Notification(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """One notification about one need."""

    need: str
    kind: str
    channel: str
    title: str
    started_at: Micros
    attempts: int = 1
    completed_at: Micros = 0
    """When it was sent or failed; 0 while it is being sent."""
    failure: str = ""
    receipt: str = ""
    """The channel's id for it, used to remove it."""
    closed_at: Micros = 0
    outcome: str = ""
    """Why the need was closed."""

    @property
    def status(self) -> str:
        """`sending`, `delivered`, `failed` or `over`."""
        if self.closed_at:
            return "over"
        if not self.completed_at:
            return "sending"
        return "failed" if self.failure else "delivered"

    @property
    def is_delivered(self) -> bool:
        """Whether it was sent successfully."""
        return self.completed_at > 0 and not self.failure

    @property
    def retry_at(self) -> Micros | None:
        """When it may be sent again; None if never."""
        if self.closed_at or self.is_delivered or self.attempts >= MAX_ATTEMPTS:
            return None
        if not self.completed_at:
            return self.started_at + CLAIM_DURATION
        return self.completed_at + RETRY_DELAYS[min(self.attempts, len(RETRY_DELAYS)) - 1]


def find_notification(notifications: tuple[Notification, ...], need: str, channel: str) -> Notification | None:
    """Return the notification about a need through a channel."""
    return next((each for each in notifications if each.need == need and each.channel == channel), None)
