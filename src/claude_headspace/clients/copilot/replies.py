"""Replies to the hooks of Copilot CLI, in its format. Pure. Measured with 1.0.102.

Rules
- A reply is empty if there is nothing to act on.
- A verdict about a call is a reply to PreToolUse. "Ask" makes Copilot show a dialog with the reason.
- Context for the model is taken from SessionStart and UserPromptSubmit only.
- A person's answer is never a reply: a hook that waits for one keeps the dialog from appearing.
"""

from typing import Any

import msgspec

from claude_headspace.clients.copilot.hook_kinds import KINDS
from claude_headspace.clients.hook_output import block_stop
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.policy.verdict import Ruling, Verdict
from claude_headspace.kernel.wait.answers import Answer

__all__ = ["DECISIONS", "TAKES_CONTEXT", "answer_reply", "block_stop", "verdict_reply", "with_context", "with_message"]

DECISIONS = (Ruling.ALLOW, Ruling.ASK, Ruling.DENY)
TAKES_CONTEXT = (HookKind.SESSION_START, HookKind.PROMPT)


def verdict_reply(hook: str, verdict: Verdict) -> bytes:
    """The reply for a verdict of the policy. A warning decides nothing, and Copilot shows none."""
    if not verdict.enforced or verdict.ruling not in DECISIONS or KINDS.get(hook) is not HookKind.BEFORE_TOOL:
        return b""
    reason = verdict.reason or (f"Headspace: {verdict.rule}" if verdict.rule else "Headspace")
    return _decision(verdict.ruling.value, reason)


def _decision(decision: str, reason: str) -> bytes:
    return msgspec.json.encode({"permissionDecision": decision, "permissionDecisionReason": reason})


def with_context(hook: str, reply: bytes, text: str, denial: str | None = None) -> bytes:
    """A reply that also gives the model a text, or denies the call with a reason."""
    output: dict[str, Any] = msgspec.json.decode(reply) if reply else {}
    if denial is not None and KINDS.get(hook) is HookKind.BEFORE_TOOL and output.get("permissionDecision") != "deny":
        reasons = "\n".join(part for part in (denial, text) if part)
        return _decision("deny", f"Headspace: {reasons}")
    if not text or KINDS.get(hook) not in TAKES_CONTEXT:
        return reply
    context = "\n\n".join(filter(None, (output.get("additionalContext"), text)))
    return msgspec.json.encode(output | {"additionalContext": context})


def with_message(reply: bytes, text: str) -> bytes:
    """A reply that also shows a text to the user. Copilot has no field for it."""
    del text
    return reply


def answer_reply(event: Event, wait: Wait, answer: Answer) -> bytes:
    """The reply to a held hook that was answered. No hook of Copilot is held."""
    del event, wait, answer
    return b""
