"""Replies to the hooks of Gemini CLI, in its format. Pure.

Only `BeforeTool` is answered, and only with a denial: the client cannot be made to ask, and `allow` does not skip its
dialog. A call that a rule wants to ask about is denied.
"""

import msgspec

from claude_headspace.clients.gemini.hook_kinds import KINDS
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.policy.verdict import Ruling, Verdict
from claude_headspace.kernel.wait.answers import Answer


def verdict_reply(hook: str, verdict: Verdict) -> bytes:
    """The reply for a verdict of the policy. A rule that asks denies."""
    if KINDS.get(hook) is not HookKind.BEFORE_TOOL or not verdict.enforced:
        return b""
    reason = verdict.reason or (f"Headspace: {verdict.rule}" if verdict.rule else "Headspace")
    match verdict.ruling:
        case Ruling.DENY | Ruling.ASK:
            return _denial(reason)
        case _:
            return b""


def with_context(hook: str, reply: bytes, text: str, denial: str | None = None) -> bytes:
    """A reply that denies the call with a reason. A text alone does not reach the model."""
    if KINDS.get(hook) is not HookKind.BEFORE_TOOL or denial is None or reply:
        return reply
    return _denial("Headspace: " + "\n".join(part for part in (denial, text) if part))


def with_message(reply: bytes, text: str) -> bytes:
    """The reply: the client shows no messages of hooks."""
    del text
    return reply


def block_stop(reply: bytes, reason: str) -> bytes:
    """The reply: no reply to the end of a turn is sent."""
    del reason
    return reply


def answer_reply(event: Event, wait: Wait, answer: Answer) -> bytes:
    """No hook is held open: a slow hook would keep the client from showing its dialog."""
    del event, wait, answer
    return b""


def _denial(reason: str) -> bytes:
    return msgspec.json.encode({"decision": "deny", "reason": reason})
