"""Replies to the hooks of Codex."""

import json
from typing import Any

from claude_headspace.clients.codex import replies
from claude_headspace.kernel.policy.verdict import Ruling, Verdict


def reply(hook: str, ruling: Ruling, **known: Any) -> Any:
    """The reply for a verdict; None if it is empty."""
    found = replies.verdict_reply(hook, Verdict(ruling, "rule", "a reason", **known))
    return json.loads(found) if found else None


def specific(hook: str, **fields: Any) -> dict[str, Any]:
    """A reply for one hook."""
    return {"hookSpecificOutput": {"hookEventName": hook, **fields}}


def test_a_call_is_denied() -> None:
    """With the reason, which Codex requires."""
    denied = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="a reason")
    assert reply("PreToolUse", Ruling.DENY) == denied


def test_a_call_that_a_rule_asks_about_is_denied() -> None:
    """Codex refuses the verdict `ask` and would run the call."""
    assert reply("PreToolUse", Ruling.ASK) == reply("PreToolUse", Ruling.DENY)


def test_codex_gets_nothing_that_it_refuses() -> None:
    """An allowed call runs without a reply; other hooks have no verdict, and only recorded ones are not sent."""
    assert reply("PreToolUse", Ruling.ALLOW) is None
    assert reply("PreToolUse", Ruling.ABSTAIN) is None
    assert reply("Stop", Ruling.DENY) is None
    assert reply("PreToolUse", Ruling.DENY, enforced=False) is None


def test_a_warning_is_shown() -> None:
    """It decides nothing."""
    assert reply("PreToolUse", Ruling.WARN) == {"systemMessage": "a reason"}


def test_a_permission_is_decided_by_a_rule() -> None:
    """The dialog does not appear."""
    assert reply("PermissionRequest", Ruling.ALLOW) == specific("PermissionRequest", decision={"behavior": "allow"})
    denied = specific("PermissionRequest", decision={"behavior": "deny", "message": "a reason"})
    assert reply("PermissionRequest", Ruling.DENY) == denied


def test_context_and_denials_are_added() -> None:
    """The policy's denial is kept; without one, the given denial counts, and a text alone is context."""
    assert json.loads(replies.with_context("SessionStart", b"", "read this")) == specific(
        "SessionStart", additionalContext="read this"
    )
    denial = json.loads(replies.with_context("PreToolUse", b"", "why", "no"))
    assert denial["hookSpecificOutput"]["permissionDecisionReason"] == "Headspace: no\nwhy"
    denied = replies.verdict_reply("PreToolUse", Verdict(Ruling.DENY, None, "first"))
    kept = json.loads(replies.with_context("PreToolUse", denied, "", "second"))
    assert kept["hookSpecificOutput"]["permissionDecisionReason"] == "first"
    assert replies.with_context("PreToolUse", b"", "") == b""


def test_a_turn_is_kept_from_ending() -> None:
    """With the reason for the model, and a message for the user."""
    blocked = replies.with_message(replies.block_stop(b"", "go on"), "Headspace")
    assert json.loads(blocked) == {"decision": "block", "reason": "go on", "systemMessage": "Headspace"}
