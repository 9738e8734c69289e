"""What the client is answered because of an effort: a fact, stored with the event, and never decided again."""

from typing import Any

import msgspec


class FiredRule(msgspec.Struct, frozen=True):
    """A guard rule of the effort that spoke."""

    field: str
    op: str
    value: Any
    payload: Any = None


class Advice(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The answer to one event. Empty where there is nothing to say."""

    rule: str | None = None
    """The rule that denies the call; None lets it be."""
    reason: str = ""
    context: tuple[str, ...] = ()
    """Texts for the model."""
    preload: tuple[str, ...] = ()
    """Files for the model, read when the answer is composed."""
    injections: tuple[str, ...] = ()
    """The queued injections that are delivered."""
    overflow: bool = False
    fired: tuple[FiredRule, ...] = ()

    @property
    def denies(self) -> bool:
        """Whether the call is refused."""
        return self.rule is not None


NO_ADVICE = Advice()
