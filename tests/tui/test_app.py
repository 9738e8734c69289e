"""Every key of `headspace top`, and how news reach the screen; driven as a person would."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.pilot import Pilot

from claude_headspace.surfaces.tui.app import Top
from claude_headspace.surfaces.tui.feed import News
from claude_headspace.surfaces.tui.keys import KEYS
from tests.tui.board import HOSTILE, FixedFeed, NotingHands, make, sample, screen_of, top

Person = Pilot[None]

LIMIT_SECONDS = 30.0


async def until(person: Person, condition: Callable[[], bool]) -> None:
    """Wait for something to be so."""
    async with asyncio.timeout(LIMIT_SECONDS):
        while not condition():
            await person.pause(0.02)


@asynccontextmanager
async def looking(app: Top, width: int = 120, height: int = 30) -> AsyncIterator[Person]:
    """The screen, once it shows the board."""
    async with app.run_test(size=(width, height)) as person:
        await until(person, lambda: app.board.loaded)
        await person.pause()
        yield person


def drive(script: Callable[[Person, Top, FixedFeed, NotingHands], Awaitable[None]], **size: int) -> None:
    """Run a test's script over the sample board."""

    async def run() -> None:
        feed, hands = FixedFeed(), NotingHands()
        app = top(feed, hands)
        async with looking(app, **size) as person:
            await script(person, app, feed, hands)

    asyncio.run(run())


def selected(app: Top) -> str:
    """The name of the selected agent."""
    agent = app.agents.selected
    assert agent is not None
    return str(agent["name"])


class SilentFeed(FixedFeed):
    """A daemon that is not there."""

    def start(self, _ring: Callable[[], None]) -> None:
        """Nothing comes."""


# --- what is shown ----------------------------------------------------------------------------------------------------


def test_those_who_need_somebody_stand_first() -> None:
    """Waiting, error, working, idle, starting, ended; within each what nobody has looked at."""

    async def script(_person: Person, app: Top, *_: Any) -> None:
        assert [agent["name"] for agent in app.agents.agents] == [
            "able-ant",
            "nimble-kestrel",
            "olive-bee",
            "sage-wombat",
            "snug-plover",
            "quick-elk",
            "golden-trout",
            "fresh-mole",
            "late-wren",
        ]

    drive(script)


def test_a_row_answers_in_one_line() -> None:
    """State by shape and word, project and branch, what it does, todo, context, cost, since when."""

    async def script(_person: Person, app: Top, *_: Any) -> None:
        row = next(line for line in screen_of(app).splitlines() if "snug-plover" in line)
        for part in ("5", "● snug-plover", "api (feat/auth)", "Bash: npm test", "2/5", "48%", "$2.05", "10 min"):
            assert part in row, row
        unseen = next(line for line in screen_of(app).splitlines() if "quick-elk" in line)
        assert "•" in unseen
        assert "1 sub-agent" in screen_of(app)

    drive(script, width=160, height=40)


def test_the_last_tool_is_told_where_there_is_room() -> None:
    """On a very wide terminal in the list, else in the details."""

    async def wide(_person: Person, app: Top, *_: Any) -> None:
        row = next(line for line in screen_of(app).splitlines() if "nimble-kestrel" in line)
        assert "AskUserQuestion" in row, row

    async def usual(person: Person, app: Top, *_: Any) -> None:
        await person.press("down", "down", "down", "down")
        await until(person, lambda: "last tool" in screen_of(app))

    drive(wide, width=200, height=40)
    drive(usual, width=120, height=40)


def test_it_works_in_a_small_terminal() -> None:
    """60×15: name, what it does, since when; nothing wraps, nothing is lost but the least important."""

    async def script(person: Person, app: Top, *_: Any) -> None:
        lines = screen_of(app).splitlines()
        assert len(lines) == 15
        assert all(len(line) <= 60 for line in lines)
        assert "able-ant" in lines[2]
        assert "wants to run" in lines[2]
        assert "42 s" in lines[2]
        await person.press("tab")
        await person.pause()
        assert "docker image prune" in screen_of(app)

    drive(script, width=60, height=15)


