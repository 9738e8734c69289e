"""What Claude Code was told with the answer to a hook: a fact, stored with the event, and never decided again."""

from enum import StrEnum

import msgspec


class NoticeKind(StrEnum):
    """What is told, and so how the client takes it."""

    NEWS = "news"
    """Workers are back: it comes beside the prompt."""
    REMINDER = "reminder"
    """The turn does not end yet: it is told to report first."""


class Notice(msgspec.Struct, frozen=True, omit_defaults=True):
    """A text for the model."""

    kind: NoticeKind
    text: str
    missions: tuple[str, ...] = ()
    """The missions that it tells of."""
