"""Replies to Claude Code's hooks, in its JSON. Pure.

An answer of a person goes to the hook that the client keeps open. An edited input replaces the call's input as a whole;
answers to questions are added to it.
"""

from typing import Any

import msgspec

from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.answers import Answer, given_to
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.hooks import HookKind


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
        # A plan is approved only with an input (2.1.325). The client has the text in its own file; ours may be cut.
        decision["updatedInput"] = {name: value for name, value in _input(event).items() if name != "plan"}
    if answer.always:
        decision["updatedPermissions"] = msgspec.json.decode(wait.suggestions)
    return decision


def _input(event: Event) -> dict[str, Any]:
    found = event.tool.input if event.tool is not None else None
    return found if isinstance(found, dict) else {}


def _answers(wait: Wait, answers: dict[str, str | list[str]]) -> dict[str, str]:
    """As the client itself stores them: by the text of the question, several labels joined with commas."""
    return {question.text: ", ".join(given_to(question, answers)) for question in wait.questions}
