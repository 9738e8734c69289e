"""Typed answers to questions with options."""

import pytest

from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.wait.answers import Answer, with_labels
from claude_headspace.kernel.wait.options import as_label
from claude_headspace.kernel.wait.request import Option, Question


@pytest.mark.parametrize(
    ("text", "label"),
    [("No", "No"), (" no ", "No"), ("NOT  YET", "Not yet"), ("none", "none"), ("a", "a"), ("A", "A")],
)
def test_a_typed_label_is_the_option(text: str, label: str) -> None:
    """Capital letters and blanks do not matter, unless several options differ only in them."""
    assert as_label(text, ["Yes", "No", "Not yet", "a", "A"]) == label


def test_answers_get_the_labels_of_their_questions() -> None:
    """By text or header, one or several; other texts stay."""
    both = (Question("Sure?", "Sure", (Option("Yes"), Option("No"))), Question("Which?", "All", (Option("Red"),), True))
    wait = Wait(id="w", agent_id="a", kind="question", opened_at=1, text="", questions=both)
    given = Answer(answers={"Sure": "no", "Which?": ["red", "blue"]})
    assert with_labels(wait, given) == Answer(answers={"Sure": "No", "Which?": ["Red", "blue"]})
    assert with_labels(wait, Answer(decision="deny")) == Answer(decision="deny")
