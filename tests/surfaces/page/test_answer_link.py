"""The answer page: the answer in a form, for each kind of wait, and the HTML, with escaped texts."""

from typing import Any

import pytest

from claude_headspace.kernel.agent import Answered, Wait
from claude_headspace.kernel.answers import Answer
from claude_headspace.kernel.wait_request import Field, Option, Question
from claude_headspace.surfaces.page.answer_link import Form, answer_of
from claude_headspace.surfaces.page.answer_link_html import closed_wait, wait_form

COLOUR = Question("Which colour?", "Colour", (Option("Red", "warm"), Option("Blue")))
SIZES = Question("Which sizes?", "Sizes", (Option("S"), Option("L")), several=True)
BOARD = Field(name="board", kind="integer", required=True, title="Board", default=7)
TAGS = Field(name="tags", kind="choices", options=(Option("x"), Option("y")))
URGENT = Field(name="urgent", kind="boolean", default=False)
RULES = '[{"type":"setMode"}]'
HOSTILE = "<script>alert(1)</script>\"'"


def wait(kind: str, **known: Any) -> Wait:
    """A wait of a kind."""
    return Wait(**{"id": "w1", "agent_id": "a1", "kind": kind, "text": "Go?", "opened_at": 1, "held_until": 9, **known})


@pytest.mark.parametrize(
    ("about", "said", "answer"),
    [
        (wait("permission"), {"do": ["allow"], "message": ["x"]}, Answer(decision="allow")),
        (wait("permission"), {"do": ["always"]}, Answer(decision="allow", always=True)),
        (wait("permission"), {"do": ["deny"], "message": [" no "]}, Answer(decision="deny", message="no")),
        (wait("plan"), {"do": ["allow"]}, Answer(decision="allow")),
        (wait("plan"), {}, Answer()),
        (
            wait("question", questions=(COLOUR, SIZES)),
            {"do": ["answer"], "option0": ["Red"], "own0": [""], "option1": ["S", "L"]},
            Answer(answers={"Which colour?": ["Red"], "Which sizes?": ["S", "L"]}),
        ),
        (
            wait("question", questions=(COLOUR, SIZES)),
            {"do": ["answer"], "option0": ["Red"], "own0": ["Green"], "option1": ["S"], "own1": ["XS"]},
            Answer(answers={"Which colour?": ["Green"], "Which sizes?": ["S", "XS"]}),
        ),
        (wait("question", questions=(COLOUR,)), {"do": ["deny"]}, Answer(decision="deny")),
        (
            wait("elicitation", form=(BOARD, TAGS, URGENT)),
            {"do": ["accept"], "field-board": ["3"], "field-tags": ["x", "y"], "field-urgent": ["no"]},
            Answer(action="accept", content={"board": 3, "tags": ["x", "y"], "urgent": False}),
        ),
        (wait("elicitation"), {"do": ["cancel"]}, Answer(action="cancel")),
        (wait("elicitation"), {"do": ["decline"]}, Answer(action="decline")),
    ],
)
def test_a_form_becomes_an_answer(about: Wait, said: Form, answer: Answer) -> None:
    """The pressed button with its fields."""
    assert answer_of(about, said) == answer


@pytest.mark.parametrize(
    ("about", "shown"),
    [
        (
            wait("permission", tool="Bash", summary="make test", suggestions=RULES),
            ["make test", "Always allow", "Deny"],
        ),
        (wait("plan", text="# The plan"), ["# The plan", "Approve", "Keep planning"]),
        (wait("question", questions=(COLOUR, SIZES)), ['type="radio"', 'type="checkbox"', "warm", "own1"]),
        (wait("elicitation", form=(BOARD, TAGS, URGENT)), ['type="number"', "field-board", "required", "Accept"]),
    ],
)
def test_each_kind_has_its_buttons(about: Wait, shown: list[str]) -> None:
    """The question, and every way to answer it."""
    page = wait_form("calm-otter", "shop", about)
    assert all(part in page for part in ["calm-otter", "shop", 'method="post"', *shown]), page


def test_texts_are_escaped() -> None:
    """Names, questions, options, fields and problems."""
    options = (Option(HOSTILE, HOSTILE),)
    fields = tuple(
        Field(name=HOSTILE, kind=kind, title=HOSTILE, options=options) for kind in ("text", "choices", "choice")
    )
    pages = [
        wait_form(HOSTILE, HOSTILE, wait("permission", tool=HOSTILE, summary=HOSTILE), HOSTILE),
        wait_form("a", "p", wait("question", questions=(Question(HOSTILE, HOSTILE, options),))),
        wait_form("a", "p", wait("elicitation", text=HOSTILE, form=fields)),
        closed_wait(wait("permission", answered=Answered(HOSTILE, HOSTILE, "link", 1))),
        closed_wait(wait("permission", closed_at=1, resolution=HOSTILE)),
    ]
    for page in pages:
        assert "<script" not in page
        assert "&quot;" in page or "&lt;script&gt;" in page


def test_a_closed_wait_shows_who_answered() -> None:
    """It does not show the question, because a link may stay in a message for years."""
    first = closed_wait(wait("permission", summary="make secret", answered=Answered("allowed", "ann", "link", 1)))
    assert ("Allowed" in first, "ann" in first, "make secret" in first) == (True, True, False)
    assert "the tool ran" in closed_wait(wait("permission", closed_at=1, resolution="the tool ran")).lower()
    assert "terminal" in closed_wait(wait("permission", held_until=0))
