"""The answer to a hook: one JSON for API users and for Claude Code, which ignores keys that it does not know.

The shim asks for Claude Code's part alone, since what a hook prints may reach the model. It is empty where no rule
spoke, and where a rule spoke only for the record.
"""

from typing import Any

import msgspec

from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.correlate import Strategy
from claude_headspace.kernel.policy.verdict import Ruling, Verdict
from claude_headspace.kernel.views import Dialects, dialects


class HookReply(msgspec.Struct, frozen=True):
    """What the sender of an event is told. While the journal is away only its status is known: `spooled`."""

    status: str
    agent_id: str | None = None
    agent: str | None = None
    state: AgentState | None = None
    waiting_for: str | None = None
    session_id: str | None = None
    correlation: Strategy | None = None
    dialects: Dialects | None = None


SPOOLED = HookReply("spooled")
"""The event is safe, and nothing is known of it yet."""


def compose(agent: Agent, strategy: Strategy, *, duplicate: bool) -> HookReply:
    """The reply to an event that is stored. Nothing in it is for Claude Code to act on."""
    return HookReply(
        "duplicate" if duplicate else "ok",
        agent.id,
        agent.name,
        agent.state,
        agent.waiting_for,
        agent.session.client_id if agent.session else None,
        strategy,
        dialects(agent),
    )


def for_claude(event: str, verdict: Verdict) -> bytes:
    """Claude Code's part of the reply, empty where there is nothing to act on.

    A ruling is said in the words of the event that it is about; other events know none. A warning decides nothing: it
    is shown to the user.
    """
    if verdict.ruling is Ruling.ABSTAIN or not verdict.enforced:
        return b""
    if verdict.ruling is Ruling.WARN:
        return msgspec.json.encode({"systemMessage": verdict.reason}) if event == "PreToolUse" else b""
    output = _ruling(event, verdict)
    return msgspec.json.encode({"hookSpecificOutput": {"hookEventName": event, **output}}) if output else b""


def _ruling(event: str, verdict: Verdict) -> dict[str, Any]:
    reason = verdict.reason or (f"Headspace: {verdict.rule}" if verdict.rule else "Headspace")
    match event:
        case "PreToolUse":
            return {"permissionDecision": verdict.ruling.value, "permissionDecisionReason": reason}
        case "PermissionRequest" if verdict.ruling is Ruling.ALLOW:
            return {"decision": {"behavior": "allow"}}
        case "PermissionRequest" if verdict.ruling is Ruling.DENY:
            return {"decision": {"behavior": "deny", "message": reason}}
        case _:
            return {}