def test_control_bytes_never_reach_the_terminal() -> None:
    """Whatever stands in prompts, tools, branches and turns is shown without anything that a terminal would act on."""

    async def script(person: Person, app: Top, feed: FixedFeed, _hands: NotingHands) -> None:
        hostile = make("evil", "working", 5, HOSTILE, HOSTILE, error=HOSTILE, role=HOSTILE, last_tool=HOSTILE)
        feed.tell(News("agent_created", {"agent_id": hostile["id"], "agent": dict(hostile)}))
        waits = [{**sample()[0]["waits"][0], "text": HOSTILE, "summary": HOSTILE, "tool": HOSTILE}]
        feed.change("id-able-ant", waits=waits)
        feed.tell(
            News(
                "turn_created",
                {
                    "agent_id": "id-able-ant",
                    "turn_id": "x",
                    "text": HOSTILE,
                    "actor": "USER",
                    "timestamp": "2026-03-02T13:59:59+00:00",
                },
            )
        )
        await until(person, lambda: "evil" in screen_of(app))
        shown = screen_of(app)
        for sign in ("\x1b", "\x07", "\x9b", "\u202e"):
            assert sign not in shown
        assert "[red]markup" in shown

    drive(script, width=160, height=40)


def test_an_empty_board_says_what_to_do() -> None:
    """No agents yet, and no daemon, are two different things; both say the next step."""

    async def run() -> None:
        app = top(FixedFeed([]))
        async with looking(app) as person:
            assert "headspace run" in screen_of(app)
        app = top(SilentFeed())
        async with app.run_test(size=(100, 20)) as person:
            await person.pause()
            assert "headspace up" in screen_of(app)

    asyncio.run(run())


def test_three_hundred_agents_are_a_list_like_any_other() -> None:
    """Only what is on the screen is drawn; the ends are one key away."""

    async def run() -> None:
        agents = [make(f"agent-{n:03}", "working" if n % 3 else "idle", n * 7.0, f"p{n % 9}") for n in range(300)]
        app = top(FixedFeed(agents))
        async with looking(app) as person:
            await person.press("G")
            assert app.agents.index == 299
            await person.press("g", "pagedown", "pagedown", "up")
            assert app.agents.index == 2 * (app.agents.size.height - 2) - 1
            assert selected(app) in screen_of(app)

    asyncio.run(run())


# --- news -------------------------------------------------------------------------------------------------------------


def test_a_change_is_shown_and_the_selection_stays_with_its_agent() -> None:
    """An agent that begins to wait moves up; whoever was selected still is."""

    async def script(person: Person, app: Top, feed: FixedFeed, _hands: NotingHands) -> None:
        await person.press("down", "down", "down")
        assert selected(app) == "sage-wombat"
        feed.change(
            "id-quick-elk", "state_changed", state="error", error="overloaded", state_since="2026-03-02T14:00:00"
        )
        await until(person, lambda: app.agents.agents[2]["name"] == "quick-elk")
        assert selected(app) == "sage-wombat"
        assert "stopped: overloaded" in screen_of(app)

    drive(script)


def test_a_new_agent_appears_and_an_unknown_one_is_asked_for() -> None:
    """What the stream tells of somebody unknown, or a gap, means that the board is read anew."""

    async def script(person: Person, app: Top, feed: FixedFeed, _hands: NotingHands) -> None:
        new = make("brand-new", "idle", 1)
        feed.tell(News("agent_created", {"agent_id": new["id"], "agent": dict(new)}))
        await until(person, lambda: "brand-new" in screen_of(app))
        feed.change("id-stranger", state="idle")
        feed.tell(News("gap", {"reason": "x"}))
        await until(person, lambda: feed.reloads == 2)

    drive(script)


def test_a_lost_daemon_is_said_and_forgotten_when_it_is_back() -> None:
    """The board stays; the head says what it is worth."""

    async def script(person: Person, app: Top, feed: FixedFeed, _hands: NotingHands) -> None:
        feed.tell(News("lost", {}))
        await until(person, lambda: "reconnecting" in screen_of(app))
        assert "able-ant" in screen_of(app)
        feed.tell(News("loaded", {}, tuple(dict(agent) for agent in sample()[:2])))
        await until(person, lambda: "late-wren" not in screen_of(app))
        assert screen_of(app).splitlines()[0].endswith("live")

    drive(script)


