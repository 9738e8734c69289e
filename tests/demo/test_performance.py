"""The order of a demo: the same for a seed, and never without somebody who waits, works, rests or has failed."""

from collections import Counter
from collections.abc import Iterator

import pytest

from claude_headspace.clients.claude_code.hooks.events import REGISTERED
from claude_headspace.demo.actor import Actor, Reply
from claude_headspace.demo.performance import Performance, Turn
from claude_headspace.demo.team import TEAM

HOUR = 3600.0
WAITS = {"permission", "question", "plan"}


def cast(seed: int) -> list[Actor]:
    """The whole team."""
    return [Actor(life, seed, number, "/projects") for number, life in enumerate(TEAM)]


def played(performance: Performance, until: float) -> Iterator[Turn]:
    """What happens until then, if nobody interferes."""
    while performance.next_at is not None and performance.next_at < until:
        turn = performance.take()
        if turn is not None:
            yield turn
            if not turn.cue.held:
                performance.go_on(turn, turn.cue.at)


def test_a_seed_gives_the_same_day() -> None:
    """Every hook, line and moment is the same; another seed gives other moments and the same words."""
    one, again, other = (list(played(Performance(cast(seed)), 600)) for seed in (1, 1, 2))
    assert [turn.cue for turn in one] == [turn.cue for turn in again]
    assert [turn.cue.at for turn in one] != [turn.cue.at for turn in other]
    words = [[t.cue.payload.get("prompt") for t in day if t.actor.life.name == "calm-otter"] for day in (one, other)]
    assert words[0][:8] == words[1][:8]


def test_time_only_goes_forward() -> None:
    """For each agent, and for all of them together."""
    day = list(played(Performance(cast(3)), HOUR))
    assert [turn.cue.at for turn in day] == sorted(turn.cue.at for turn in day)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_somebody_always_waits_for_each_thing(seed: int) -> None:
    """From the first moment on, for two hours: a permission, a question and a plan are open at every moment."""
    performance = Performance(cast(seed))
    for turn in played(performance, 2 * HOUR):
        if turn.cue.at > 0:
            assert {held.cue.held for held in performance.held} == WAITS, turn.cue.at


def test_whoever_waits_takes_turns() -> None:
    """In an hour more than one agent has asked for each thing, and nobody waits all the time."""
    asked = Counter(
        (turn.cue.held, turn.actor.life.name) for turn in played(Performance(cast(1)), HOUR) if turn.cue.held
    )
    for kind in WAITS:
        assert len([name for held, name in asked if held == kind]) >= 2


def test_the_team_does_all_that_agents_do() -> None:
    """Sub-agents, errors, compaction, background shells, lists, an end and an interrupt; only events that exist."""
    day = list(played(Performance(cast(1)), HOUR))
    events = {turn.cue.event for turn in day} - {""}
    assert events - {"StatusLine"} <= REGISTERED.keys()
    assert events >= {
        "SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse",
        "PostToolUseFailure", "SubagentStart", "SubagentStop", "TaskCreated", "TaskCompleted", "Stop", "StopFailure",
        "PreCompact", "PostCompact", "StatusLine",
    }  # fmt: skip
    texts = [str(line.get("message", "")) for turn in day for line in turn.cue.lines]
    assert any("[Request interrupted by user for tool use]" in text for text in texts)
    assert any(turn.cue.payload.get("tool_response", {}).get("backgroundTaskId") for turn in day if turn.cue.payload)


def test_an_answer_from_elsewhere_counts_once() -> None:
    """Whoever answers through Headspace is first; the terminal's own answer is not heard any more."""
    performance = Performance(cast(1))
    for _turn in played(performance, 0):
        pass
    held = next(turn for turn in performance.held if turn.cue.held == "question")
    answers = {held.cue.payload["tool_input"]["questions"][0]["question"]: "Both"}
    output = {"hookSpecificOutput": {"decision": {"behavior": "allow", "updatedInput": {"answers": answers}}}}
    performance.answer(held, 1.0, output)
    assert held not in performance.held
    performance.answer(held, 2.0, {})
    mine = [t for t in played(performance, 1200) if t.actor is held.actor]
    said = " ".join(str(line.get("message", "")) for turn in mine for line in turn.cue.lines)
    assert mine[0].cue.payload["tool_response"]["answers"] == answers
    assert "Both it is." in said


def test_a_no_ends_the_turn() -> None:
    """Who is refused stops there, and goes on with the next thing after a pause."""
    performance = Performance(cast(1))
    for _turn in played(performance, 0):
        pass
    held = next(turn for turn in performance.held if turn.cue.held == "permission")
    performance.answer(held, 1.0, {"hookSpecificOutput": {"decision": {"behavior": "deny", "message": "Not now."}}})
    mine = [turn.cue.event for turn in played(performance, 600) if turn.actor is held.actor and turn.cue.event]
    assert mine[:3] == ["PostToolBatch", "Stop", "StatusLine"]
    assert mine[3] == "UserPromptSubmit"


def test_what_a_guard_denies_does_not_happen() -> None:
    """A call that is denied before it runs has no result."""
    actor = cast(1)[0]
    playing = actor.cues()
    cue = next(playing)
    while cue.event != "PreToolUse":
        cue = playing.send(Reply(cue.at))
    past = [cue]
    while cue.at < 0 and len(past) < 200:
        cue = playing.send(Reply(max(cue.at, cue.until)))
        past.append(cue)
    while cue.event != "PreToolUse":
        cue = playing.send(Reply(max(cue.at, cue.until)))
    told = {"permissionDecision": "deny", "permissionDecisionReason": "The rule says no."}
    cue = playing.send(Reply(cue.at, {"hookSpecificOutput": told}))
    assert cue.event == "PostToolBatch"
    assert cue.payload["tool_calls"][0]["tool_response"] == "The rule says no."
