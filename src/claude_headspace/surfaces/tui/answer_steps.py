"""How a person answers a wait, step by step: choose, or write. Pure.

    walk = steps(wait)
    step = next(walk)              # Pick("It wants to run: make test", …)
    step = walk.send(["deny"])     # Write("Why not, or what instead?")
    walk.send([""])                # StopIteration: its value is the answer, as the API takes it

Every reply is a list: what was chosen, or the one text that was written.
"""

from collections.abc import Generator, Mapping
from typing import Any, NamedTuple

import msgspec

from claude_headspace.kernel.forms import convert_values, find_problem
from claude_headspace.kernel.wait_request import Field
from claude_headspace.surfaces.text.formatting import Json

Reply = list[str]


class Choice(NamedTuple):
    """One thing to choose: the key, what is replied, the words for it."""

    key: str
    value: str
    label: str
    about: str = ""


class Pick(NamedTuple):
    """Choose one, or several; words of one's own may be allowed."""

    title: str
    choices: tuple[Choice, ...]
    several: bool = False
    own_words: bool = False
    trouble: str = ""


class Write(NamedTuple):
    """Write a text, which may be empty."""

    title: str
    usual: str = ""
    trouble: str = ""


Step = Pick | Write
Walk = Generator[Step, Reply, dict[str, Any]]
Part = Generator[Step, Reply, Reply]

NO = "Why not, or what instead? It may be left empty."


def steps(wait: Json) -> Walk:
    """The way to an answer, by what is waited for."""
    return _WALKS[wait["kind"]](wait)


def held_wait(agent: Json) -> Json | None:
    """The newest of an agent's waits that can be answered through Headspace."""
    held = [wait for wait in agent["waits"] if wait["held_until"] and not wait["answered"] and wait["kind"] in _WALKS]
    return held[-1] if held else None


def _permission(wait: Json) -> Walk:
    always = [Choice("a", "always", "Always allow", "take up the rules that Claude Code suggests")]
    choices = (Choice("y", "allow", "Allow"), *(always if wait["suggestions"] else []), Choice("d", "deny", "Deny"))
    [said] = yield Pick("May it?", choices)
    return (yield from _no()) if said == "deny" else {"decision": "allow", "always": said == "always"}


def _plan(_wait: Json) -> Walk:
    [said] = yield Pick("Is the plan good?", (Choice("y", "allow", "Approve"), Choice("d", "deny", "Keep planning")))
    return (yield from _no()) if said == "deny" else {"decision": "allow"}


def _no() -> Walk:
    [message] = yield Write(NO)
    return {"decision": "deny", "message": message.strip()}


def _question(wait: Json) -> Walk:
    answers: dict[str, Reply | str] = {}
    for question in wait["questions"]:
        several = bool(question.get("several"))
        given = yield from _asked(question["text"], question.get("options", ()), several=several, own_words=True)
        answers[question["text"]] = given if several else given[0]
    return {"answers": answers}


def _asked(title: str, options: Any, *, several: bool, own_words: bool) -> Part:
    """What was chosen; again, while nothing was."""
    choices = _numbered(options)
    step: Step = Pick(title, choices, several, own_words) if choices else Write(title)
    given: Reply = []
    while not any(each.strip() for each in given):
        given = yield step
    return given


def _numbered(options: Any) -> tuple[Choice, ...]:
    pairs = enumerate(options, 1)
    return tuple(
        Choice(str(number) if number < 10 else "", each["label"], each["label"], each.get("description") or "")
        for number, each in pairs
    )


def _elicitation(wait: Json) -> Walk:
    choices = (Choice("y", "accept", "Accept"), Choice("d", "decline", "Decline"), Choice("c", "cancel", "Cancel"))
    [said] = yield Pick("An MCP server asks", choices)
    if said != "accept":
        return {"action": said}
    content: dict[str, Any] = {}
    for field in msgspec.convert(wait.get("form", ()), tuple[Field, ...]):
        content |= yield from _field(field)
    return {"action": "accept", "content": content}


def _field(field: Field) -> Generator[Step, Reply, Mapping[str, Any]]:
    """A field, again while it is wrong."""
    trouble: str | None = ""
    while trouble is not None:
        given = yield _step(field, trouble)
        content = convert_values((field,), {field.name: given})
        trouble = find_problem((field,), content)
    return content


def _step(field: Field, trouble: str) -> Step:
    title = " · ".join(part for part in (field.title or field.name, field.description) if part)
    if field.kind == "boolean":
        return Pick(title, (Choice("y", "yes", "Yes"), Choice("n", "no", "No")), trouble=trouble)
    if field.options:
        choices = _numbered([{"label": each.label, "description": each.description} for each in field.options])
        return Pick(title, choices, field.kind == "choices", trouble=trouble)
    return Write(title, "" if field.default is None else str(field.default), trouble)


_WALKS = {"permission": _permission, "plan": _plan, "question": _question, "elicitation": _elicitation}
