"""What came of a rule: how the client is answered, and by which rule. A fact, stored with the event it is about."""

from enum import StrEnum

import msgspec


class Ruling(StrEnum):
    """What a policy may say, from the mildest on; `abstain` leaves the decision where it was."""

    ABSTAIN = "abstain"
    ALLOW = "allow"
    WARN = "warn"
    ASK = "ask"
    DENY = "deny"

    @property
    def severity(self) -> int:
        """Which of two rulings wins: the higher."""
        return SEVERITY[self]


SEVERITY = {ruling: number for number, ruling in enumerate(Ruling)}


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """A ruling, with the rule that gave it."""

    ruling: Ruling
    rule: str | None = None
    reason: str | None = None
    enforced: bool = True
    """False where it was only written down: in shadow mode, or because nobody waited for an answer."""
    lapse: str | None = None
    """Why the guards were off for this call, if they were."""


ABSTAIN = Verdict(Ruling.ABSTAIN)
