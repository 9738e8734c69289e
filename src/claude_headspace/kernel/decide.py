"""What Claude Code is answered. No policy is configured yet, so every call is left to the client."""

from enum import StrEnum

import msgspec

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.facts import Event


class Ruling(StrEnum):
    """What a policy may say; `abstain` leaves the decision where it was."""

    ABSTAIN = "abstain"
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Verdict(msgspec.Struct, frozen=True):
    """A ruling, with the rule that gave it."""

    ruling: Ruling
    rule: str | None = None
    reason: str | None = None


class Policy(msgspec.Struct, frozen=True):
    """The rules in force: none."""


ABSTAIN = Verdict(Ruling.ABSTAIN)


def decide(_policy: Policy, _agent: Agent, _event: Event) -> Verdict:
    """Rule on what the agent is about to do."""
    return ABSTAIN
