"""Whether an answer fits its wait, and which wait a hook is about."""

from typing import Any

import msgspec
import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.correlate import create_agent
from claude_headspace.kernel.facts import PermissionAsked
from claude_headspace.kernel.wait.answers import Answer, mismatch, wait_of
from claude_headspace.kernel.wait.request import Option, Question
from claude_headspace.testing import hook

COLOUR = Question("Which colour?", "Colour", (Option("Red"), Option("Blue")))
SIZES = Question("Which sizes?", "Sizes", (Option("S"), Option("L")), several=True)
RULES = '[{"type":"setMode","mode":"acceptEdits","destination":"session"}]'


def wait(kind: str, **known: Any) -> Wait:
    """A wait of a kind."""
    return Wait(id="w1", agent_id="a1", kind=kind, text="?", opened_at=1, **known)


FITTING = [
    (wait("permission"), Answer(decision="allow")),
    (wait("permission"), Answer(decision="deny", message="not now")),
    (wait("permission", suggestions=RULES), Answer(decision="allow", grant=("mode-1",))),
    (wait("plan"), Answer(decision="allow")),
    (wait("question", questions=(COLOUR,)), Answer(answers={"Which colour?": "Red"})),
    (wait("question", questions=(COLOUR,)), Answer(answers={"Colour": "a green of my own"})),
    (wait("question", questions=(COLOUR,)), Answer(answers={"Colour": '"3"'})),
    (wait("question", questions=(Question("How many?", "", ()),)), Answer(answers={"How many?": "3"})),
    (wait("question", questions=(Question("How many?", "", (Option("3"),)),)), Answer(answers={"How many?": "3"})),
    (wait("question", questions=(COLOUR, SIZES)), Answer(answers={"Colour": "Red", "Sizes": ["S", "L"]})),
    (wait("question", questions=(COLOUR,)), Answer(decision="deny", message="decide yourself")),
    (wait("elicitation"), Answer(action="accept", content={"board": 1})),
]

UNFIT = [
    (wait("permission"), Answer(), "decision"),
    (wait("permission"), Answer(answers={"x": "y"}), "decision"),
    (wait("permission", suggestions=RULES), Answer(decision="deny", grant=("mode-1",)), "only with the decision allow"),
    (wait("permission"), Answer(decision="allow", input={"command": "curl -H [redacted] x"}), "redacted or left out"),
    (
        wait("permission"),
        Answer(decision="allow", input={"a": ["… [9 characters left out] …"]}),
        "redacted or left out",
    ),
    (wait("plan"), Answer(action="accept"), "decision"),
    (wait("question", questions=(COLOUR,)), Answer(decision="allow"), "answers"),
    (wait("question", questions=(COLOUR,)), Answer(answers={"Which shape?": "round"}), "no question “Which shape?”"),
    (wait("question", questions=(COLOUR, SIZES)), Answer(answers={"Colour": "Red"}), "“Which sizes?” has no answer"),
    (wait("question", questions=(COLOUR,)), Answer(answers={"Colour": " "}), "has no answer"),
    (wait("question", questions=(COLOUR,)), Answer(answers={"Colour": "3"}), "3 is not an option of “Which colour?”"),
    (wait("question", questions=(COLOUR,)), Answer(answers={"Colour": "-1"}), "The options are: 1. Red, "),
    (wait("question", questions=(COLOUR,)), Answer(answers={"Colour": "#3"}), "In quotes, a number is sent as a text."),
    (wait("question", questions=(SIZES,)), Answer(answers={"Sizes": ["S", "12"]}), "12 is not an option"),
    (wait("question", questions=(COLOUR,)), Answer(answers={"Colour": ["Red", "Blue"]}), "takes one answer"),
    (wait("elicitation"), Answer(decision="allow"), "action"),
]


@pytest.mark.parametrize(("about", "answer"), FITTING)
def test_fitting_answers_are_accepted(about: Wait, answer: Answer) -> None:
    """Each kind of wait accepts its kind of answer."""
    assert mismatch(about, answer) is None


@pytest.mark.parametrize(("about", "answer", "reason"), UNFIT)
def test_other_answers_are_refused_with_a_reason(about: Wait, answer: Answer, reason: str) -> None:
    """The reason names what is missing or wrong."""
    assert reason in (mismatch(about, answer) or "")


def test_a_dialog_is_about_the_wait_of_its_call() -> None:
    """By its input. If a transcript was faster and its input differs, the only wait of the tool is meant."""
    asked = decode(hook("PermissionRequest", tool_name="Bash", tool_input={"command": "make"}))
    assert isinstance(asked.fact, PermissionAsked)
    ours = wait("permission", tool="Bash", digest=asked.fact.digest)
    other = msgspec.structs.replace(ours, id="w2", digest="another")
    agent = create_agent("a1", hook("SessionStart"), decode(hook("SessionStart")))
    for waits, found in (((other, ours), ours), ((other,), other), ((other, other), None), ((), None)):
        assert wait_of(msgspec.structs.replace(agent, waits=waits), asked) == found
    elsewhere = msgspec.structs.replace(other, tool="Write")
    assert wait_of(msgspec.structs.replace(agent, waits=(elsewhere,)), asked) is None


def test_the_words_of_an_answer_have_the_chosen_labels() -> None:
    """In one line, in the order of the questions."""
    assert Answer(answers={"Colour": "Red", "Sizes": ["S", "L"]}).words_for("question") == "answered Red; S, L"


@pytest.mark.parametrize(
    ("kind", "answer", "words"),
    [
        ("permission", Answer(decision="allow"), "allowed"),
        ("permission", Answer(decision="deny"), "denied"),
        ("permission", Answer(decision="allow", grant=("r1",)), "allowed with 1 grant"),
        ("plan", Answer(decision="allow"), "approved"),
        ("plan", Answer(decision="deny"), "told to keep planning"),
        ("question", Answer(decision="deny"), "declined to answer"),
        ("elicitation", Answer(action="decline"), "declined"),
    ],
)
def test_an_answer_is_described_in_the_words_of_its_buttons(kind: str, answer: Answer, words: str) -> None:
    """A plan is approved, not allowed."""
    assert answer.words_for(kind) == words


@pytest.mark.parametrize(
    ("answer", "allows"),
    [
        (Answer(decision="allow"), True),
        (Answer(action="accept", content={}), True),
        (Answer(answers={"Colour": "Red"}), True),
        (Answer(decision="deny"), False),
        (Answer(action="decline"), False),
    ],
)
def test_an_answer_that_lets_the_agent_act_allows(answer: Answer, allows: bool) -> None:
    """Such an answer needs the complete request."""
    assert answer.allows is allows
