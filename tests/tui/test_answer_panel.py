"""Answering from `headspace top`: the panel and its keys."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.wait_request import Field, Option, Question
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.tui.answer_panel import AnswerPanel
from claude_headspace.surfaces.tui.app import Top
from tests.tui.board import HOSTILE, NOON, FixedFeed, RecordingActions, ago, make_agent, make_app, screen_text
from tests.tui.test_app import User, opened, until

RULES = '[{"type":"addRules"}]'
DATABASE = Question("Which database?", "Database", (Option("SQLite", "fast"), Option("PostgreSQL")))
TESTS = Question("Which tests?", "Tests", (Option("unit"), Option("browser")), several=True)
FORM = (Field(name="board", kind="integer", required=True), Field(name="urgent", kind="boolean"))

Script = Callable[[User, Top, FixedFeed, RecordingActions], Awaitable[None]]


def waiting_agent(kind: str, **known: Any) -> Json:
    """An agent with a wait that can be answered."""
    parts = {"id": "w1", "agent_id": "id-able-ant", "kind": kind, "text": "Go?", "opened_at": ago(9)}
    wait = Wait(**{**parts, "held_until": NOON * 2, **known})
    return make_agent("able-ant", "waiting", 9, waiting_for=kind, waits=(wait,))


def drive(agent: Json, script: Script) -> RecordingActions:
    """Press `a` for this agent, run a script, and return the recorded actions."""
    actions = RecordingActions()

    async def run() -> None:
        feed = FixedFeed([agent])
        app = make_app(feed, actions)
        async with opened(app) as user:
            await user.press("a")
            await user.pause()
            await script(user, app, feed, actions)

    asyncio.run(run())
    return actions


def press_keys(*keys: str) -> Script:
    """Press keys, and wait for the answer."""

    async def script(user: User, _app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        for key in keys:
            await user.press(key)
            await user.pause()
        await until(user, lambda: any(call[0] == "answer" for call in actions.recorded))

    return script


def typed(text: str) -> list[str]:
    """The keys of a text, and enter."""
    return [{" ": "space"}.get(sign, sign) for sign in text] + ["enter"]


BASH = {"tool": "Bash", "summary": "make test"}


@pytest.mark.parametrize(
    ("agent", "keys", "answer"),
    [
        (waiting_agent("permission", **BASH), ["y"], {"decision": "allow", "always": False}),
        (waiting_agent("permission", **BASH), ["enter"], {"decision": "allow", "always": False}),
        (waiting_agent("permission", **BASH, suggestions=RULES), ["a"], {"decision": "allow", "always": True}),
        (
            waiting_agent("permission", **BASH),
            ["d", *typed("not now")],
            {"decision": "deny", "message": "not now"},
        ),
        (waiting_agent("permission", **BASH), ["down", "enter", "enter"], {"decision": "deny", "message": ""}),
        (waiting_agent("plan"), ["y"], {"decision": "allow"}),
        (waiting_agent("plan"), ["d", *typed("shorter")], {"decision": "deny", "message": "shorter"}),
        (
            waiting_agent("question", questions=(DATABASE, TESTS)),
            ["2", "1", "2", "enter"],
            {"answers": {"Which database?": "PostgreSQL", "Which tests?": ["unit", "browser"]}},
        ),
        (
            waiting_agent("question", questions=(DATABASE,)),
            ["o", *typed("none")],
            {"answers": {"Which database?": "none"}},
        ),
        (
            waiting_agent("question", questions=(TESTS,)),
            ["space", "o", *typed("load")],
            {"answers": {"Which tests?": ["unit", "load"]}},
        ),
        (
            waiting_agent("elicitation", form=FORM),
            ["y", *typed("seven"), "backspace", *["backspace"] * 4, *typed("7"), "y"],
            {"action": "accept", "content": {"board": 7, "urgent": True}},
        ),
        (waiting_agent("elicitation", form=FORM), ["d"], {"action": "decline"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_all_kinds_of_waits_are_answered_by_keys(agent: Json, keys: list[str], answer: Json) -> None:
    """Choices by key or enter, multiple choices by marking, texts by typing."""
    actions = drive(agent, press_keys(*keys))
    [call] = [call for call in actions.recorded if call[0] == "answer"]
    assert (call[2], json.loads(call[3])) == ("w1", answer)


def test_the_panel_shows_the_request() -> None:
    """The complete command, and the choices with their keys."""

    async def script(_person: User, app: Top, *_: Any) -> None:
        shown = screen_text(app)
        for part in ("able-ant wants to run: make test", "Allow this?", "y  Allow", "d  Deny"):
            assert part in shown, shown

    drive(waiting_agent("permission", **BASH), script)


def test_control_bytes_do_not_reach_the_panel() -> None:
    """They are removed from questions and options."""

    async def script(_person: User, app: Top, *_: Any) -> None:
        shown = screen_text(app)
        assert "owned" not in shown
        assert all(sign == "\n" or ord(sign) >= 32 for sign in shown)

    question = Question(HOSTILE, HOSTILE, (Option(HOSTILE, HOSTILE),))
    drive(waiting_agent("question", text=HOSTILE, questions=(question,)), script)


def test_the_panel_closes_when_the_wait_is_answered_elsewhere() -> None:
    """The panel closes, and nothing is sent."""

    async def script(user: User, app: Top, feed: FixedFeed, actions: RecordingActions) -> None:
        assert isinstance(app.screen, AnswerPanel)
        feed.change("id-able-ant", "state_changed", state="working", waits=[])
        await until(user, lambda: not isinstance(app.screen, AnswerPanel))
        assert "already answered" in screen_text(app)
        assert not any(call[0] == "answer" for call in actions.recorded)

    drive(waiting_agent("permission", **BASH), script)


def test_a_wait_that_needs_the_terminal_opens_no_panel() -> None:
    """The footer explains it."""

    async def script(_person: User, app: Top, *_: Any) -> None:
        assert not isinstance(app.screen, AnswerPanel)
        assert "It can only be answered in its terminal." in screen_text(app)

    drive(waiting_agent("permission", held_until=0), script)


def test_an_interrupt_needs_two_key_presses() -> None:
    """The first x asks for confirmation; the second one interrupts."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        await user.press("escape", "x")
        await user.pause()
        assert "Press x again" in screen_text(app)
        assert not any(call[0] == "interrupt" for call in actions.recorded)
        await user.press("x")
        await until(user, lambda: ("interrupt", "able-ant") in actions.recorded)

    drive(waiting_agent("permission", **BASH), script)
