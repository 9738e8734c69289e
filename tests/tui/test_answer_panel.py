"""Answering from `headspace top`: the panel and its keys."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.events import AppFocus
from textual.events import Key as KeyEvent

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.wait.request import Field, Option, Question
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.tui.actions import ActionResult
from claude_headspace.surfaces.tui.answer_panel import TEXT_KEY, AnswerPanel, Phase
from claude_headspace.surfaces.tui.answer_steps import ChoiceStep, answer_form
from claude_headspace.surfaces.tui.app import Top
from claude_headspace.surfaces.tui.keys import PANEL_KEYS
from claude_headspace.surfaces.tui.presentation.frame import help_lines
from claude_headspace.surfaces.tui.widgets import LinePane
from tests.tui.board import HOSTILE, NOON, FixedFeed, RecordingActions, Ticks, ago, make_agent, make_app, screen_text
from tests.tui.test_answer_steps import SUGGESTIONS
from tests.tui.test_app import LIMIT_SECONDS, User, opened, until

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


def drive(agent: Json, script: Script, *others: Json, ticks: Ticks | None = None, **details: Any) -> RecordingActions:
    """Press `a` for this agent, run a script when its request is shown, and return the recorded actions."""
    actions = RecordingActions()
    actions.requests["w1"] = details

    async def run() -> None:
        feed = FixedFeed([agent, *others])
        app = make_app(feed, actions, monotonic=ticks)
        async with opened(app) as user:
            await user.press("a")
            await until(user, lambda: not isinstance(app.screen, AnswerPanel) or app.screen.phase is not Phase.LOADING)
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
        (waiting_agent("permission", **BASH), ["y"], {"decision": "allow"}),
        (waiting_agent("permission", **BASH), ["down", "enter"], {"decision": "allow"}),
        (
            waiting_agent("permission", **BASH),
            ["d", *typed("not now")],
            {"decision": "deny", "message": "not now"},
        ),
        (waiting_agent("permission", **BASH), ["up", "enter", "enter"], {"decision": "deny", "message": ""}),
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
            ["down", "space", "o", *typed("load")],
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
        for part in ("able-ant wants to run: make test", "Allow this?", "y  Allow once", "d  Deny"):
            assert part in shown, shown

    drive(waiting_agent("permission", **BASH), script)


def test_hidden_characters_are_marks_in_the_panel() -> None:
    """Questions, options and requests show marks in place of control characters and direction changes."""

    async def script(_person: User, app: Top, *_: Any) -> None:
        shown = screen_text(app)
        assert shown.count("⟦U+202E⟧") >= 2
        assert "⟦U+001B⟧" in shown
        assert all(sign == "\n" or (ord(sign) >= 32 and sign not in "\u202e\x9b") for sign in shown)

    question = Question(HOSTILE, HOSTILE, (Option(HOSTILE, HOSTILE),))
    drive(waiting_agent("question", text=HOSTILE, questions=(question,)), script)
    hidden = [{"at": 5, "code": "U+202E", "name": "RIGHT-TO-LEFT OVERRIDE"}]
    request = {"text": HOSTILE, "diff": HOSTILE, "arguments": {}, "complete": True, "left_out": 0}
    drive(waiting_agent("permission", tool=HOSTILE), script, request=request, hidden_characters=hidden)


def test_a_panel_that_was_answered_elsewhere_ignores_keys_until_it_is_closed() -> None:
    """It says who answered. No key answers, selects another agent or sends something."""

    async def script(user: User, app: Top, feed: FixedFeed, actions: RecordingActions) -> None:
        waits = [{**agent["waits"][0], "answered": {"words": "denied", "by": "ann", "via": "web", "at": "x"}}]
        feed.change("id-able-ant", waits=waits)
        await until(user, lambda: "Already denied by ann." in screen_text(app))
        before = list(actions.recorded)
        await user.press("y", "a", "1", "2", "d", "s", "x", "q", "tab", "enter", "enter")
        assert isinstance(app.screen, AnswerPanel)
        assert actions.recorded == before
        await user.press("escape")
        await until(user, lambda: not isinstance(app.screen, AnswerPanel))
        assert app.agents.has_focus

    agent = waiting_agent("permission", **BASH)
    drive(agent, script, make_agent("busy-bee", "working", 5))


@pytest.mark.parametrize("keys", [["enter"], ["1"], ["escape", "enter"], ["escape", "enter", "1", "r"]])
def test_a_key_that_was_meant_for_the_panel_never_leaves_the_board(keys: list[str]) -> None:
    """After the answer, enter and digits do nothing. After esc they count when half a second has passed."""
    ticks = Ticks()

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        ticks.now += 1
        await user.press("y")
        await until(user, lambda: "answer: done" in screen_text(app))
        ticks.now += 1
        for key in keys:
            await user.press(key)
            await user.pause()
        assert not [call for call in actions.recorded if call[0] in ("jump", "resume")]
        assert isinstance(app.screen, AnswerPanel) == (keys[0] != "escape")
        await user.press("escape")
        ticks.now += 1
        await user.press("enter")
        await until(user, lambda: ("jump", "able-ant") in actions.recorded)

    drive(waiting_agent("permission", **BASH), script, ticks=ticks)


@pytest.mark.parametrize(
    ("before", "key", "character"),
    [
        ([], "alt+y", "y"),
        ([], "alt+d", "d"),
        (["down"], "alt+enter", "\r"),
        ([], "ctrl+y", None),
        (["d"], "alt+y", "y"),
        (["d"], "alt+enter", "\r"),
    ],
)
def test_a_key_with_a_modifier_cancels(before: list[str], key: str, character: str | None) -> None:
    """It closes the panel without an answer, also while a reason is written. The keys after it answer nothing."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        await user.press(*before)
        await user.pause()
        app.post_message(KeyEvent(key, character))
        app.post_message(KeyEvent("y", "y"))
        app.post_message(KeyEvent("enter", "\r"))
        await until(user, lambda: not isinstance(app.screen, AnswerPanel))
        await user.pause()
        assert not answers_in(actions)

    drive(waiting_agent("permission", **BASH), script)


