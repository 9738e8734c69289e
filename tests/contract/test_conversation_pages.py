"""Every database: a conversation can be read page by page, from any place, without gaps and without repetitions."""

from typing import Any

import msgspec
import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.journal.sql import SqlJournal
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Envelope
from claude_headspace.surfaces.read.conversation import MAX_CALLS, ConversationView, PageRequest, conversation
from claude_headspace.surfaces.text.timestamps import parse_time
from claude_headspace.testing import START, hook
from tests.journals import store

COMMANDS = 30
MINUTE = 60 * SECOND


def command(number: int, calls: int = 2) -> list[Envelope]:
    """A prompt, some tool calls and a reply, within one minute."""
    start = START + number * MINUTE
    prompt: dict[str, Any] = {"prompt": f"prompt {number}", "prompt_id": f"p{number}"}
    reply: dict[str, Any] = {"last_assistant_message": f"reply {number}", "prompt_id": f"p{number}"}
    used = [part for index in range(calls) for part in call(f"c{number}-{index}", start + (index + 1) * SECOND // 10)]
    return [hook("UserPromptSubmit", start, **prompt), *used, hook("Stop", start + MINUTE - 1, **reply)]


def call(name: str, start: int, took: int = 10, **more: Any) -> list[Envelope]:
    """A finished tool call."""
    fields: dict[str, Any] = {
        "tool_name": "Bash",
        "tool_input": {"command": f"run {name}"},
        "tool_use_id": name,
        **more,
    }
    return [hook("PreToolUse", start, **fields), hook("PostToolUse", start + took, tool_response="fine", **fields)]


def talk(journal: SqlJournal, *envelopes: Envelope) -> Agent:
    """The agent after these hooks."""
    store(journal, hook("SessionStart", START - 1, source="startup"), *envelopes)
    [agent] = journal.agents()
    return agent


def texts(page: ConversationView) -> list[str]:
    """Turns and calls of a page, in order of time."""
    items = [(turn.timestamp, turn.text) for turn in page.turns] + [(each.started_at, each.id) for each in page.calls]
    return [text for _time, text in sorted(items)]


def expected(number: int, calls: int = 2) -> list[str]:
    """What a page shows of a command."""
    return [f"prompt {number}", *(f"c{number}-{index}" for index in range(calls)), f"reply {number}"]


def time_of(cursor: str | None) -> int | None:
    """The time that a cursor is."""
    return parse_time("before", cursor, 0) if cursor is not None else None


@pytest.mark.parametrize("limit", [1, 2, 7, 200])
def test_pages_backwards_and_forwards_show_everything_once(any_journal: SqlJournal, limit: int) -> None:
    """From the end to the beginning by `before`, and back by `after`. Calls stand with the turn in which they ran."""
    agent = talk(any_journal, *(each for number in range(COMMANDS) for each in command(number)))
    everything = [text for number in range(COMMANDS) for text in expected(number)]

    page = conversation(any_journal, agent, PageRequest(limit=limit))
    assert page.after is None
    shown = texts(page)
    while page.before is not None:
        page = conversation(any_journal, agent, PageRequest(limit=limit, before=time_of(page.before)))
        shown = texts(page) + shown
    assert shown == everything

    page = conversation(any_journal, agent, PageRequest(limit=limit, after=0))
    assert page.before is None
    shown = texts(page)
    while page.after is not None:
        page = conversation(any_journal, agent, PageRequest(limit=limit, after=time_of(page.after)))
        shown += texts(page)
    assert shown == everything


def test_a_page_around_a_turn(any_journal: SqlJournal) -> None:
    """It has the turn in its middle, and its cursors lead on in both directions."""
    agent = talk(any_journal, *(each for number in range(COMMANDS) for each in command(number)))
    [turn] = [each for each in any_journal.turns(agent_id=agent.id) if each.text == "prompt 11"]
    page = conversation(any_journal, agent, PageRequest(limit=4, turn_id=turn.id))
    assert texts(page) == expected(10) + expected(11)
    assert page == conversation(any_journal, agent, PageRequest(limit=4, at=turn.at))
    earlier = conversation(any_journal, agent, PageRequest(limit=2, before=time_of(page.before)))
    later = conversation(any_journal, agent, PageRequest(limit=2, after=time_of(page.after)))
    assert (texts(earlier), texts(later)) == (expected(9), expected(12))


def test_an_unknown_turn_is_an_error(any_journal: SqlJournal) -> None:
    """Also the turn of another agent."""
    agent = talk(any_journal, *command(0))
    store(any_journal, hook("UserPromptSubmit", START, prompt="Hello", session_id="other", cwd="/other"))
    [other] = [each for each in any_journal.agents() if each.id != agent.id]
    [turn] = any_journal.turns(agent_id=other.id)
    for turn_id in (turn.id, "missing", "a\0b"):
        with pytest.raises(BadRequest, match="has no turn"):
            conversation(any_journal, agent, PageRequest(turn_id=turn_id))


def test_cursors_stay_valid(any_journal: SqlJournal) -> None:
    """Events that arrive between two requests do not move pages."""
    agent = talk(any_journal, *(each for number in range(4) for each in command(number)))
    newest = conversation(any_journal, agent, PageRequest(limit=2))
    store(any_journal, *command(4))
    earlier = conversation(any_journal, agent, PageRequest(limit=2, before=time_of(newest.before)))
    assert (texts(newest), texts(earlier)) == (expected(3), expected(2))
    later = conversation(any_journal, agent, PageRequest(limit=200, after=time_of(newest.before)))
    assert texts(later) == expected(3) + expected(4)


def test_a_call_is_on_the_page_of_its_start(any_journal: SqlJournal) -> None:
    """With its end, however late that was; a running one is running."""
    last = START + COMMANDS * 3 * MINUTE
    fields: dict[str, Any] = {"tool_name": "Task", "tool_input": {"prompt": "Explore"}, "tool_use_id": "long"}
    begin, end = hook("PreToolUse", START + 1, **fields), hook("PostToolUse", last, tool_response="found", **fields)
    others = [each for number in range(1, COMMANDS * 3) for each in command(number)]
    prompt = hook("UserPromptSubmit", last + 1, prompt="last")
    running = hook("PreToolUse", last + 2, **{**fields, "tool_use_id": "running"})
    agent = talk(any_journal, hook("UserPromptSubmit", START, prompt="first"), begin, *others, end, prompt, running)
    first = conversation(any_journal, agent, PageRequest(limit=1, after=0))
    assert [(each.id, each.outcome, each.result) for each in first.calls] == [("long", "done", "found")]
    newest = conversation(any_journal, agent, PageRequest(limit=1))
    assert [(each.id, each.outcome) for each in newest.calls] == [("running", "running")]


def test_late_hooks_are_found(any_journal: SqlJournal) -> None:
    """Hooks that were stored after later ones have their place by their time."""
    late = call("late", START + MINUTE + 50)
    agent = talk(any_journal, *(each for number in range(5) for each in command(number)), *late, *command(5))
    [turn] = [each for each in any_journal.turns(agent_id=agent.id) if each.text == "prompt 1"]
    page = conversation(any_journal, agent, PageRequest(limit=2, after=turn.at))
    assert texts(page) == ["prompt 1", "late", "c1-0", "c1-1", "reply 1"]


def test_a_turn_with_many_calls_has_several_pages(any_journal: SqlJournal) -> None:
    """No page has more calls than the maximum, and none is lost."""
    calls = MAX_CALLS * 2 + 50
    agent = talk(any_journal, *command(0), *command(1, calls), *command(2))
    everything = expected(0) + expected(1, calls) + expected(2)
    page = conversation(any_journal, agent, PageRequest(limit=3))
    shown, sizes = texts(page), [len(page.calls)]
    while page.before is not None:
        page = conversation(any_journal, agent, PageRequest(limit=3, before=time_of(page.before)))
        shown, sizes = texts(page) + shown, [*sizes, len(page.calls)]
    assert shown == everything
    assert max(sizes) == MAX_CALLS
    page = conversation(any_journal, agent, PageRequest(limit=3, after=0))
    shown = texts(page)
    while page.after is not None:
        page = conversation(any_journal, agent, PageRequest(limit=3, after=time_of(page.after)))
        shown += texts(page)
    assert shown == everything


def test_turns_of_the_same_time_stay_together(any_journal: SqlJournal) -> None:
    """Even if they are more than a page should have."""
    fired = [
        msgspec.structs.replace(hook("UserPromptSubmit", START, prompt=f"at once {number}"), fired_at=START + SECOND)
        for number in range(5)
    ]
    agent = talk(any_journal, *command(-1), *fired, *command(1))
    together = {f"at once {number}" for number in range(5)}
    later = conversation(any_journal, agent, PageRequest(limit=2, after=START))
    earlier = conversation(any_journal, agent, PageRequest(limit=2, before=START + MINUTE))
    assert set(texts(later)) == set(texts(earlier)) == together
    assert later.after is not None
    following = conversation(any_journal, agent, PageRequest(limit=2, after=time_of(later.after)))
    assert texts(following) == expected(1)


def test_the_log_range_of_a_time_range(any_journal: SqlJournal) -> None:
    """The sequence numbers of the agent's events in it, with as many more on both sides as requested."""
    agent = talk(any_journal, *(each for number in range(5) for each in command(number)))
    stored = [(each.seq, each.envelope.fired_at) for each in any_journal.events(agent_id=agent.id, limit=100)]
    since, until = START + MINUTE, START + 3 * MINUTE
    inside = [seq for seq, time in stored if since <= time < until]
    after = next(seq for seq, time in stored if time >= until)
    assert any_journal.log_range(agent.id, since, until, 0) == (inside[0], after)
    first, end = any_journal.log_range(agent.id, since, until, 3)
    numbers = [seq for seq, _time in stored]
    assert first == numbers[numbers.index(inside[0]) - 4]
    assert end == numbers[numbers.index(after) + 3]
    assert any_journal.log_range(agent.id, None, None, 3) == (None, None)
    assert any_journal.log_range(agent.id, 0, START + 1_000 * MINUTE, 3) == (None, None)
