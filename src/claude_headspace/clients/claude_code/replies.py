"""Replies to Claude Code's hooks, in its JSON. Pure.

Rules
- A reply is empty if there is nothing to act on: what a hook prints may reach the model.
- A verdict is expressed in the fields of the hook that it is about. Other hooks have no field for a verdict.
- If both the policy and the effort deny a call, the policy's denial is kept.
- An answer of a person goes to the hook that the client keeps open. An edited input replaces the complete
  input of the call; answers to questions are added to it.
- Only the permissions that the person selected are granted.
"""

from typing import Any

import msgspec

from claude_headspace.clients.claude_code.hook_kinds import KINDS
from claude_headspace.clients.claude_code.suggestions import selected_updates
from claude_headspace.clients.hook_output import block_stop, with_message
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.policy.verdict import Ruling, Verdict
from claude_headspace.kernel.wait.answers import Answer, answers_to_question

__all__ = ["answer_reply", "block_stop", "verdict_reply", "with_context", "with_message"]

# --- verdicts and context ---------------------------------------------------------------------------------------------


def verdict_reply(hook: str, verdict: Verdict) -> bytes:
    """The reply for a policy's verdict. A warning decides nothing: it is shown to the user."""
    if verdict.ruling is Ruling.ABSTAIN or not verdict.enforced:
        return b""
    kind = KINDS.get(hook)
    if verdict.ruling is Ruling.WARN:
        return msgspec.json.encode({"systemMessage": verdict.reason}) if kind is HookKind.BEFORE_TOOL else b""
    output = _verdict_fields(kind, verdict)
    return msgspec.json.encode({"hookSpecificOutput": {"hookEventName": hook, **output}}) if output else b""


def _verdict_fields(kind: HookKind | None, verdict: Verdict) -> dict[str, Any]:
    reason = verdict.reason or (f"Headspace: {verdict.rule}" if verdict.rule else "Headspace")
    match kind:
        case HookKind.BEFORE_TOOL:
            return {"permissionDecision": verdict.ruling.value, "permissionDecisionReason": reason}
        case HookKind.PERMISSION if verdict.ruling is Ruling.ALLOW:
            return {"decision": {"behavior": "allow"}}
        case HookKind.PERMISSION if verdict.ruling is Ruling.DENY:
            return {"decision": {"behavior": "deny", "message": reason}}
        case _:
            return {}


def with_context(hook: str, reply: bytes, text: str, denial: str | None = None) -> bytes:
    """A reply that also gives the model a text, or denies the call with a reason."""
    output: dict[str, Any] = msgspec.json.decode(reply) if reply else {}
    specific: dict[str, Any] = output.setdefault("hookSpecificOutput", {"hookEventName": hook})
    if denial is not None and specific.get("permissionDecision") != "deny":
        reasons = "\n".join(part for part in (denial, text) if part)
        specific |= {"permissionDecision": "deny", "permissionDecisionReason": f"Headspace: {reasons}"}
    elif text:
        specific["additionalContext"] = "\n\n".join(filter(None, (specific.get("additionalContext"), text)))
    return msgspec.json.encode(output) if len(specific) > 1 or len(output) > 1 else reply


# --- answers of people ------------------------------------------------------------------------------------------------


def answer_reply(event: Event, wait: Wait, answer: Answer) -> bytes:
    """The reply to a held hook that was answered."""
    if event.hook is HookKind.ELICITATION:
        output: dict[str, Any] = {"action": answer.action}
        if answer.content is not None:
            output["content"] = answer.content
    else:
        output = {"decision": _decision(event, wait, answer)}
    return msgspec.json.encode({"hookSpecificOutput": {"hookEventName": event.meta.name, **output}})


def _decision(event: Event, wait: Wait, answer: Answer) -> dict[str, Any]:
    if answer.decision == "deny":
        return {"behavior": "deny", "message": answer.message or "The user said no."}
    decision: dict[str, Any] = {"behavior": "allow"}
    if answer.answers is not None:
        decision["updatedInput"] = {**_input(event), "answers": _answers(wait, answer.answers)}
    elif answer.input is not None:
        decision["updatedInput"] = answer.input
    elif wait.kind == "plan":
        # A plan is approved only with an input (2.1.325). The client has the full plan in a file. The stored plan may
        # be truncated, so it is left out.
        decision["updatedInput"] = {name: value for name, value in _input(event).items() if name != "plan"}
    if answer.grant:
        decision["updatedPermissions"] = selected_updates(wait.suggestions, answer.grant)
    return decision


def _input(event: Event) -> dict[str, Any]:
    found = event.tool.input if event.tool is not None else None
    return found if isinstance(found, dict) else {}


def _answers(wait: Wait, answers: dict[str, str | list[str]]) -> dict[str, str]:
    """As the client itself stores them: by the text of the question, several labels joined with commas."""
    return {question.text: ", ".join(answers_to_question(question, answers)) for question in wait.questions}
