"""The answer page: the answer in a form, for each kind of wait, and the HTML, with escaped texts."""

import re
from typing import Any

import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Answered, Wait
from claude_headspace.kernel.wait.answers import UNCONFIRMED, Answer
from claude_headspace.kernel.wait.grants import GrantOption
from claude_headspace.kernel.wait.request import Field, Option, Question
from claude_headspace.kernel.wait.views import RequestView, WaitDetailsView, wait_details_view
from claude_headspace.surfaces.page.answer_link import Form, answer_of
from claude_headspace.surfaces.page.answer_link_html import closed_wait, wait_form

COLOUR = Question("Which colour?", "Colour", (Option("Red", "warm"), Option("Blue")))
SIZES = Question("Which sizes?", "Sizes", (Option("S"), Option("L")), several=True)
BOARD = Field(name="board", kind="integer", required=True, title="Board", default=7)
TAGS = Field(name="tags", kind="choices", options=(Option("x"), Option("y")))
URGENT = Field(name="urgent", kind="boolean", default=False)
RULE = GrantOption(id="r1", kind="rule", words="Allow Bash(make:*)", destination="this project, for you")
MODE = GrantOption(id="m1", kind="mode", words="Switch this session to acceptEdits", destination="this session")
HOSTILE = "<script>alert(1)</script>\"'\u202e\x1b[31m"


def wait(kind: str, **known: Any) -> Wait:
    """A wait of a kind."""
    return Wait(**{"id": "w1", "agent_id": "a1", "kind": kind, "text": "Go?", "opened_at": 1, "held_until": 9, **known})


def details(about: Wait, *suggestions: GrantOption, **request: Any) -> WaitDetailsView:
    """The wait with its complete request."""
    return wait_details_view(about, RequestView(**{"text": about.text, **request}), suggestions)


@pytest.mark.parametrize(
    ("about", "said", "answer"),
    [
        (wait("permission"), {"do": ["allow"], "message": ["x"]}, Answer(decision="allow")),
        (wait("permission"), {"do": ["allow"], "grant": ["r1"]}, Answer(decision="allow", grant=("r1",))),
        (wait("permission"), {"do": ["always"]}, Answer()),
        (wait("permission"), {"do": ["deny"], "message": [" no "]}, Answer(decision="deny", message="no")),
        (wait("plan"), {"do": ["allow"], "grant": ["r1"]}, Answer(decision="allow")),
        (wait("plan"), {"do": ["else"]}, Answer()),
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
        (wait("permission", tool="Bash", text="make test"), ["make test", "Allow", "Deny"]),
        (wait("plan", text="# The plan"), ["# The plan", "Approve", "Keep planning"]),
        (wait("question", questions=(COLOUR, SIZES)), ['type="radio"', 'type="checkbox"', "warm", "own1"]),
        (wait("elicitation", form=(BOARD, TAGS, URGENT)), ['type="number"', "field-board", "required", "Accept"]),
    ],
)
def test_each_kind_has_its_buttons(about: Wait, shown: list[str]) -> None:
    """The question, and every way to answer it."""
    page = wait_form("calm-otter", "shop", details(about))
    assert all(part in page for part in ["calm-otter", "shop", 'method="post"', *shown]), page


def test_texts_are_escaped() -> None:
    """Names, requests, diffs, arguments, suggestions, questions, options, fields and problems, with visible marks."""
    suggestion = GrantOption(id=HOSTILE, kind="rule", words=HOSTILE, destination=HOSTILE)
    options = (Option(HOSTILE, HOSTILE),)
    fields = tuple(
        Field(name=HOSTILE, kind=kind, title=HOSTILE, options=options) for kind in ("text", "choices", "choice")
    )
    pages = [
        wait_form(HOSTILE, HOSTILE, details(wait("permission", tool=HOSTILE, text=HOSTILE), suggestion), HOSTILE),
        wait_form("a", "p", details(wait("permission"), diff=HOSTILE)),
        wait_form("a", "p", details(wait("permission"), arguments={HOSTILE: HOSTILE, "deep": [{HOSTILE: HOSTILE}]})),
        wait_form("a", "p", details(wait("question", questions=(Question(HOSTILE, HOSTILE, options),)))),
        wait_form("a", "p", details(wait("elicitation", text=HOSTILE, form=fields))),
        closed_wait(wait("permission", answered=Answered(HOSTILE, HOSTILE, "link", 1))),
        closed_wait(wait("permission", closed_at=1, resolution=HOSTILE)),
    ]
    for page in pages:
        assert "<script" not in page
        assert "&quot;" in page or "&lt;script&gt;" in page
        shown = re.sub(r'(value|name)="[^"]*"', "", page)  # what is sent back stays exact
        assert "\u202e" not in shown
        assert "\x1b" not in shown
        assert "⟦U+202E⟧" in shown


