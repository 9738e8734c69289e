"""Answers of people to waits.

    permission, plan   {"decision": "allow"|"deny", "message", "input", "grant"}
    question           {"answers": {question: label, list of labels or text}}, or {"decision": "deny", "message"}
    elicitation        {"action": "accept"|"decline"|"cancel", "content"}

Rules
- Only a dialog whose hook is held open can be answered; other dialogs can only be answered in the terminal.
- An answer that does not fit its wait is refused with a reason, before anything is stored. A number that is not a label
  of an option does not fit: it is never sent as a text.
- A text that is the label of an option, apart from capital letters, is this option.
- An edited input replaces the whole input of the call; answers to questions are added to it.
- An edited input with a mark for something that Headspace redacted or left out is refused.
- An answer that lets the agent do something is given only to what was shown: everything that Headspace has.
- `grant` selects permissions that the client suggests, each by its id. Nothing else is granted.
"""

from typing import Any, Literal

import msgspec

from claude_headspace.kernel.acts import WaitAnswered
from claude_headspace.kernel.agent import Agent, Wait
from claude_headspace.kernel.facts import ElicitationAsked, Event, PermissionAsked
from claude_headspace.kernel.sanitize import is_altered
from claude_headspace.kernel.text import count, one_line, strings_in
from claude_headspace.kernel.wait import forms
from claude_headspace.kernel.wait.options import as_label, find_unknown_number, not_an_option, options_hint
from claude_headspace.kernel.wait.request import Question

_DECISIONS = {
    ("permission", "allow"): "allowed",
    ("permission", "deny"): "denied",
    ("plan", "allow"): "approved",
    ("plan", "deny"): "told to keep planning",
    ("question", "deny"): "declined to answer",
}
"""A decision in words, by the kind of wait."""
CANNOT_ANSWER = "Headspace cannot answer this dialog now."
"""If the reason is not known."""
UNCONFIRMED = "The keys were pressed, but the client has not closed its dialog: it may still take the answer."
"""The reason if it is not known whether the client received an answer."""


