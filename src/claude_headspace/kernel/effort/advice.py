"""What an effort adds to the reply to a hook. Stored with the event; a replay never computes it again."""

from typing import Any

import msgspec


class GuardRule(msgspec.Struct, frozen=True):
    """A guard rule of the effort's metadata: a condition on a field, and what follows if it is true."""

    field: str
    op: str
    value: Any
    payload: Any = None


class Advice(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The advice for one hook. All fields are empty by default."""

    rule: str | None = None
    """The rule that denies the tool call; None allows it."""
    reason: str = ""
    context: tuple[str, ...] = ()
    """Texts for the model."""
    preload: tuple[str, ...] = ()
    """Files for the model; read when the reply is written."""
    documents: tuple[str, ...] = ()
    """Documents of the effort for the model, of which some may not exist."""
    injections: tuple[str, ...] = ()
    """Ids of the queued injections that this reply delivers."""
    overflow: bool = False
    """Whether the reply asks for a handover because the context is nearly full."""
    fired: tuple[GuardRule, ...] = ()

    @property
    def denies(self) -> bool:
        """Whether the tool call is denied."""
        return self.rule is not None


NO_ADVICE = Advice()
