"""The steps of each answer form, and the resulting answer."""

from typing import Any

import pytest

from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.tui.answer_steps import ChoiceStep, TextStep, answer_form, answerable_wait

RED, BLUE = {"label": "Red", "description": "warm"}, {"label": "Blue"}
COLOUR = {"text": "Which colour?", "options": [RED, BLUE]}
SIZES = {"text": "Which sizes?", "options": [{"label": "S"}, {"label": "L"}], "several": True}
FORM = [
    {"name": "board", "kind": "integer", "required": True, "most": 9},
    {"name": "urgent", "kind": "boolean"},
    {"name": "size", "kind": "choice", "options": [{"label": "S"}, {"label": "L"}]},
]

SUGGESTIONS = [
    {"id": "s1", "kind": "rule", "words": "Allow Bash(make:*)", "destination": "this project, for you"},
    {"id": "s2", "kind": "mode", "words": "Switch this session to acceptEdits", "destination": "this session"},
]


def make_wait(kind: str, **known: Any) -> Json:
    """A wait as the API returns it."""
    empty: Json = {"questions": [], "form": [], "suggestions": [], "answered": None, "held_until": "2026-01-01"}
    return {"id": "w", "kind": kind, "text": "?", "summary": "", **empty, **known}


def fill_in(wait: Json, *replies: list[str]) -> tuple[list[ChoiceStep | TextStep], Any]:
    """The steps of the form, and the answer."""
    form = answer_form(wait)
    steps = [next(form)]
    try:
        for reply in replies:
            steps.append(form.send(reply))  # noqa: PERF401  # `extend` would swallow StopIteration
    except StopIteration as end:
        return steps, end.value
    return steps, None


@pytest.mark.parametrize(
    ("wait", "replies", "answer"),
    [
        (make_wait("permission"), [["allow"]], {"decision": "allow"}),
        (make_wait("permission", suggestions=SUGGESTIONS), [["allow"]], {"decision": "allow"}),
        (
            make_wait("permission", suggestions=SUGGESTIONS),
            [["grant"], [], ["s2"]],
            {"decision": "allow", "grant": ["s2"]},
        ),
        (make_wait("permission"), [["deny"], [" not that "]], {"decision": "deny", "message": "not that"}),
        (make_wait("plan"), [["allow"]], {"decision": "allow"}),
        (make_wait("plan"), [["deny"], ["shorter"]], {"decision": "deny", "message": "shorter"}),
        (
            make_wait("question", questions=[COLOUR, SIZES]),
            [["Blue"], ["S", "L"]],
            {"answers": {"Which colour?": "Blue", "Which sizes?": ["S", "L"]}},
        ),
        (make_wait("question", questions=[COLOUR]), [["a green"]], {"answers": {"Which colour?": "a green"}}),
        (make_wait("elicitation", form=FORM), [["decline"]], {"action": "decline"}),
        (
            make_wait("elicitation", form=FORM),
            [["accept"], ["7"], ["no"], ["L"]],
            {"action": "accept", "content": {"board": 7, "urgent": False, "size": "L"}},
        ),
    ],
)
def test_each_form_returns_an_answer_for_the_api(wait: Json, replies: list[list[str]], answer: Json) -> None:
    """Each kind of wait."""
    assert fill_in(wait, *replies)[1] == answer


def test_a_grant_is_offered_only_if_something_is_suggested() -> None:
    """Each suggestion is a choice with its destination, and none is marked for the user."""
    [plain], _ = fill_in(make_wait("permission"))
    [first, grants], _ = fill_in(make_wait("permission", suggestions=SUGGESTIONS), ["grant"])
    assert isinstance(plain, ChoiceStep)
    assert isinstance(first, ChoiceStep)
    assert isinstance(grants, ChoiceStep)
    assert [choice.key for choice in plain.choices] == ["y", "d"]
    assert [choice.key for choice in first.choices] == ["y", "a", "d"]
    assert [(choice.value, choice.label, choice.description) for choice in grants.choices] == [
        ("s1", "Allow Bash(make:*)", "for this project, for you"),
        ("s2", "Switch this session to acceptEdits", "for this session"),
    ]
    assert grants.multiple


def test_a_question_is_repeated_after_an_empty_answer() -> None:
    """A question needs an answer."""
    steps, answer = fill_in(make_wait("question", questions=[COLOUR]), [""], ["Red"])
    assert [step.title for step in steps] == ["Which colour?", "Which colour?"]
    assert answer == {"answers": {"Which colour?": "Red"}}


def test_a_number_that_is_not_an_option_is_refused_with_the_options() -> None:
    """Also in a text of one's own. In quotes it is a text."""
    steps, answer = fill_in(make_wait("question", questions=[COLOUR]), ["12"], ["#3"], ['"12"'])
    assert "12 is not an option of “Which colour?”. The options are: 1. " in steps[1].error
    assert "#3 is not an option" in steps[2].error
    assert answer == {"answers": {"Which colour?": '"12"'}}


def test_a_field_is_repeated_until_it_is_valid() -> None:
    """The error is shown, and the other fields are kept."""
    steps, answer = fill_in(make_wait("elicitation", form=FORM), ["accept"], ["many"], ["10"], ["9"], ["yes"], ["S"])
    errors = [step.error for step in steps[1:4]]
    assert [("whole number" in each, "at most 9" in each) for each in errors] == [
        (False, False),
        (True, False),
        (False, True),
    ]
    assert answer == {"action": "accept", "content": {"board": 9, "urgent": True, "size": "S"}}


def test_the_first_answerable_wait_is_chosen() -> None:
    """Waits that need the terminal or are already answered are skipped."""
    first, second = make_wait("permission", id="1"), make_wait("plan", id="2")
    others = [make_wait("plan", held_until=None), make_wait("plan", answered={"by": "ann"}), make_wait("dialog")]
    assert answerable_wait({"waits": [*others, first, second]}) == first
    assert answerable_wait({"waits": others}) is None


def test_no_message_is_asked_for_if_the_client_takes_none() -> None:
    """The reason stands at the choice that denies."""
    form = answer_form(make_wait("permission"), "It takes no message.")
    step = next(form)
    assert isinstance(step, ChoiceStep)
    assert step.choices[-1].description == "It takes no message."
    with pytest.raises(StopIteration) as end:
        form.send(["deny"])
    assert end.value.value == {"decision": "deny"}