def test_what_is_said_while_one_looks_appears() -> None:
    """The conversation of the selected agent grows, and turns that are known better are corrected."""

    async def script(person: Person, app: Top, feed: FixedFeed, _hands: NotingHands) -> None:
        await until(person, lambda: "id-able-ant" in app.board.turns)
        said = {"agent_id": "id-able-ant", "turn_id": "new", "actor": "AGENT", "text": "A new sentence."}
        feed.tell(News("turn_created", {**said, "timestamp": "2026-03-02T13:59:59+00:00"}))
        await until(person, lambda: "A new sentence." in screen_of(app))

    drive(script)


def test_a_call_is_made_only_when_nobody_looks() -> None:
    """The bell rings for an agent that begins to need somebody, while the terminal is not in front."""

    async def script(person: Person, app: Top, feed: FixedFeed, hands: NotingHands) -> None:
        feed.change("id-snug-plover", "state_changed", state="waiting", state_since="2026-03-02T14:00:00")
        await until(person, lambda: app.board.agents["id-snug-plover"]["state"] == "waiting")
        assert ("call", "snug-plover") not in hands.done
        app.app_focus = False
        feed.change("id-sage-wombat", "state_changed", state="error", state_since="2026-03-02T14:00:00")
        await until(person, lambda: ("call", "sage-wombat") in hands.done)
        await person.press("b")
        feed.change("id-quick-elk", "state_changed", state="error", state_since="2026-03-02T14:00:00")
        await until(person, lambda: app.board.agents["id-quick-elk"]["state"] == "error")
        assert ("call", "quick-elk") not in hands.done

    drive(script)


# --- keys -------------------------------------------------------------------------------------------------------------


def test_moving() -> None:
    """Arrows and letters, page and edge, and the next one that needs somebody."""

    async def script(person: Person, app: Top, *_: Any) -> None:
        for keys, expected in (
            (["down"], "nimble-kestrel"),
            (["j", "j"], "sage-wombat"),
            (["k"], "olive-bee"),
            (["up"], "nimble-kestrel"),
            (["G"], "late-wren"),
            (["n"], "able-ant"),
            (["n"], "nimble-kestrel"),
            (["end"], "late-wren"),
            (["down"], "late-wren"),
            (["home"], "able-ant"),
            (["g", "up"], "able-ant"),
            (["pagedown"], "late-wren"),
        ):
            await person.press(*keys)
            assert selected(app) == expected, keys

    drive(script)


@pytest.mark.parametrize(("key", "done"), [("enter", "able-ant"), ("1", "able-ant"), ("4", "sage-wombat")])
def test_jumping(key: str, done: str) -> None:
    """Enter jumps to the selected agent, a number to that one."""

    async def script(person: Person, _app: Top, _feed: FixedFeed, hands: NotingHands) -> None:
        await person.press(key)
        await until(person, lambda: ("jump", done) in hands.done)

    drive(script)


def test_an_ended_agent_is_resumed_not_jumped_to() -> None:
    """Enter says so, r does it."""

    async def script(person: Person, app: Top, _feed: FixedFeed, hands: NotingHands) -> None:
        await person.press("9")
        await until(person, lambda: "r resumes it" in screen_of(app))
        assert hands.done == []
        await person.press("r")
        await until(person, lambda: ("resume", "late-wren") in hands.done)

    drive(script)


def test_a_refusal_is_said_with_what_to_do() -> None:
    """What cannot be done is explained in the foot."""

    async def script(person: Person, app: Top, _feed: FixedFeed, hands: NotingHands) -> None:
        hands.refuses = True
        await person.press("enter")
        await until(person, lambda: "It does not run in tmux." in screen_of(app))
        assert "headspace run" in screen_of(app)

    drive(script)


def test_sending() -> None:
    """s asks for a text of one or more lines; enter sends it, esc does not."""

    async def script(person: Person, app: Top, _feed: FixedFeed, hands: NotingHands) -> None:
        await person.press("down", "s")
        await until(person, lambda: "to nimble-kestrel" in screen_of(app))
        await person.press(*"q1", "ctrl+j", *"two", "enter")
        await until(person, lambda: ("send", "nimble-kestrel", "q1\ntwo") in hands.done)
        await until(person, lambda: "send: done" in screen_of(app))
        count = len(hands.done)
        await person.press("s", *"never", "escape")
        await person.press("s", "enter")
        await person.pause()
        assert [done for done in hands.done[count:] if done[0] == "send"] == []
        assert selected(app) == "nimble-kestrel"

    drive(script)


