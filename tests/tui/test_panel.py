"""Answering from `headspace top`: the panel, its keys, and that it closes when somebody else was first."""

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
from tests.tui.board import HOSTILE, NOON, FixedFeed, NotingHands, ago, make, screen_of, top
from tests.tui.test_app import Person, looking, until

RULES = '[{"type":"addRules"}]'
DATABASE = Question("Which database?", "Database", (Option("SQLite", "fast"), Option("PostgreSQL")))
TESTS = Question("Which tests?", "Tests", (Option("unit"), Option("browser")), several=True)
FORM = (Field(name="board", kind="integer", required=True), Field(name="urgent", kind="boolean"))

Script = Callable[[Person, Top, FixedFeed, NotingHands], Awaitable[None]]


def asking(kind: str, **known: Any) -> Json:
    """An agent whose client holds a wait open."""
    parts = {"id": "w1", "agent_id": "id-able-ant", "kind": kind, "text": "Go?", "opened_at": ago(9)}
    wait = Wait(**{**parts, "held_until": NOON * 2, **known})
    return make("able-ant", "waiting", 9, waiting_for=kind, waits=(wait,))


def drive(agent: Json, script: Script) -> NotingHands:
    """Run a script over a board with this agent; what the hands did."""
    hands = NotingHands()

    async def run() -> None:
        feed = FixedFeed([agent])
        app = top(feed, hands)
        async with looking(app) as person:
            await person.press("a")
            await person.pause()
            await script(person, app, feed, hands)

    asyncio.run(run())
    return hands


def presses(*keys: str) -> Script:
    """Press keys, and wait for what comes of it."""

    async def script(person: Person, _app: Top, _feed: FixedFeed, hands: NotingHands) -> None:
        for key in keys:
            await person.press(key)
            await person.pause()
        await until(person, lambda: any(done[0] == "answer" for done in hands.done))

    return script


def written(words: str) -> list[str]:
    """The keys of a text, and enter."""
    return [{" ": "space"}.get(sign, sign) for sign in words] + ["enter"]


BASH = {"tool": "Bash", "summary": "make test"}


@pytest.mark.parametrize(
    ("agent", "keys", "answer"),
    [
        (asking("permission", **BASH), ["y"], {"decision": "allow", "always": False}),
        (asking("permission", **BASH), ["enter"], {"decision": "allow", "always": False}),
        (asking("permission", **BASH, suggestions=RULES), ["a"], {"decision": "allow", "always": True}),
        (
            asking("permission", **BASH),
            ["d", *written("not now")],
            {"decision": "deny", "message": "not now"},
        ),
        (asking("permission", **BASH), ["down", "enter", "enter"], {"decision": "deny", "message": ""}),
        (asking("plan"), ["y"], {"decision": "allow"}),
        (asking("plan"), ["d", *written("shorter")], {"decision": "deny", "message": "shorter"}),
        (
            asking("question", questions=(DATABASE, TESTS)),
            ["2", "1", "2", "enter"],
            {"answers": {"Which database?": "PostgreSQL", "Which tests?": ["unit", "browser"]}},
        ),
        (
            asking("question", questions=(DATABASE,)),
            ["o", *written("none")],
            {"answers": {"Which database?": "none"}},
        ),
        (
            asking("question", questions=(TESTS,)),
            ["space", "o", *written("load")],
            {"answers": {"Which tests?": ["unit", "load"]}},
        ),
        (
            asking("elicitation", form=FORM),
            ["y", *written("seven"), "backspace", *["backspace"] * 4, *written("7"), "y"],
            {"action": "accept", "content": {"board": 7, "urgent": True}},
        ),
        (asking("elicitation", form=FORM), ["d"], {"action": "decline"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_every_kind_is_answered_by_keys(agent: Json, keys: list[str], answer: Json) -> None:
    """A choice by its key or by enter, several by marking, texts by writing; what comes of it is what the API takes."""
    hands = drive(agent, presses(*keys))
    [done] = [done for done in hands.done if done[0] == "answer"]
    assert (done[2], json.loads(done[3])) == ("w1", answer)


def test_the_panel_says_what_it_is_about() -> None:
    """The command in full, and the keys with what they do."""

    async def script(_person: Person, app: Top, *_: Any) -> None:
        shown = screen_of(app)
        for part in ("able-ant wants to run: make test", "May it?", "y  Allow", "d  Deny"):
            assert part in shown, shown

    drive(asking("permission", **BASH), script)


def test_control_bytes_do_not_reach_the_panel() -> None:
    """What an agent wrote into its question is shown without anything that a terminal would act on."""

    async def script(_person: Person, app: Top, *_: Any) -> None:
        shown = screen_of(app)
        assert "owned" not in shown
        assert all(sign == "\n" or ord(sign) >= 32 for sign in shown)

    question = Question(HOSTILE, HOSTILE, (Option(HOSTILE, HOSTILE),))
    drive(asking("question", text=HOSTILE, questions=(question,)), script)


def test_it_closes_when_somebody_else_was_first() -> None:
    """The wait is over, or answered on another surface: the panel goes away, and nothing is sent."""

    async def script(person: Person, app: Top, feed: FixedFeed, hands: NotingHands) -> None:
        assert isinstance(app.screen, AnswerPanel)
        feed.change("id-able-ant", "state_changed", state="working", waits=[])
        await until(person, lambda: not isinstance(app.screen, AnswerPanel))
        assert "answered already" in screen_of(app)
        assert not any(done[0] == "answer" for done in hands.done)

    drive(asking("permission", **BASH), script)


def test_what_only_the_terminal_takes_is_said_so() -> None:
    """No panel opens for what cannot be answered from here."""

    async def script(_person: Person, app: Top, *_: Any) -> None:
        assert not isinstance(app.screen, AnswerPanel)
        assert "Only its terminal takes the answer" in screen_of(app)

    drive(asking("permission", held_until=0), script)


def test_an_interrupt_is_asked_for_twice() -> None:
    """The first x only asks; the second one presses Esc."""

    async def script(person: Person, app: Top, _feed: FixedFeed, hands: NotingHands) -> None:
        await person.press("escape", "x")
        await person.pause()
        assert "x again stops" in screen_of(app)
        assert not any(done[0] == "interrupt" for done in hands.done)
        await person.press("x")
        await until(person, lambda: ("interrupt", "able-ant") in hands.done)

    drive(asking("permission", **BASH), script)
