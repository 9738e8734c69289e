"""What a session was told of itself when a hook was answered: a fact, stored with the event, never decided again."""

import msgspec


class Care(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The answer to one event. Empty where there is nothing to say."""

    said: tuple[str, ...] = ()
    """Texts for the model."""
    level: int = 0
    """The level of its context that it was told of, in percent."""
    asked_for_note: bool = False
    holds: bool = False
    """Whether the turn was not let end: the client goes on with what was said."""


NO_CARE = Care()
