"""Replies to the plugin of opencode. Pure.

Rules
- A reply is empty if there is nothing to act on.
- The plugin denies a call with `deny`, the reason for the model. It cannot make the client ask about a call, so a
  verdict that asks denies the call, too.
- `answer` is for a dialog: the reply to a permission, or the answers to all questions in their order.
- A permission that is denied without words ends the turn, as in the terminal. With words the agent continues.
"""

from typing import Any

import msgspec

from claude_headspace.clients.opencode.hook_kinds import KINDS
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.policy.verdict import Ruling, Verdict
from claude_headspace.kernel.wait.answers import Answer, answers_to_question

DENIED = (Ruling.DENY, Ruling.ASK)


def verdict_reply(hook: str, verdict: Verdict) -> bytes:
    """The reply for a verdict of the policy."""
    if not verdict.enforced or verdict.ruling not in DENIED or KINDS.get(hook) is not HookKind.BEFORE_TOOL:
        return b""
    reason = verdict.reason or (f"Headspace: {verdict.rule}" if verdict.rule else "Headspace")
    return _encode({"deny": reason})


def with_context(hook: str, reply: bytes, text: str, denial: str | None = None) -> bytes:
    """A reply that denies the call with a reason. The client takes no text for the model."""
    if reply or denial is None or KINDS.get(hook) is not HookKind.BEFORE_TOOL:
        return reply
    reasons = "\n".join(part for part in (denial, text) if part)
    return _encode({"deny": f"Headspace: {reasons}"})


def with_message(reply: bytes, text: str) -> bytes:
    """The reply as it is: the client shows no texts of plugins."""
    del text
    return reply


def block_stop(reply: bytes, reason: str) -> bytes:
    """The reply as it is: a plugin cannot keep a turn from ending."""
    del reason
    return reply


def answer_reply(event: Event, wait: Wait, answer: Answer) -> bytes:
    """The reply to a dialog that was answered."""
    if event.hook is HookKind.ELICITATION:
        return _encode({"answer": {"answers": _answers(wait, answer)}})
    if answer.decision == "deny":
        return _encode({"answer": {"reply": "reject", **({"message": answer.message} if answer.message else {})}})
    return _encode({"answer": {"reply": "always" if answer.grant else "once"}})


def _answers(wait: Wait, answer: Answer) -> list[list[str]] | None:
    """The answers to each question; None dismisses the dialog."""
    given = answer.answers
    return None if given is None else [answers_to_question(question, given) for question in wait.questions]


def _encode(value: dict[str, Any]) -> bytes:
    return msgspec.json.encode(value)
