"""Views of waits."""

import msgspec
import pytest

from claude_headspace.kernel.agent import Answered, Wait
from claude_headspace.kernel.wait.answers import UNCONFIRMED
from claude_headspace.kernel.wait.grants import GrantOption
from claude_headspace.kernel.wait.views import RequestView, wait_details_view, wait_view
from tests.kernel.story import START, Story, question


def as_json(shown: object) -> dict[str, object]:
    """What the API sends."""
    sent: dict[str, object] = msgspec.json.decode(msgspec.json.encode(shown))
    return sent


def test_a_wait_shows_its_options() -> None:
    """A question with its options, a permission with the client's suggestions."""
    story = Story()
    story.hook("PreToolUse", **question("q1"))
    story.asks_permission("rm x", permission_suggestions=[{"type": "setMode", "mode": "acceptEdits"}])
    asked, permission = (as_json(wait_view(wait)) for wait in story.agent.waits)
    assert asked["questions"] == [
        {
            "text": "Which colour?",
            "header": "Colour",
            "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
        }
    ]
    assert permission["suggestions"] == [{"type": "setMode", "mode": "acceptEdits"}]
    assert (permission["text"], permission["closed_at"]) == ("Bash: rm x", None)


@pytest.mark.parametrize("stored", ["nonsense", "{}", "[1]", "[" * 5000 + "]" * 5000])
def test_malformed_suggestions_are_left_out(stored: str) -> None:
    """A wait can be shown even if its stored suggestions cannot be decoded."""
    wait = Wait(id="w", agent_id="a", kind="permission", text="", opened_at=START, suggestions=stored)
    assert wait_view(wait).suggestions == []


def test_options_say_how_long_they_last() -> None:
    """Each option shows its lifetime. A change of the mode is last and has a warning."""
    mode = GrantOption(id="m", kind="mode", words="Switch", destination="this session")
    rule = GrantOption(id="r", kind="rule", words="Allow", destination="somewhere else")
    wait = Wait(id="w", agent_id="a", kind="permission", text="", opened_at=START)
    shown = wait_details_view(wait, RequestView(text="make"), (mode, rule)).suggestions
    assert [(each.id, each.lifetime, bool(each.warning)) for each in shown] == [
        ("r", "somewhere else", False),
        ("m", "until this session ends", True),
    ]


@pytest.mark.parametrize(("problem", "unconfirmed"), [("The pane is gone.", False), (f"{UNCONFIRMED} Look.", True)])
def test_an_answer_that_the_client_may_still_take_is_unconfirmed(problem: str, unconfirmed: bool) -> None:
    """Every other answer with a problem is lost."""
    lost = Answered("allowed", "ann", "cli", START, problem=problem)
    shown = wait_view(Wait(id="w", agent_id="a", kind="permission", text="", opened_at=START, undelivered=lost))
    assert shown.undelivered is not None
    assert shown.undelivered.unconfirmed is unconfirmed
