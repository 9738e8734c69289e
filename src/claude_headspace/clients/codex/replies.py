"""Replies to the hooks of Codex, in its JSON. Pure.

Rules
- A reply is empty if there is nothing to act on: what a hook prints may reach the model.
- Codex has no verdict `ask` and refuses `allow` (0.166.0: the hook counts as failed, and the call runs). A call that a
  rule asks about is denied.
- Only SessionStart, UserPromptSubmit, SubagentStart and the tool hooks can give the model a text.
- No hook is held for a person: the dialog would not appear meanwhile.
"""

from typing import Any

import msgspec

from claude_headspace.clients.codex.hook_kinds import KINDS
from claude_headspace.clients.hook_output import block_stop, with_message
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.policy.verdict import Ruling, Verdict
from claude_headspace.kernel.wait.answers import Answer

__all__ = ["answer_reply", "block_stop", "verdict_reply", "with_context", "with_message"]


def verdict_reply(hook: str, verdict: Verdict) -> bytes:
    """The reply for a verdict of the policy. A warning decides nothing: it is shown to the user."""
    if not verdict.enforced:
        return b""
    match KINDS.get(hook), verdict.ruling:
        case HookKind.BEFORE_TOOL, Ruling.WARN:
            return msgspec.json.encode({"systemMessage": verdict.reason})
        case HookKind.BEFORE_TOOL, Ruling.DENY | Ruling.ASK:
            return _specific(hook, _denial(_reason(verdict)))
        case HookKind.PERMISSION, Ruling.ALLOW:
            return _specific(hook, {"decision": {"behavior": "allow"}})
        case HookKind.PERMISSION, Ruling.DENY:
            return _specific(hook, {"decision": {"behavior": "deny", "message": _reason(verdict)}})
        case _:
            return b""


def _reason(verdict: Verdict) -> str:
    return verdict.reason or (f"Headspace: {verdict.rule}" if verdict.rule else "Headspace")


def _denial(reason: str) -> dict[str, Any]:
    return {"permissionDecision": "deny", "permissionDecisionReason": reason}


def _specific(hook: str, output: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"hookSpecificOutput": {"hookEventName": hook, **output}})


def with_context(hook: str, reply: bytes, text: str, denial: str | None = None) -> bytes:
    """A reply that also gives the model a text, or denies the call with a reason."""
    output: dict[str, Any] = msgspec.json.decode(reply) if reply else {}
    specific: dict[str, Any] = output.setdefault("hookSpecificOutput", {"hookEventName": hook})
    if denial is not None and specific.get("permissionDecision") != "deny":
        reasons = "\n".join(part for part in (denial, text) if part)
        specific |= _denial(f"Headspace: {reasons}")
    elif text:
        specific["additionalContext"] = "\n\n".join(filter(None, (specific.get("additionalContext"), text)))
    return msgspec.json.encode(output) if len(specific) > 1 or len(output) > 1 else reply


def answer_reply(event: Event, wait: Wait, answer: Answer) -> bytes:
    """No hook is held for a person, so none is answered."""
    del event, wait, answer
    return b""