LONG = {"text": "\n".join(f"step {number}" for number in range(60)), "diff": "", "arguments": {}, "complete": True}


@pytest.mark.parametrize(("kind", "key"), [("plan", "y"), ("permission", "y")])
def test_a_long_request_is_approved_only_after_its_end_was_shown(kind: str, key: str) -> None:
    """The key says what to do first. Denying needs no scrolling."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        assert "step 0" in screen_text(app)
        assert "step 59" not in screen_text(app)
        await user.press(key)
        await until(user, lambda: "Read the request to its end first" in screen_text(app))
        await user.press("pagedown", key)
        assert not any(call[0] == "answer" for call in actions.recorded)
        await user.press("end")
        await until(user, lambda: "step 59" in screen_text(app))
        await user.press("home", key)
        await until(user, lambda: any(call[0] == "answer" for call in actions.recorded))

    drive(waiting_agent(kind), script, request={**LONG, "left_out": 0})


@pytest.mark.parametrize("means", ["key", "wheel"])
def test_a_key_right_after_the_end_became_visible_answers_nothing(means: str) -> None:
    """The end has not been read yet, so an answer needs half a second."""
    ticks = Ticks()

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        ticks.now += 10
        if means == "key":
            await user.press("end", "y")
        else:
            app.screen.query_one("#subject", LinePane).scroll_end(animate=False, force=True)
            await user.press("y")
        await until(user, lambda: "step 59" in screen_text(app))
        await user.press("y")
        assert not answers_in(actions)
        ticks.now += 1
        await user.press("y")
        await until(user, lambda: bool(answers_in(actions)))

    drive(waiting_agent("permission"), script, ticks=ticks, request={**LONG, "left_out": 0})


SHORTENED = {**LONG, "text": "a part of it", "complete": False, "left_out": 900}


def test_a_shortened_request_is_approved_only_after_it_was_loaded_in_full() -> None:
    """The key names what to press first."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        await user.press("y")
        await until(user, lambda: "Press f to show all of it first." in screen_text(app))
        await user.press("y")
        assert not answers_in(actions)
        actions.requests["w1"] = {"request": {**LONG, "text": "all of it", "left_out": 0}}
        await user.press("f")
        await until(user, lambda: "all of it" in screen_text(app) and "Press f" not in screen_text(app))
        await user.pause()
        await user.press("y")
        await until(user, lambda: bool(answers_in(actions)))

    drive(waiting_agent("permission"), script, request=SHORTENED)


