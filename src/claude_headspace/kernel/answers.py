"""Answers of people to what an agent waits for. Pure.

    permission, plan   {"decision": "allow"|"deny", "message", "input", "always"}
    question           {"answers": {question: label, list of labels or text}}, or {"decision": "deny", "message"}
    elicitation        {"action": "accept"|"decline"|"cancel", "content"}

Rules
- Only what a hook of the client holds open can be answered; for other dialogs there is only the terminal.
- An answer that does not fit its wait is refused with the reason, before anything is written.
- An edited input replaces the call's input as a whole; answers to questions are added to it.
"""

from typing import Any, Literal

import msgspec

from claude_headspace.kernel import forms
from claude_headspace.kernel.agent import Agent, Wait
from claude_headspace.kernel.facts import ElicitationAsked, Event, PermissionAsked, WaitAnswered
from claude_headspace.kernel.wait_request import Question


class Answer(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """What a person answers."""

    decision: Literal["allow", "deny"] | None = None
    message: str = ""
    """For the agent, why not."""
    input: dict[str, Any] | None = None
    """The input that the tool gets instead of its own."""
    always: bool = False
    """Take up the client's own suggestions of rules as well."""
    answers: dict[str, str | list[str]] | None = None
    """By question, as it is worded or by its header: a label, several, or words of one's own."""
    action: Literal["accept", "decline", "cancel"] | None = None
    content: dict[str, Any] | None = None
    """The form of an elicitation, filled in."""

    @property
    def words(self) -> str:
        """What was done, in a word."""
        if self.answers is not None:
            return "answered"
        if self.action is not None:
            return {"accept": "accepted", "decline": "declined", "cancel": "cancelled"}[self.action]
        if self.decision == "deny":
            return "denied"
        return "always allowed" if self.always else "allowed"


def wait_of(agent: Agent, event: Event) -> Wait | None:
    """The wait that a hook is about, while it is open."""
    fact, thread = event.fact, event.meta.subagent_id
    if isinstance(fact, PermissionAsked):
        same = [wait for wait in agent.waits if (wait.tool, wait.subagent_id) == (fact.tool, thread)]
        exact = [wait for wait in same if wait.digest == fact.digest]
        # A transcript that was faster than the hook may spell the input otherwise: then the only one is meant.
        return exact[0] if exact else same[0] if len(same) == 1 else None
    if isinstance(fact, ElicitationAsked):
        return next((wait for wait in agent.waits if wait.call_id == fact.id), None)
    return None


def too_late(agent: Agent, event: Event) -> str | None:
    """Why an answer comes too late, if it does."""
    fact = event.fact
    if not isinstance(fact, WaitAnswered):
        return None
    wait = next((wait for wait in agent.waits if wait.id == fact.wait_id), None)
    if wait is None:
        return "It is over: nobody waits for this answer any more."
    if wait.answered is not None:
        return "Somebody was first."
    if wait.held_until <= event.meta.at:
        return "The client does not hold it open any more: only its terminal takes an answer."
    return None


# --- does it fit? -----------------------------------------------------------------------------------------------------


def mismatch(wait: Wait, answer: Answer) -> str | None:
    """Why an answer is none to a wait; None if it fits."""
    if wait.kind == "elicitation":
        return _form_mismatch(wait, answer)
    if wait.kind == "question" and answer.decision != "deny":
        return _answers_mismatch(wait, answer.answers)
    if answer.decision is None:
        return "It is answered with `decision`, which is allow or deny."
    if answer.always and not wait.suggestions:
        return "The client suggests no rule here, so there is nothing to allow for always."
    return None


def _form_mismatch(wait: Wait, answer: Answer) -> str | None:
    if answer.action is None:
        return "An elicitation is answered with `action`: accept, decline or cancel."
    return forms.problem(wait.form, answer.content) if answer.action == "accept" else None


def _answers_mismatch(wait: Wait, answers: dict[str, str | list[str]] | None) -> str | None:
    if not answers:
        return "A question is answered with `answers`: the question, and a label, several, or other words."
    known = {name for question in wait.questions for name in (question.text, question.header) if name}
    if unknown := [name for name in answers if known and name not in known]:
        return f"There is no question “{unknown[0][:200]}”."
    for question in wait.questions:
        given = given_to(question, answers)
        if not given or not all(part.strip() for part in given):
            return f"The question “{question.text[:200]}” has no answer."
        if len(given) > 1 and not question.several:
            return f"The question “{question.text[:200]}” takes one answer."
    return None


def given_to(question: Question, answers: dict[str, str | list[str]]) -> list[str]:
    """The answers to one question, by its text or its header."""
    given = answers.get(question.text) or answers.get(question.header) or []
    return [given] if isinstance(given, str) else given
