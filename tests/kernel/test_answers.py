"""What people answer: does it fit, and how is the client told."""

from typing import Any

import msgspec
import pytest

from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.answers import Answer, asked_by, for_client, misfit
from claude_headspace.kernel.creation import born
from claude_headspace.kernel.decode import decode
from claude_headspace.kernel.facts import PermissionAsked
from claude_headspace.kernel.wait_request import Option, Question
from claude_headspace.testing import hook

COLOUR = Question("Which colour?", "Colour", (Option("Red"), Option("Blue")))
SIZES = Question("Which sizes?", "Sizes", (Option("S"), Option("L")), several=True)
RULES = '[{"type":"setMode","mode":"acceptEdits","destination":"session"}]'
INPUT = {"questions": [{"question": "Which colour?"}, {"question": "Which sizes?"}]}


def wait(kind: str, **known: Any) -> Wait:
    """A wait of a kind."""
    return Wait(id="w1", agent_id="a1", kind=kind, text="?", opened_at=1, **known)


def told(answer: Answer, about: Wait, tool_input: object = None, event: str = "PermissionRequest") -> dict[str, Any]:
    """What a held hook prints."""
    payload = msgspec.json.encode({"session_id": "s1", "tool_name": "Bash", "tool_input": tool_input})
    output: dict[str, Any] = for_client(event, payload, about, answer)["hookSpecificOutput"]
    assert output.pop("hookEventName") == event
    return output


FITTING = [
    (wait("permission"), Answer(decision="allow")),
    (wait("permission"), Answer(decision="deny", message="not now")),
    (wait("permission", suggestions=RULES), Answer(decision="allow", always=True)),
    (wait("plan"), Answer(decision="allow")),
    (wait("question", questions=(COLOUR,)), Answer(answers={"Which colour?": "Red"})),
    (wait("question", questions=(COLOUR,)), Answer(answers={"Colour": "a green of my own"})),
    (wait("question", questions=(COLOUR, SIZES)), Answer(answers={"Colour": "Red", "Sizes": ["S", "L"]})),
    (wait("question", questions=(COLOUR,)), Answer(decision="deny", message="decide yourself")),
    (wait("elicitation"), Answer(action="accept", content={"board": 1})),
]

UNFIT = [
    (wait("permission"), Answer(), "decision"),
    (wait("permission"), Answer(answers={"x": "y"}), "decision"),
    (wait("permission"), Answer(decision="allow", always=True), "suggests no rule"),
    (wait("plan"), Answer(action="accept"), "decision"),
    (wait("question", questions=(COLOUR,)), Answer(decision="allow"), "answers"),
    (wait("question", questions=(COLOUR,)), Answer(answers={"Which shape?": "round"}), "no question “Which shape?”"),
    (wait("question", questions=(COLOUR, SIZES)), Answer(answers={"Colour": "Red"}), "“Which sizes?” has no answer"),
    (wait("question", questions=(COLOUR,)), Answer(answers={"Colour": " "}), "has no answer"),
    (wait("question", questions=(COLOUR,)), Answer(answers={"Colour": ["Red", "Blue"]}), "takes one answer"),
    (wait("elicitation"), Answer(decision="allow"), "action"),
]


@pytest.mark.parametrize(("about", "answer"), FITTING)
def test_what_fits(about: Wait, answer: Answer) -> None:
    """Each kind of wait takes its kind of answer."""
    assert misfit(about, answer) is None


@pytest.mark.parametrize(("about", "answer", "reason"), UNFIT)
def test_what_does_not_fit_is_told_why(about: Wait, answer: Answer, reason: str) -> None:
    """The reason names what is missing or wrong."""
    assert reason in (misfit(about, answer) or "")


def test_a_permission_is_given_refused_and_made_a_rule() -> None:
    """Allow, deny with a message, allow with another input, allow for always: in the client's own words."""
    about = wait("permission", suggestions=RULES)
    assert told(Answer(decision="allow"), about) == {"decision": {"behavior": "allow"}}
    assert told(Answer(decision="deny", message="not that"), about) == {
        "decision": {"behavior": "deny", "message": "not that"}
    }
    assert told(Answer(decision="allow", input={"command": "ls"}), about) == {
        "decision": {"behavior": "allow", "updatedInput": {"command": "ls"}}
    }
    assert told(Answer(decision="allow", always=True), about) == {
        "decision": {"behavior": "allow", "updatedPermissions": msgspec.json.decode(RULES)}
    }


def test_answers_are_added_to_the_questions_input() -> None:
    """By the questions' own words, several labels with commas, as the client notes them itself."""
    about = wait("question", questions=(COLOUR, SIZES))
    output = told(Answer(answers={"Colour": "Red", "Which sizes?": ["S", "L"]}), about, INPUT)
    answers = {"Which colour?": "Red", "Which sizes?": "S, L"}
    assert output == {"decision": {"behavior": "allow", "updatedInput": {**INPUT, "answers": answers}}}


def test_a_form_is_filled_in_or_declined() -> None:
    """An elicitation has an action, and content if it is accepted."""
    about = wait("elicitation")
    assert told(Answer(action="accept", content={"a": 1}), about, event="Elicitation") == {
        "action": "accept",
        "content": {"a": 1},
    }
    assert told(Answer(action="cancel"), about, event="Elicitation") == {"action": "cancel"}


@pytest.mark.parametrize("tool_input", [None, 3, "text", []])
def test_an_odd_input_does_no_harm(tool_input: object) -> None:
    """Whatever the payload held, the answer arrives."""
    about = wait("question", questions=(COLOUR,))
    output = told(Answer(answers={"Colour": "Red"}), about, tool_input)
    assert output["decision"]["updatedInput"] == {"answers": {"Which colour?": "Red"}}


def test_an_approved_plan_gets_its_input_back_without_its_text() -> None:
    """Newer clients close a plan's dialog only with an input; what the journal keeps of a long plan may be cut."""
    given = {"plan": "# Long", "planFilePath": "/plans/a.md"}
    assert told(Answer(decision="allow"), wait("plan"), given) == {
        "decision": {"behavior": "allow", "updatedInput": {"planFilePath": "/plans/a.md"}}
    }
    assert told(Answer(decision="deny", message="shorter"), wait("plan"), given) == {
        "decision": {"behavior": "deny", "message": "shorter"}
    }


def test_a_dialog_is_about_the_wait_of_its_call() -> None:
    """By what is asked; where a transcript was faster and spells that otherwise, the only wait of the tool is meant."""
    asked = decode(hook("PermissionRequest", tool_name="Bash", tool_input={"command": "make"}))
    assert isinstance(asked.fact, PermissionAsked)
    ours = wait("permission", tool="Bash", digest=asked.fact.digest)
    other = msgspec.structs.replace(ours, id="w2", digest="another")
    agent = born("a1", hook("SessionStart"), decode(hook("SessionStart")))
    for waits, found in (((other, ours), ours), ((other,), other), ((other, other), None), ((), None)):
        assert asked_by(msgspec.structs.replace(agent, waits=waits), asked) == found
    elsewhere = msgspec.structs.replace(other, tool="Write")
    assert asked_by(msgspec.structs.replace(agent, waits=(elsewhere,)), asked) is None