class Answer(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """An answer of a person."""

    decision: Literal["allow", "deny"] | None = None
    message: str = ""
    """For the agent: why it was denied."""
    input: dict[str, Any] | None = None
    """The input that replaces the tool's input."""
    grant: tuple[str, ...] = ()
    """With "allow": the ids of suggestions that are granted, too."""
    always: bool = False
    """Refused without `grant`: it does not say what is granted."""
    answers: dict[str, str | list[str]] | None = None
    """By the text or header of the question: a label, several labels, or free text."""
    action: Literal["accept", "decline", "cancel"] | None = None
    content: dict[str, Any] | None = None
    """The filled-in form of an elicitation."""

    @property
    def allows(self) -> bool:
        """Whether it lets the agent do something. Then everything that Headspace has must have been shown."""
        return self.decision == "allow" or self.action == "accept" or self.answers is not None

    def words_for(self, kind: str) -> str:
        """What the answer does to a wait of a kind, in the words of the buttons; of questions, the chosen labels."""
        if self.answers is not None:
            return one_line(f"answered {'; '.join(map(_labels, self.answers.values()))}")
        if self.action is not None:
            return {"accept": "accepted", "decline": "declined", "cancel": "cancelled"}[self.action]
        if self.grant:
            return f"allowed with {count(len(self.grant), 'grant')}"
        decision = self.decision or "allow"
        words = _DECISIONS.get((kind, decision), _DECISIONS["permission", decision])
        return f"{words} with a changed input" if decision == "allow" and self.input is not None else words


def _labels(answer: str | list[str]) -> str:
    return answer if isinstance(answer, str) else ", ".join(answer)


def wait_of(agent: Agent, event: Event) -> Wait | None:
    """The open wait that a hook is about."""
    fact, thread = event.fact, event.meta.subagent_id
    if isinstance(fact, PermissionAsked) and fact.request_id:
        return next((wait for wait in agent.waits if wait.request_id == fact.request_id), None)
    if isinstance(fact, PermissionAsked):
        same = [wait for wait in agent.waits if (wait.tool, wait.subagent_id) == (fact.tool, thread)]
        exact = [wait for wait in same if wait.digest == fact.digest]
        # A transcript line that arrived before the hook can have another input text: then the only wait is meant.
        return exact[0] if exact else same[0] if len(same) == 1 else None
    if isinstance(fact, ElicitationAsked):
        return next((wait for wait in agent.waits if wait.call_id == fact.id), None)
    return None


def too_late(agent: Agent, event: Event) -> str | None:
    """Why an answer is too late; None if it is not."""
    fact = event.fact
    if not isinstance(fact, WaitAnswered):
        return None
    wait = next((wait for wait in agent.waits if wait.id == fact.wait_id), None)
    if wait is None:
        return "This wait is closed. The answer is not needed any more."
    if wait.answered is not None:
        return "This wait was already answered."
    if wait.held_until <= event.meta.at:
        return f"{wait.obstacle or CANNOT_ANSWER} Answer it in the terminal of the agent."
    return None


# --- validation -------------------------------------------------------------------------------------------------------


def mismatch(wait: Wait, answer: Answer) -> str | None:
    """Why an answer does not fit a wait; None if it fits."""
    if wait.kind == "elicitation":
        return _form_mismatch(wait, answer)
    if wait.kind == "question" and answer.decision != "deny":
        return _answers_mismatch(wait, answer.answers)
    if answer.decision is None:
        return "Answer it with `decision`: allow or deny."
    if answer.input is not None and any(is_altered(text) for text in strings_in(answer.input)):
        return "The input has a part that Headspace redacted or left out. The tool would use the mark in its place."
    if answer.grant and answer.decision != "allow":
        return "`grant` is possible only with the decision allow."
    return None


def _form_mismatch(wait: Wait, answer: Answer) -> str | None:
    if answer.action is None:
        return "Answer an elicitation with `action`: accept, decline or cancel."
    return forms.find_problem(wait.form, answer.content) if answer.action == "accept" else None


def _answers_mismatch(wait: Wait, answers: dict[str, str | list[str]] | None) -> str | None:
    if not answers:
        return "Answer a question with `answers`: the question, and a label, several labels, or free text."
    known = {name for question in wait.questions for name in (question.text, question.header) if name}
    if unknown := [name for name in answers if known and name not in known]:
        return f"There is no question “{unknown[0][:200]}”."
    for question in wait.questions:
        given = answers_to_question(question, answers)
        if not given or not all(part.strip() for part in given):
            return f"The question “{question.text[:200]}” has no answer."
        if len(given) > 1 and not question.several:
            return f"The question “{question.text[:200]}” takes one answer."
        labels = [option.label for option in question.options]
        if (number := find_unknown_number(given, labels)) is not None:
            return f"{not_an_option(number, question.text[:200])} {options_hint(labels)}"
    return None


def answers_to_question(question: Question, answers: dict[str, str | list[str]]) -> list[str]:
    """The answers to one question, by its text or its header."""
    given = answers.get(question.text) or answers.get(question.header) or []
    return [given] if isinstance(given, str) else given


def with_labels(wait: Wait, answer: Answer) -> Answer:
    """An answer in which typed labels are the labels of the options."""
    if answer.answers is None:
        return answer
    labels = {
        name: [option.label for option in question.options]
        for question in wait.questions
        for name in (question.header, question.text)
    }
    named = {name: _named(given, labels.get(name, [])) for name, given in answer.answers.items()}
    return msgspec.structs.replace(answer, answers=named)


def _named(given: str | list[str], labels: list[str]) -> str | list[str]:
    return as_label(given, labels) if isinstance(given, str) else [as_label(each, labels) for each in given]