def test_a_request_that_headspace_does_not_have_completely_is_confirmed() -> None:
    """After everything was loaded, the same choice is needed twice, and not within half a second."""
    ticks = Ticks()

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        await user.press("f")
        await until(user, lambda: ("request", "w1", "True") in actions.recorded)
        await until(user, lambda: "f show all" not in screen_text(app))
        await user.pause()
        ticks.now += 1
        await user.press("y")
        await until(user, lambda: "Headspace does not have the complete request" in screen_text(app))
        await user.press("y")
        assert not answers_in(actions)
        ticks.now += 1
        await user.press("y")
        await until(user, lambda: bool(answers_in(actions)))

    drive(waiting_agent("permission"), script, ticks=ticks, request=SHORTENED)


def test_a_choice_and_its_description_are_separated() -> None:
    """On one line by a dot, or the description has its own line."""
    words = "Allow Read in " + "/a/long/directory" * 6

    async def script(user: User, app: Top, *_: Any) -> None:
        await user.press("a")
        await until(user, lambda: "2  Switch" in screen_text(app))
        rows = [row.strip(" │┃▌▐█") for row in screen_text(app).split("\n")]
        assert any(row.endswith("Switch · for this session") for row in rows), rows
        assert "for this project" in rows, rows

    suggestions = [
        {"id": "s1", "words": words, "destination": "this project"},
        {"id": "s2", "words": "Switch", "destination": "this session"},
    ]
    drive(waiting_agent("permission", **BASH, suggestions=RULES), script, suggestions=suggestions)


def test_a_shortened_request_says_so_and_is_loaded_in_full() -> None:
    """The size of what is left out is shown, and f loads all of it."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        assert "left out: 900 characters" in screen_text(app)
        actions.requests["w1"] = {"request": {**LONG, "text": "all of it", "left_out": 0}}
        await user.press("f")
        await until(user, lambda: "all of it" in screen_text(app))
        assert "left out" not in screen_text(app)
        assert ("request", "w1", "True") in actions.recorded

    drive(waiting_agent("permission"), script, request={**LONG, "complete": False, "left_out": 900})


def test_an_edit_is_shown_as_a_diff() -> None:
    """With the lines of the file around it."""

    async def script(_user: User, app: Top, *_: Any) -> None:
        for part in ("Edit src/app.py", "@@ -1,2 +1,2 @@", "-old", "+new"):
            assert part in screen_text(app)

    diff = "--- a/src/app.py\n+++ b/src/app.py\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n"
    drive(
        waiting_agent("permission", tool="Edit"),
        script,
        request={**LONG, "text": "Edit src/app.py", "diff": diff, "left_out": 0},
    )


def test_each_grant_is_chosen_explicitly() -> None:
    """Pressing `a` again or enter grants nothing; only what is marked is granted."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        await user.press("a", "a", "enter", "a", "enter")
        await until(user, lambda: "Mark what to grant" in screen_text(app))
        for part in ("Allow Bash(make:*)", "for this project, for you", "Switch this session to acceptEdits"):
            assert part in screen_text(app)
        assert not any(call[0] == "answer" for call in actions.recorded)
        await user.press("1", "enter")
        await until(user, lambda: any(call[0] == "answer" for call in actions.recorded))

    actions = drive(waiting_agent("permission", **BASH, suggestions=RULES), script, suggestions=SUGGESTIONS)
    [call] = [call for call in actions.recorded if call[0] == "answer"]
    assert json.loads(call[3]) == {"decision": "allow", "grant": ["s1"]}


