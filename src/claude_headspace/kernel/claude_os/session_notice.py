"""A session notice: texts that a session receives with the reply to a hook. Stored with the event as a decision."""

import msgspec


class SessionNotice(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The notice for one event. Empty if there is nothing to report."""

    texts: tuple[str, ...] = msgspec.field(default=(), name="said")
    """Texts for the model."""
    context_level: int = msgspec.field(default=0, name="level")
    """The context level that was reported, in percent."""
    requests_note: bool = msgspec.field(default=False, name="asked_for_note")
    """Whether the session was asked to set a note."""
    mission_ids: tuple[str, ...] = msgspec.field(default=(), name="missions")
    """The missions whose results were reported."""
    requests_report: bool = msgspec.field(default=False, name="asked_for_report")
    """Whether the worker was asked to report."""
    blocks_turn_end: bool = msgspec.field(default=False, name="holds")
    """Whether the end of the turn was blocked, so that the client continues with the texts."""


NO_NOTICE = SessionNotice()


def combine(one: SessionNotice, other: SessionNotice) -> SessionNotice:
    """Combine two notices into one."""
    if NO_NOTICE in (one, other):
        return other if one == NO_NOTICE else one
    return SessionNotice(
        texts=(*one.texts, *other.texts),
        context_level=max(one.context_level, other.context_level),
        requests_note=one.requests_note or other.requests_note,
        mission_ids=(*one.mission_ids, *other.mission_ids),
        requests_report=one.requests_report or other.requests_report,
        blocks_turn_end=one.blocks_turn_end or other.blocks_turn_end,
    )
