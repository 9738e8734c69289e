"""A recorded session of the real Gemini CLI gives the right states, in whatever order its events arrive."""

import random

import pytest

from claude_headspace.clients.gemini.chat import Chat
from claude_headspace.clients.transcript_line import parse_time
from claude_headspace.kernel.agent import Confidence
from claude_headspace.kernel.envelope import SECOND, Origin
from claude_headspace.kernel.facts import TurnEndAssumed
from tests.kernel.story import START
from tests.replay.gemini_recordings import Recorded, by_arrival, commands, hooks, lines, replay, states

COMMANDS = [
    "hi: completed",
    "ls: completed",
    "ask2: interrupted",
    "stream: interrupted",
    "slow: interrupted",
    "esc in tool: interrupted",
    "fail: completed",
    "err: failed",
]
TURN = ["working", "idle"]
ASKED = ["working", "waiting:permission"]
STATES = [
    "idle",
    *TURN,  # hi
    *ASKED,  # ls
    *TURN,
    *ASKED,  # ask2, Esc at the dialog
    "idle",
    *TURN,  # stream, Esc
    *TURN,  # slow, Esc before the first token
    *ASKED,  # esc in tool: nothing reports the approval
    "idle",
    *TURN,  # fail: a tool fails
    "working",
    "error",  # err
    "working",  # /compress
    "error",
    "idle",  # /clear
    "ended",
]


def session() -> tuple[list[Recorded], list[Recorded]]:
    """The hooks and the lines of the recorded session."""
    return hooks("session"), lines("session.chat.jsonl", Chat())


def test_all_states_as_they_happened() -> None:
    """Every state appears once, in its order: an end of a turn is never shown before it is known how it ended."""
    reported, written = session()
    assert states(by_arrival([*reported, *written])) == STATES


def orders() -> dict[str, list[Recorded]]:
    """The orders in which the events may reach the daemon."""
    reported, written = session()
    both = by_arrival([*reported, *written])
    found = {
        "arrival": both,
        "lines late": by_arrival([*reported, *(each._replace(arrived=each.arrived + 2_000_000) for each in written)]),
        "hooks late": by_arrival([*(each._replace(arrived=each.arrived + 2_000_000) for each in reported), *written]),
        "lines twice": by_arrival([*both, *written]),
    }
    for seed in range(8):
        shaken = random.Random(seed)
        found[f"shaken {seed}"] = sorted(both, key=lambda each: each.arrived + shaken.randrange(400_000))
    return found


@pytest.mark.parametrize("order", orders())
def test_the_commands_are_the_same_in_every_order(order: str) -> None:
    """Each prompt is one command with its outcome. The history that the client writes again adds none."""
    story = replay(orders()[order])
    assert story.board == ("ended", None)
    assert commands(story) == COMMANDS


@pytest.mark.parametrize("is_reported_first", [True, False])
def test_one_source_before_the_other(is_reported_first: bool) -> None:
    """The beginning of the session, with all hooks before all lines, and the reverse."""
    end = parse_time("2026-11-16T00:20:50.000Z") or 0
    reported, written = ([each for each in part if each.envelope.fired_at < end] for part in session())
    story = replay([*reported, *written] if is_reported_first else [*written, *reported])
    assert story.board == ("idle", None)
    assert commands(story) == COMMANDS[:3]


def test_the_transcript_alone_has_all_commands() -> None:
    """An imported session has one command for each prompt."""
    _, written = session()
    story = replay(written)
    assert commands(story) == COMMANDS
    assert story.board == ("error", None)


def test_hooks_alone_never_show_an_unconfirmed_end() -> None:
    """Without a transcript, the end of a turn is shown when it is assumed, or proved by the next prompt."""
    reported, _ = session()
    end = next(at for at, each in enumerate(reported) if each.envelope.name == "AfterAgent")
    story = replay(reported[: end + 1])
    assert story.board == ("working", None)
    assert story.evidence.why == "the end of the turn was reported, but not how it ended"
    at = reported[end].envelope.fired_at
    story.report(TurnEndAssumed(), origin=Origin.TIMER, at=(at - START) / SECOND + 5)
    assert story.board == ("idle", None)
    assert story.evidence.confidence is Confidence.LOW
    assert commands(replay(reported[: end + 2])) == ["hi: completed", "ls: "]


def test_a_subagent_and_a_question() -> None:
    """A sub-agent has its own file; a question is asked by its call and closed with its answer."""
    chat = Chat()
    parent = lines("subagent.chat.jsonl", chat)
    child = lines("subagent.child.jsonl", Chat(None, chat.session_id, "fe3a17b3-a559-451f-9d42-cfbd3c248dfe"))
    story = replay(by_arrival([*parent, *child]))
    (subagent,) = story.agent.subagents
    assert (subagent.type, subagent.is_running) == ("codebase_investigator", False)
    assert subagent.description.startswith("Your task is to do a deep investigation")
    assert states(hooks("subagent")) == ["idle", "working", "waiting:question", "working"]
    assert ("USER", "ANSWER", "Which colour Red") in replay(hooks("subagent")).turns