@pytest.mark.parametrize("keys", [["y"], ["y", "y", "y"], ["a", "y"], ["down", "enter"], ["enter"], ["1"]])
def test_keys_right_after_the_panel_opened_answer_nothing(keys: list[str]) -> None:
    """Neither one key nor a held one. After half a second without a key, it counts."""
    ticks = Ticks()

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        for key in keys:
            await user.press(key)
            ticks.now += 0.4
        assert not any(call[0] == "answer" for call in actions.recorded)
        assert isinstance(app.screen, AnswerPanel)
        ticks.now += 0.2
        await user.press("y")
        await until(user, lambda: any(call[0] == "answer" for call in actions.recorded))

    drive(waiting_agent("permission", **BASH), script, ticks=ticks)


@pytest.mark.parametrize("change", ["focus", "size", "selection"])
def test_keys_right_after_a_change_answer_nothing(change: str) -> None:
    """The terminal gets the focus or another size, or the cursor moves: for half a second no key answers."""
    ticks = Ticks()

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        ticks.now += 10
        if change == "focus":
            app.post_message(AppFocus())
        elif change == "size":
            await user.resize_terminal(90, 24)
        else:
            await user.press("down")
        await user.pause()
        await user.press("enter" if change == "selection" else "y")
        await until(user, lambda: "too early" in screen_text(app))
        assert not any(call[0] == "answer" for call in actions.recorded)

    drive(waiting_agent("permission", **BASH), script, ticks=ticks)


def test_the_next_question_is_not_answered_by_a_double_press() -> None:
    """Each question is a change of its own."""
    ticks = Ticks()

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        ticks.now += 1
        await user.press("2", "2", "2")
        await until(user, lambda: "Which size?" in screen_text(app))
        assert not any(call[0] == "answer" for call in actions.recorded)
        ticks.now += 1
        await user.press("1")
        await until(user, lambda: any(call[0] == "answer" for call in actions.recorded))

    size = Question("Which size?", "Size", (Option("S"), Option("L")))
    actions = drive(waiting_agent("question", questions=(DATABASE, size)), script, ticks=ticks)
    [call] = [call for call in actions.recorded if call[0] == "answer"]
    assert json.loads(call[3]) == {"answers": {"Which database?": "PostgreSQL", "Which size?": "S"}}


def test_the_next_wait_is_offered_after_an_answer() -> None:
    """The panel shows the result. Stray keys do nothing, `a` opens the next wait, and its keys start afresh."""
    ticks = Ticks()
    other = Wait(id="w2", agent_id="id-calm-cat", kind="plan", text="Plan", opened_at=ago(3), held_until=NOON * 2)
    agent = make_agent("calm-cat", "waiting", 3, waiting_for="plan", waits=(other,))

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        ticks.now += 1
        first = answers_in(actions)
        await user.press("y")
        await until(user, lambda: "next: " in screen_text(app))
        assert "answer: done" in screen_text(app)
        await user.press("y", "1", "2", "d", "a")
        assert isinstance(app.screen, AnswerPanel)
        assert len(answers_in(actions)) == len(first) + 1
        ticks.now += 1
        before = app.screen
        await user.press("a")
        await until(user, lambda: app.screen is not before and isinstance(app.screen, AnswerPanel))
        await user.press("y", "y")
        assert len(answers_in(actions)) == len(first) + 1
        await user.press("escape")
        await until(user, lambda: app.agents.has_focus)

    drive(waiting_agent("permission", **BASH), script, agent, ticks=ticks)


def test_a_wait_that_opens_after_the_answer_is_offered_too() -> None:
    """The panel offers it when it arrives, and takes the offer back when it is gone."""
    other = Wait(id="w2", agent_id="id-calm-cat", kind="plan", text="Plan", opened_at=ago(3), held_until=NOON * 2)
    waits = make_agent("calm-cat", "waiting", 3, waiting_for="plan", waits=(other,))["waits"]

    async def script(user: User, app: Top, feed: FixedFeed, _actions: RecordingActions) -> None:
        await user.press("y")
        await until(user, lambda: "answer: done" in screen_text(app))
        assert "next: " not in screen_text(app)
        feed.change("id-calm-cat", waits=waits)
        await until(user, lambda: "next: calm-cat" in screen_text(app))
        feed.change("id-calm-cat", waits=[])
        await until(user, lambda: "next: " not in screen_text(app))

    drive(waiting_agent("permission", **BASH), script, make_agent("calm-cat", "working", 3))


