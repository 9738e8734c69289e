"""The way to an answer, step by step: what is asked at each step, and what comes of it."""

from typing import Any

import pytest

from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.tui.answer_steps import Pick, Write, held_wait, steps

RED, BLUE = {"label": "Red", "description": "warm"}, {"label": "Blue"}
COLOUR = {"text": "Which colour?", "options": [RED, BLUE]}
SIZES = {"text": "Which sizes?", "options": [{"label": "S"}, {"label": "L"}], "several": True}
FORM = [
    {"name": "board", "kind": "integer", "required": True, "most": 9},
    {"name": "urgent", "kind": "boolean"},
    {"name": "size", "kind": "choice", "options": [{"label": "S"}, {"label": "L"}]},
]


def wait(kind: str, **known: Any) -> Json:
    """A wait as the API shows it."""
    empty: Json = {"questions": [], "form": [], "suggestions": [], "answered": None, "held_until": "2026-01-01"}
    return {"id": "w", "kind": kind, "text": "?", "summary": "", **empty, **known}


def walked(about: Json, *replies: list[str]) -> tuple[list[Pick | Write], Any]:
    """The steps on the way, and the answer in the end."""
    walk = steps(about)
    seen = [next(walk)]
    try:
        for reply in replies:
            seen.append(walk.send(reply))  # noqa: PERF401  # `extend` would swallow the end of the walk
    except StopIteration as end:
        return seen, end.value
    return seen, None


@pytest.mark.parametrize(
    ("about", "replies", "answer"),
    [
        (wait("permission"), [["allow"]], {"decision": "allow", "always": False}),
        (wait("permission", suggestions=[{}]), [["always"]], {"decision": "allow", "always": True}),
        (wait("permission"), [["deny"], [" not that "]], {"decision": "deny", "message": "not that"}),
        (wait("plan"), [["allow"]], {"decision": "allow"}),
        (wait("plan"), [["deny"], ["shorter"]], {"decision": "deny", "message": "shorter"}),
        (
            wait("question", questions=[COLOUR, SIZES]),
            [["Blue"], ["S", "L"]],
            {"answers": {"Which colour?": "Blue", "Which sizes?": ["S", "L"]}},
        ),
        (wait("question", questions=[COLOUR]), [["a green"]], {"answers": {"Which colour?": "a green"}}),
        (wait("elicitation", form=FORM), [["decline"]], {"action": "decline"}),
        (
            wait("elicitation", form=FORM),
            [["accept"], ["7"], ["no"], ["L"]],
            {"action": "accept", "content": {"board": 7, "urgent": False, "size": "L"}},
        ),
    ],
)
def test_the_answer_is_what_the_api_takes(about: Json, replies: list[list[str]], answer: Json) -> None:
    """Each kind of wait, from the first step to the last."""
    assert walked(about, *replies)[1] == answer


def test_always_is_offered_where_the_client_suggests_rules() -> None:
    """Without a suggestion there is nothing to allow for always."""
    [plain], _ = walked(wait("permission"))
    [suggested], _ = walked(wait("permission", suggestions=[{}]))
    assert isinstance(plain, Pick)
    assert isinstance(suggested, Pick)
    assert [choice.key for choice in plain.choices] == ["y", "d"]
    assert [choice.key for choice in suggested.choices] == ["y", "a", "d"]


def test_an_empty_answer_to_a_question_is_asked_for_again() -> None:
    """A question is not left open by accident."""
    seen, answer = walked(wait("question", questions=[COLOUR]), [""], ["Red"])
    assert [step.title for step in seen] == ["Which colour?", "Which colour?"]
    assert answer == {"answers": {"Which colour?": "Red"}}


def test_a_field_is_asked_for_again_while_it_is_wrong() -> None:
    """The trouble is named, the other fields are kept."""
    seen, answer = walked(wait("elicitation", form=FORM), ["accept"], ["many"], ["10"], ["9"], ["yes"], ["S"])
    troubles = [step.trouble for step in seen[1:4]]
    assert [("whole number" in each, "at most 9" in each) for each in troubles] == [
        (False, False),
        (True, False),
        (False, True),
    ]
    assert answer == {"action": "accept", "content": {"board": 9, "urgent": True, "size": "S"}}


def test_the_newest_wait_that_can_be_answered_is_meant() -> None:
    """Not one that only the terminal takes, nor one that somebody answered."""
    first, second = wait("permission", id="1"), wait("plan", id="2")
    others = [wait("plan", held_until=None), wait("plan", answered={"by": "ann"}), wait("dialog")]
    assert held_wait({"waits": [first, second, *others]}) == second
    assert held_wait({"waits": others}) is None