def test_a_closed_wait_shows_who_answered() -> None:
    """It does not show the question, because a link may stay in a message for years."""
    first = closed_wait(wait("permission", summary="make secret", answered=Answered("allowed", "ann", "link", 1)))
    assert ("Allowed" in first, "ann" in first, "make secret" in first) == (True, True, False)
    assert "the tool ran" in closed_wait(wait("permission", closed_at=1, resolution="the tool ran")).lower()
    assert "terminal" in closed_wait(wait("permission", held_until=0))


@pytest.mark.parametrize(
    ("problem", "title", "result"),
    [
        ("The dialog is gone.", "Not delivered", "the client did not receive it."),
        (UNCONFIRMED, "Not confirmed", "the client did not confirm it."),
    ],
)
def test_an_answer_that_was_not_delivered_says_why(problem: str, title: str, result: str) -> None:
    """The wait is still open: it is answered in the terminal."""
    lost = Answered("allowed", "ann", "link", 1, problem=problem)
    shown = closed_wait(wait("permission", held_until=0, undelivered=lost))
    assert f"<h1>{title}</h1>" in shown
    assert f"{result} <bdi>{problem}</bdi> Answer in the terminal." in shown


def test_a_closed_wait_names_what_was_granted() -> None:
    """Each permission, not only their number."""
    answered = Answered("allowed with 1 grant", "ann", "link", 1, grants=(RULE,))
    assert "Allowed, and granted: Allow Bash(make:*)" in closed_wait(wait("permission", answered=answered))


@pytest.mark.parametrize(
    ("kind", "allowing", "refusing"),
    [
        ("permission", "allow", "deny"),
        ("plan", "allow", "deny"),
        ("question", "answer", "deny"),
        ("elicitation", "accept", "decline"),
    ],
)
def test_what_is_left_out_cannot_be_allowed(kind: str, allowing: str, refusing: str) -> None:
    """The button works once everything that Headspace has is shown; refusing is always possible."""
    cut = details(wait(kind), complete=False, left_out=9)
    page = wait_form("a", "p", cut)
    assert f'value="{allowing}" disabled' in page
    assert f'value="{refusing}" formnovalidate>' in page
    assert "Show all of it before you allow it." in page
    assert f'value="{allowing}">' in wait_form("a", "p", cut, is_all=True)


def test_each_grant_is_selected_on_its_own() -> None:
    """With its lifetime; nothing is selected at first, and a change of the mode is last, with a warning."""
    page = wait_form("a", "p", details(wait("permission"), MODE, RULE))
    assert page.index("Bash(make:*)") < page.index("acceptEdits") < page.index("without asking you")
    assert "only for you, until you remove it" in page
    assert ("checked" in page, "Always" in page) == (False, False)


@pytest.mark.parametrize("kind", ["permission", "plan", "question", "elicitation"])
def test_enter_is_no_answer(kind: str) -> None:
    """The first buttons of the form are disabled or without an answer, and a form without an answer is refused."""
    page = wait_form("a", "p", details(wait(kind), RULE))
    assert (
        page.index("<button disabled hidden")
        < page.index('value="" formnovalidate hidden')
        < page.index('class="buttons"')
    )
    with pytest.raises(BadRequest):
        answer_of(wait(kind, questions=(COLOUR,)), {"do": [""], "option0": ["Red"]})


def test_a_client_that_takes_no_message_gets_no_field_for_one() -> None:
    """The reason stands in its place."""
    assert 'name="message"' in wait_form("a", "p", details(wait("permission")))
    page = wait_form("a", "p", details(wait("permission")), no_message="It takes no message.")
    assert 'name="message"' not in page
    assert "It takes no message." in page


def test_a_wait_that_cannot_be_answered_says_why() -> None:
    """The reason of the channel; without one, only that it cannot."""
    assert "Not in tmux." in closed_wait(wait("permission", held_until=0, obstacle="Not in tmux."))
    assert "cannot answer this dialog" in closed_wait(wait("permission", held_until=0))
