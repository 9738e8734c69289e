"""The steps to answer a wait: choices and texts. Pure.

    form = answer_form(details)    # of `GET /api/waits/{wait}`, and why the client takes no message with a denial
    step = next(form)              # ChoiceStep("Allow this?", …)
    step = form.send(["deny"])     # TextStep("Reason, or what to do instead (optional)")
    form.send([""])                # StopIteration: its value is the answer for the API

Every reply is a list: the chosen values, or the one text.
"""

from collections.abc import Generator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from claude_headspace.kernel.wait.forms import convert_values, find_problem
from claude_headspace.kernel.wait.options import find_unknown_number, not_an_option, options_hint
from claude_headspace.kernel.wait.request import Field
from claude_headspace.surfaces.text.formatting import Json

Reply = list[str]


class Choice(NamedTuple):
    """A choice: its key, its value in the reply, and its label."""

    key: str
    value: str
    label: str
    description: str = ""
    approves: bool = False
    """Whether it lets the agent act. Then the user must have seen the end of the request."""


class ChoiceStep(NamedTuple):
    """Choose one or several, or write a text if that is allowed."""

    title: str
    choices: tuple[Choice, ...]
    multiple: bool = False
    allows_text: bool = False
    error: str = ""
    approves: bool = False
    """Whether a reply to this step lets the agent act."""


class TextStep(NamedTuple):
    """Write a text, which may be empty."""

    title: str
    default: str = ""
    error: str = ""


Step = ChoiceStep | TextStep
AnswerForm = Generator[Step, Reply, dict[str, Any]]
FormPart = Generator[Step, Reply, Reply]

GRANT_PROMPT = "Allow this, and grant what you mark"
DENIAL_PROMPT = "Reason, or what to do instead (optional)"


def answer_form(wait: Json, no_message: str = "") -> AnswerForm:
    """The form for a kind of wait, which must have its `suggestions` in words.

    `no_message` is why the agent would not get a message with a denial. Then none is asked for.
    """
    return _FORMS[wait["kind"]](wait, no_message)


def answerable_wait(agent: Json) -> Json | None:
    """The first wait of an agent that can be answered through Headspace."""
    answerable = [
        wait for wait in agent["waits"] if wait["held_until"] and not wait["answered"] and wait["kind"] in _FORMS
    ]
    return answerable[0] if answerable else None


def _permission(wait: Json, no_message: str) -> AnswerForm:
    more = [Choice("a", "grant", "Allow, and choose what else to grant")] if wait["suggestions"] else []
    choices = (Choice("y", "allow", "Allow once", approves=True), *more, Choice("d", "deny", "Deny", no_message))
    [decision] = yield ChoiceStep("Allow this?", choices)
    if decision == "deny":
        return (yield from _deny(no_message))
    if decision == "allow":
        return {"decision": "allow"}
    return {"decision": "allow", "grant": (yield from _choose_grants(wait["suggestions"]))}


def _choose_grants(suggestions: Sequence[Json]) -> FormPart:
    """Repeat the step until a suggestion is marked: nothing is granted that was not chosen."""
    choices = tuple(
        Choice(str(number) if number < 10 else "", each["id"], each["words"], f"for {each['destination']}")
        for number, each in enumerate(suggestions, 1)
    )
    reply: Reply = []
    error = ""
    while not reply:
        reply = yield ChoiceStep(GRANT_PROMPT, choices, True, error=error, approves=True)
        error = "Mark what to grant, or press esc."
    return reply


def _plan(_wait: Json, no_message: str) -> AnswerForm:
    choices = (Choice("y", "allow", "Approve", approves=True), Choice("d", "deny", "Keep planning", no_message))
    [decision] = yield ChoiceStep("Approve this plan?", choices)
    return (yield from _deny(no_message)) if decision == "deny" else {"decision": "allow"}


def _deny(no_message: str) -> AnswerForm:
    if no_message:
        return {"decision": "deny"}
    [message] = yield TextStep(DENIAL_PROMPT)
    return {"decision": "deny", "message": message.strip()}


def _question(wait: Json, _no_message: str) -> AnswerForm:
    answers: dict[str, Reply | str] = {}
    for question in wait["questions"]:
        multiple = bool(question.get("several"))
        reply = yield from _ask_question(question, multiple=multiple)
        answers[question["text"]] = reply if multiple else reply[0]
    return {"answers": answers}


def _ask_question(question: Json, *, multiple: bool) -> FormPart:
    """Repeat the step until the reply is not empty. A number that is not an option is refused with the options."""
    title, choices = question["text"], _numbered_choices(question.get("options", ()))
    step: ChoiceStep | TextStep = ChoiceStep(title, choices, multiple, allows_text=True) if choices else TextStep(title)
    labels = [choice.value for choice in choices]
    while True:
        reply = yield step
        number = find_unknown_number([each for each in reply if each.strip()], labels)
        if number is None and any(each.strip() for each in reply):
            return reply
        step = step._replace(error=f"{not_an_option(number, title)} {options_hint(labels)}" if number else "")


def _numbered_choices(options: Any) -> tuple[Choice, ...]:
    pairs = enumerate(options, 1)
    return tuple(
        Choice(str(number) if number < 10 else "", each["label"], each["label"], each.get("description") or "")
        for number, each in pairs
    )


def _elicitation(wait: Json, _no_message: str) -> AnswerForm:
    choices = (Choice("y", "accept", "Accept"), Choice("d", "decline", "Decline"), Choice("c", "cancel", "Cancel"))
    [decision] = yield ChoiceStep("An MCP server asks for input", choices)
    if decision != "accept":
        return {"action": decision}
    content: dict[str, Any] = {}
    for field in msgspec.convert(wait.get("form", ()), tuple[Field, ...]):
        content |= yield from _field(field)
    return {"action": "accept", "content": content}


def _field(field: Field) -> Generator[Step, Reply, Mapping[str, Any]]:
    """Repeat the step of a field until its value is valid."""
    error: str | None = ""
    while error is not None:
        reply = yield _field_step(field, error)
        content = convert_values((field,), {field.name: reply})
        error = find_problem((field,), content)
    return content


def _field_step(field: Field, error: str) -> Step:
    title = " · ".join(part for part in (field.title or field.name, field.description) if part)
    if field.kind == "boolean":
        return ChoiceStep(title, (Choice("y", "yes", "Yes"), Choice("n", "no", "No")), error=error)
    if field.options:
        choices = _numbered_choices([{"label": each.label, "description": each.description} for each in field.options])
        return ChoiceStep(title, choices, field.kind == "choices", error=error)
    return TextStep(title, "" if field.default is None else str(field.default), error)


_FORMS = {"permission": _permission, "plan": _plan, "question": _question, "elicitation": _elicitation}
