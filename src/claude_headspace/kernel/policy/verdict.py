"""The verdict on a tool call. It is stored with the event, and never decided again."""

from enum import StrEnum

import msgspec


class Ruling(StrEnum):
    """The possible rulings, from lenient to strict. `abstain` leaves the decision to the client."""

    ABSTAIN = "abstain"
    ALLOW = "allow"
    WARN = "warn"
    ASK = "ask"
    DENY = "deny"

    @property
    def severity(self) -> int:
        """The strictness; the ruling with the highest severity wins."""
        return SEVERITY[self]


SEVERITY = {ruling: number for number, ruling in enumerate(Ruling)}


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """A ruling, and the rule that it comes from."""

    ruling: Ruling
    rule: str | None = None
    reason: str | None = None
    enforced: bool = True
    """False if it was only recorded: with the preset `watch`, or because no client waited for it."""
    lapse: str | None = None
    """Why the guard was off for this call, if it was."""


ABSTAIN = Verdict(Ruling.ABSTAIN)
