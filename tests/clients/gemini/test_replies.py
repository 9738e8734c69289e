"""Replies to the hooks of Gemini CLI: it accepts denials only."""

import msgspec
import pytest

from claude_headspace.clients.gemini import replies
from claude_headspace.kernel.policy.verdict import Ruling, Verdict


def test_a_denial_has_its_reason() -> None:
    """The model gets the reason."""
    reply = replies.verdict_reply("BeforeTool", Verdict(Ruling.DENY, "no-secrets", "Secrets are not read."))
    assert msgspec.json.decode(reply) == {"decision": "deny", "reason": "Secrets are not read."}


def test_a_rule_that_asks_denies() -> None:
    """The client cannot be made to ask."""
    reply = replies.verdict_reply("BeforeTool", Verdict(Ruling.ASK, "sudo", "It uses sudo."))
    assert msgspec.json.decode(reply) == {"decision": "deny", "reason": "It uses sudo."}


@pytest.mark.parametrize("ruling", [Ruling.ALLOW, Ruling.WARN, Ruling.ABSTAIN])
def test_other_verdicts_leave_the_decision_to_the_client(ruling: Ruling) -> None:
    """`allow` would not skip its dialog."""
    assert replies.verdict_reply("BeforeTool", Verdict(ruling, "r", "why")) == b""


def test_what_is_only_recorded_is_not_replied() -> None:
    """Neither a verdict that is not enforced nor one about another hook."""
    assert replies.verdict_reply("BeforeTool", Verdict(Ruling.DENY, enforced=False)) == b""
    assert replies.verdict_reply("AfterTool", Verdict(Ruling.DENY)) == b""


def test_a_gate_denies_the_call() -> None:
    """A denial of the engine reaches the model; context alone cannot."""
    assert msgspec.json.decode(replies.with_context("BeforeTool", b"", "Log it.", "No session.")) == {
        "decision": "deny",
        "reason": "Headspace: No session.\nLog it.",
    }
    assert replies.with_context("BeforeAgent", b"", "Log it.") == b""