def answers_in(actions: RecordingActions) -> list[tuple[str, ...]]:
    """The recorded answers."""
    return [call for call in actions.recorded if call[0] == "answer"]


def test_a_request_that_cannot_be_loaded_cannot_be_answered() -> None:
    """The panel shows the reason, and no key answers."""

    class Failing(RecordingActions):
        def request(self, wait: Json, *, everything: bool = False) -> Json:
            raise BadRequest("gone", f"{wait['id']} is gone.", f"Everything: {everything}.")

    async def run() -> None:
        actions = Failing()
        app = make_app(FixedFeed([waiting_agent("permission", **BASH)]), actions)
        async with opened(app) as user:
            await user.press("a")
            await until(user, lambda: "could not be loaded: w1 is gone." in screen_text(app))
            await user.press("y", "y")
            assert not answers_in(actions)

    asyncio.run(run())


def test_a_panel_that_is_closed_early_reports_in_the_footer() -> None:
    """The answer was sent, so its result is shown even if the user closed the panel meanwhile."""
    release = threading.Event()

    class Slow(RecordingActions):
        def answer(self, agent: Json, wait: Json, answer: dict[str, Any]) -> ActionResult:
            release.wait(LIMIT_SECONDS)
            return super().answer(agent, wait, answer)

    async def run() -> None:
        app = make_app(FixedFeed([waiting_agent("permission", **BASH)]), Slow())
        async with opened(app) as user:
            await user.press("a")
            await until(user, lambda: "Allow this?" in screen_text(app))
            await user.press("y", "escape")
            await until(user, lambda: not isinstance(app.screen, AnswerPanel))
            release.set()
            await until(user, lambda: "answer: done" in screen_text(app))

    asyncio.run(run())


def test_every_key_of_the_panel_is_in_the_help() -> None:
    """The keys of the choices, and those that scroll, mark and write."""
    steps = [
        next(answer_form({"kind": kind, "suggestions": SUGGESTIONS, "questions": [], "form": []}))
        for kind in ("permission", "plan", "elicitation")
    ]
    keys = {choice.key for step in steps if isinstance(step, ChoiceStep) for choice in step.choices} | {TEXT_KEY, "f"}
    assert keys - {"c"} <= {label for label, _ in PANEL_KEYS}
    shown = "\n".join("".join(span.text for span in each) for each in help_lines(100))
    assert "pgup pgdn  scroll" in shown
    assert all(label in shown and description in shown for label, description in PANEL_KEYS)


def test_a_wait_that_needs_the_terminal_opens_no_panel() -> None:
    """The footer explains it."""

    async def script(_person: User, app: Top, *_: Any) -> None:
        assert not isinstance(app.screen, AnswerPanel)
        assert "Headspace did not run when the dialog opened, or does not wait for answers." in screen_text(app)
        assert "Press enter to jump there." in screen_text(app)

    drive(waiting_agent("permission", held_until=0), script)


def test_an_interrupt_needs_two_key_presses() -> None:
    """The first x asks for confirmation; the second one interrupts, but not by a double press or a held key."""
    ticks = Ticks()

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        await user.press("escape", "x")
        await user.pause()
        assert "Press x again" in screen_text(app)
        assert not any(call[0] == "interrupt" for call in actions.recorded)
        ticks.now += 0.3
        await user.press("x", "x")
        await user.pause()
        assert not any(call[0] == "interrupt" for call in actions.recorded)
        ticks.now += 0.6
        await user.press("x")
        await until(user, lambda: ("interrupt", "able-ant") in actions.recorded)

    drive(waiting_agent("permission", **BASH), script, ticks=ticks)