def test_filtering() -> None:
    """/ narrows the list while one types; enter keeps it, esc clears it."""

    async def script(person: Person, app: Top, *_: Any) -> None:
        await person.press("slash", *"api work")
        await until(person, lambda: len(app.agents.agents) == 2)
        await person.press("enter", "down")
        assert selected(app) == "snug-plover"
        assert "filter: api work" in screen_of(app)
        await person.press("escape")
        await until(person, lambda: len(app.agents.agents) == 9)
        await person.press("slash", *"nothing like it")
        await until(person, lambda: "No agent matches." in screen_of(app))
        await person.press("escape")
        await until(person, lambda: len(app.agents.agents) == 9)

    drive(script)


def test_hiding_those_that_ended() -> None:
    """e hides them and says so, and shows them again."""

    async def script(person: Person, app: Top, *_: Any) -> None:
        await person.press("e")
        await until(person, lambda: "late-wren" not in screen_of(app))
        assert "1 ended hidden" in screen_of(app)
        await person.press("e")
        await until(person, lambda: "late-wren" in screen_of(app))

    drive(script)


def test_reasons_and_panes() -> None:
    """w shows why, tab gives the details more room or none, esc brings them back."""

    async def script(person: Person, app: Top, *_: Any) -> None:
        await person.press("down", "w")
        await until(person, lambda: "AskUserQuestion waits" in screen_of(app))
        await person.press("w")
        await until(person, lambda: "1. SQLite: fast, in memory" in screen_of(app))
        await person.press("tab")
        await until(person, lambda: "able-ant" not in screen_of(app))
        await person.press("tab")
        await until(person, lambda: "SQLite" not in screen_of(app))
        await person.press("escape")
        await until(person, lambda: "SQLite" in screen_of(app) and "able-ant" in screen_of(app))

    drive(script, width=200, height=40)


def test_scrolling_the_details() -> None:
    """] and [ move through what does not fit."""

    async def script(person: Person, app: Top, *_: Any) -> None:
        await until(person, lambda: "id-able-ant" in app.board.turns)
        await person.pause()
        before = screen_of(app)
        await person.press("right_square_bracket")
        await until(person, lambda: screen_of(app) != before)
        await person.press("left_square_bracket")
        await until(person, lambda: screen_of(app) == before)

    drive(script, width=100, height=26)


def test_looking_at_an_agent_makes_it_seen() -> None:
    """What is selected for a moment is told to the daemon as looked at; what was seen is not told again."""

    async def script(person: Person, _app: Top, _feed: FixedFeed, hands: NotingHands) -> None:
        await person.press("down")
        await until(person, lambda: ("seen", "nimble-kestrel") in hands.done)
        await person.press("down")
        await person.pause(1.2)
        assert ("seen", "olive-bee") not in hands.done

    drive(script)


def test_themes() -> None:
    """t walks through dark, light and the terminal's own."""

    async def script(person: Person, app: Top, *_: Any) -> None:
        seen = []
        for _number in range(3):
            await person.press("t")
            seen.append(app.theme)
        assert seen == ["light", "terminal", "dark"]

    drive(script)


def test_help_names_every_key() -> None:
    """? shows the table of keys; esc closes it."""

    async def script(person: Person, app: Top, *_: Any) -> None:
        await person.press("question_mark")
        await until(person, lambda: "esc closes" in screen_of(app))
        for key in KEYS:
            assert f" {key.label:<9}{key.meaning}" in screen_of(app), key
        await person.press("escape")
        await until(person, lambda: "esc closes" not in screen_of(app))

    drive(script, width=120, height=40)


def test_quitting() -> None:
    """q ends it."""

    async def script(person: Person, app: Top, *_: Any) -> None:
        await person.press("q")
        await until(person, lambda: app._exit)

    drive(script)


def test_nothing_is_asked_while_nothing_happens() -> None:
    """Details are asked for once; then the feed is left alone, however long one looks."""

    async def script(person: Person, app: Top, feed: FixedFeed, _hands: NotingHands) -> None:
        await until(person, lambda: "id-able-ant" in app.board.turns)
        await person.pause(2.5)
        assert feed.asked == ["id-able-ant"]
        assert feed.reloads == 0

    drive(script)
