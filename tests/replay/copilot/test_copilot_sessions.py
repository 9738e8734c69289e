"""Recorded turns of the real Copilot CLI give the same board, commands and turns from any source, in any order."""

import random

import pytest

from tests.replay.copilot.recordings import orders, recorded, replay, scenarios, states
from tests.replay.recordings import commands, turns

Turns = list[tuple[str, str, str]]

EXPECTED: dict[str, tuple[str, str | None, Turns]] = {
    "api-error": (
        "working error",
        "failed",
        [("USER", "COMMAND", "err"), ("AGENT", "END_OF_TASK", "400 scripted error")],
    ),
    "denied-by-hook": (
        "working idle",
        "completed",
        [("USER", "COMMAND", "deny"), ("AGENT", "COMPLETION", "Deny-ok.")],
    ),
    "interrupted-in-tool": ("working waiting:permission working idle", "interrupted", [("USER", "COMMAND", "tool")]),
    "interrupted-streaming": ("working idle", "interrupted", [("USER", "COMMAND", "slow")]),
    "killed-in-tool": ("idle working waiting:permission working", None, [("USER", "COMMAND", "kill")]),
    "permission-approved": (
        "working waiting:permission working idle",
        "completed",
        [("USER", "COMMAND", "ask"), ("AGENT", "PROGRESS", "Looking."), ("AGENT", "COMPLETION", "Ran-ok.")],
    ),
    "permission-rejected": ("working waiting:permission idle", "interrupted", [("USER", "COMMAND", "rej")]),
    "question": (
        "working waiting:question working idle",
        "completed",
        [
            ("USER", "COMMAND", "q"),
            ("AGENT", "QUESTION", "Which colour"),
            ("USER", "ANSWER", "red"),
            ("AGENT", "COMPLETION", "Q-ok."),
        ],
    ),
    # The second "working" is a compaction.
    "subagent": (
        "working idle working idle",
        "completed",
        [("USER", "COMMAND", "sub"), ("AGENT", "COMPLETION", "Sub-ok.")],
    ),
    "text-turn": (
        "idle working idle",
        "completed",
        [("USER", "COMMAND", "hi"), ("AGENT", "COMPLETION", "Hello there.")],
    ),
    "tool-failed": ("working idle", "completed", [("USER", "COMMAND", "fail"), ("AGENT", "COMPLETION", "Fail-ok.")]),
}
"""The states in order, the outcome of the command, and its turns."""
OPEN_CALLS = {"killed-in-tool": ["bash"]}
ORDERS = tuple(orders(recorded("text-turn")))


def test_every_recording_is_expected() -> None:
    """No recording is left out."""
    assert sorted(EXPECTED) == scenarios()


@pytest.mark.parametrize("scenario", scenarios())
def test_the_states_as_they_happened(scenario: str) -> None:
    """Every state in order, and no other one."""
    assert states(recorded(scenario)) == EXPECTED[scenario][0]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("scenario", scenarios())
def test_every_order_gives_the_same_result(scenario: str, order: str) -> None:
    """State, command, turns, open calls and waits at the end."""
    expected, outcome, expected_turns = EXPECTED[scenario]
    story = replay(orders(recorded(scenario))[order])
    assert story.board[0] == expected.split()[-1]
    assert [each[2] for each in commands(story)] == [outcome]
    assert turns(story) == expected_turns
    assert [call.tool for call in story.agent.calls] == OPEN_CALLS.get(scenario, [])
    assert not story.agent.waits


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("scenario", scenarios())
def test_a_random_order_gives_the_same_state(scenario: str, seed: int) -> None:
    """Events can be delayed by any time."""
    events = recorded(scenario)
    random.Random(seed).shuffle(events)
    story = replay(events)
    assert story.board[0] == EXPECTED[scenario][0].split()[-1]
    assert not story.agent.waits
