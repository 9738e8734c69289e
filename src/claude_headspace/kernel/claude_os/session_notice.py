"""What a session was told with the answer to a hook: of itself, and of its workers.

A fact, stored with the event, and never decided again.
"""

import msgspec


class Care(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The answer to one event. Empty where there is nothing to say."""

    said: tuple[str, ...] = ()
    """Texts for the model."""
    level: int = 0
    """The level of its context that it was told of, in percent."""
    asked_for_note: bool = False
    missions: tuple[str, ...] = ()
    """The missions of its workers that it was told of."""
    asked_for_report: bool = False
    holds: bool = False
    """Whether the turn was not let end: the client goes on with what was said."""


NO_CARE = Care()


def together(one: Care, other: Care) -> Care:
    """Both in one answer."""
    if NO_CARE in (one, other):
        return other if one == NO_CARE else one
    return Care(
        said=(*one.said, *other.said),
        level=max(one.level, other.level),
        asked_for_note=one.asked_for_note or other.asked_for_note,
        missions=(*one.missions, *other.missions),
        asked_for_report=one.asked_for_report or other.asked_for_report,
        holds=one.holds or other.holds,
    )
