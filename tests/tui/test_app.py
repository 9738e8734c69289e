"""The keys of `headspace top` and its updates, tested through the screen."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.events import Click
from textual.events import Key as KeyEvent
from textual.pilot import Pilot

from claude_headspace.clients.client import Capability, Client
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Wait
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.tui.actions import ActionResult
from claude_headspace.surfaces.tui.app import Top
from claude_headspace.surfaces.tui.feed import FeedEvent
from claude_headspace.surfaces.tui.keys import KEYS
from claude_headspace.surfaces.tui.presentation.details import conversation_lines
from tests.limited_client import limited_client
from tests.tui.board import (
    HOSTILE,
    NOON,
    FixedFeed,
    RecordingActions,
    clock,
    iso_ago,
    make_agent,
    make_app,
    make_turn,
    sample_agents,
    screen_text,
)

User = Pilot[None]

LIMIT_SECONDS = 30.0


async def until(user: User, condition: Callable[[], bool]) -> None:
    """Wait until the condition is true."""
    async with asyncio.timeout(LIMIT_SECONDS):
        while not condition():
            await user.pause(0.02)


@asynccontextmanager
async def opened(app: Top, width: int = 120, height: int = 30) -> AsyncIterator[User]:
    """The app, once the board is loaded."""
    async with app.run_test(size=(width, height)) as user:
        await until(user, lambda: app.board.loaded)
        await user.pause()
        yield user


def drive(script: Callable[[User, Top, FixedFeed, RecordingActions], Awaitable[None]], **size: int) -> None:
    """Run a script with the sample agents."""

    async def run() -> None:
        feed, actions = FixedFeed(), RecordingActions()
        app = make_app(feed, actions)
        async with opened(app, **size) as user:
            await script(user, app, feed, actions)

    asyncio.run(run())


def selected_name(app: Top) -> str:
    """The name of the selected agent."""
    agent = app.agents.selected
    assert agent is not None
    return str(agent["name"])


class SilentFeed(FixedFeed):
    """A feed without a daemon."""

    def start(self, _on_update: Callable[[], object]) -> None:
        """Emits nothing."""


# --- content ----------------------------------------------------------------------------------------------------------


def test_agents_that_need_the_user_come_first() -> None:
    """Order: waiting, error, working, idle, starting, ended; unseen agents first within each state."""

    async def script(_person: User, app: Top, *_: Any) -> None:
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


def test_guards_that_are_off_are_shown_above_the_list() -> None:
    """With the time, the duration, the reason and what to do, until they are on again."""

    async def script(user: User, app: Top, feed: FixedFeed, _actions: RecordingActions) -> None:
        assert "Guards" not in screen_text(app)
        problem = {"since": iso_ago(780), "text": "`disableAllHooks` in ~/.claude/settings.json", "hint": "Remove it."}
        feed.emit(FeedEvent("guards_changed", {"problems": [problem, {**problem, "text": "x"}]}))
        await until(user, lambda: "Guards are off since 13:47:00, 13 min: `disableAllHooks`" in screen_text(app))
        assert "and 1 more" in screen_text(app)
        feed.emit(FeedEvent("guards_changed", {"problems": [{**problem, "client": "codex"}]}))
        await until(user, lambda: "Guards are off in Codex since 13:47:00" in screen_text(app))
        feed.emit(FeedEvent("guards_changed", {"problems": []}))
        await until(user, lambda: "Guards" not in screen_text(app))

    drive(script, width=140)


def test_a_row_shows_the_agent() -> None:
    """Shape, project and branch, activity, to-do list, context, cost and time."""

    async def script(_person: User, app: Top, *_: Any) -> None:
        row = next(line for line in screen_text(app).splitlines() if "snug-plover" in line)
        for part in ("5", "● snug-plover", "api (feat/auth)", "Bash: npm test", "2/5", "48%", "$2.05", "10 min"):
            assert part in row, row
        unseen = next(line for line in screen_text(app).splitlines() if "quick-elk" in line)
        assert "•" in unseen
        assert "1 sub-agent" in screen_text(app)

    drive(script, width=160, height=40)


def test_the_last_tool_is_shown_where_it_fits() -> None:
    """In the list on a very wide terminal, else in the details."""

    async def wide(_person: User, app: Top, *_: Any) -> None:
        row = next(line for line in screen_text(app).splitlines() if "nimble-kestrel" in line)
        assert "AskUserQuestion" in row, row

    async def usual(user: User, app: Top, *_: Any) -> None:
        await user.press("down", "down", "down", "down")
        await until(user, lambda: "last tool" in screen_text(app))

    drive(wide, width=200, height=40)
    drive(usual, width=120, height=40)


def test_it_works_in_a_small_terminal() -> None:
    """60×15: name, activity and time are shown, and no line wraps."""

    async def script(user: User, app: Top, *_: Any) -> None:
        lines = screen_text(app).splitlines()
        assert len(lines) == 15
        assert all(len(line) <= 60 for line in lines)
        assert "able-ant" in lines[2]
        assert "wants to run" in lines[2]
        assert "42 s" in lines[2]
        await user.press("tab")
        await user.pause()
        assert "docker image prune" in screen_text(app)

    drive(script, width=60, height=15)


def test_control_bytes_never_reach_the_terminal() -> None:
    """They are removed from prompts, tools, branches and turns."""

    async def script(user: User, app: Top, feed: FixedFeed, _actions: RecordingActions) -> None:
        hostile = make_agent("evil", "working", 5, HOSTILE, HOSTILE, error=HOSTILE, role=HOSTILE, last_tool=HOSTILE)
        feed.emit(FeedEvent("agent_created", {"agent_id": hostile["id"], "agent": dict(hostile)}))
        waits = [{**sample_agents()[0]["waits"][0], "text": HOSTILE, "summary": HOSTILE, "tool": HOSTILE}]
        feed.change("id-able-ant", waits=waits)
        feed.emit(
            FeedEvent(
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
        await until(user, lambda: "evil" in screen_text(app))
        shown = screen_text(app)
        for sign in ("\x1b", "\x07", "\x9b", "\u202e"):
            assert sign not in shown
        assert "[red]markup" in shown

    drive(script, width=160, height=40)


def test_an_empty_board_shows_the_next_step() -> None:
    """The texts for no agents and for no daemon are different."""

    async def run() -> None:
        app = make_app(FixedFeed([]))
        async with opened(app) as user:
            assert "headspace run" in screen_text(app)
        app = make_app(SilentFeed())
        async with app.run_test(size=(100, 20)) as user:
            await user.pause()
            assert "headspace up" in screen_text(app)

    asyncio.run(run())


def test_a_long_list_can_be_scrolled() -> None:
    """With 300 agents, the selection stays visible."""

    async def run() -> None:
        agents = [make_agent(f"agent-{n:03}", "working" if n % 3 else "idle", n * 7.0, f"p{n % 9}") for n in range(300)]
        app = make_app(FixedFeed(agents))
        async with opened(app) as user:
            await user.press("G")
            assert app.agents.index == 299
            await user.press("g", "pagedown", "pagedown", "up")
            assert app.agents.index == 2 * (app.agents.size.height - 2) - 1
            assert selected_name(app) in screen_text(app)

    asyncio.run(run())


# --- updates ----------------------------------------------------------------------------------------------------------


def test_the_selection_follows_its_agent() -> None:
    """When another agent moves up, the same agent stays selected."""

    async def script(user: User, app: Top, feed: FixedFeed, _actions: RecordingActions) -> None:
        await user.press("down", "down", "down")
        assert selected_name(app) == "sage-wombat"
        feed.change(
            "id-quick-elk", "state_changed", state="error", error="overloaded", state_since="2026-03-02T14:00:00"
        )
        await until(user, lambda: app.agents.agents[2]["name"] == "quick-elk")
        assert selected_name(app) == "sage-wombat"
        assert "stopped: overloaded" in screen_text(app)

    drive(script)


def test_unknown_agents_and_gaps_reload_the_board() -> None:
    """A created agent appears; an event of an unknown agent or a gap reloads all agents."""

    async def script(user: User, app: Top, feed: FixedFeed, _actions: RecordingActions) -> None:
        new = make_agent("brand-new", "idle", 1)
        feed.emit(FeedEvent("agent_created", {"agent_id": new["id"], "agent": dict(new)}))
        await until(user, lambda: "brand-new" in screen_text(app))
        feed.change("id-stranger", state="idle")
        feed.emit(FeedEvent("gap", {"reason": "x"}))
        await until(user, lambda: feed.reloads == 2)

    drive(script)


def test_a_lost_connection_is_shown() -> None:
    """The board stays visible, and the header shows the state of the connection."""

    async def script(user: User, app: Top, feed: FixedFeed, _actions: RecordingActions) -> None:
        feed.emit(FeedEvent("lost", {}))
        await until(user, lambda: "reconnecting" in screen_text(app))
        assert "able-ant" in screen_text(app)
        feed.emit(FeedEvent("loaded", {}, tuple(dict(agent) for agent in sample_agents()[:2])))
        await until(user, lambda: "late-wren" not in screen_text(app))
        assert screen_text(app).splitlines()[0].endswith("live")

    drive(script)


def test_new_turns_appear() -> None:
    """The conversation of the selected agent is updated."""

    async def script(user: User, app: Top, feed: FixedFeed, _actions: RecordingActions) -> None:
        await until(user, lambda: "id-able-ant" in app.board.turns)
        said = {"agent_id": "id-able-ant", "turn_id": "new", "actor": "AGENT", "text": "A new sentence."}
        feed.emit(FeedEvent("turn_created", {**said, "timestamp": "2026-03-02T13:59:59+00:00"}))
        await until(user, lambda: "A new sentence." in screen_text(app))

    drive(script)


def test_the_bell_rings_only_without_focus() -> None:
    """It rings when an agent starts to need the user while the terminal has no focus."""

    async def script(user: User, app: Top, feed: FixedFeed, actions: RecordingActions) -> None:
        feed.change("id-snug-plover", "state_changed", state="waiting", state_since="2026-03-02T14:00:00")
        await until(user, lambda: app.board.agents["id-snug-plover"]["state"] == "waiting")
        assert ("should_ring", "snug-plover") not in actions.recorded
        app.app_focus = False
        feed.change("id-sage-wombat", "state_changed", state="error", state_since="2026-03-02T14:00:00")
        await until(user, lambda: ("should_ring", "sage-wombat") in actions.recorded)
        await user.press("b")
        feed.change("id-quick-elk", "state_changed", state="error", state_since="2026-03-02T14:00:00")
        await until(user, lambda: app.board.agents["id-quick-elk"]["state"] == "error")
        assert ("should_ring", "quick-elk") not in actions.recorded

    drive(script)


# --- keys -------------------------------------------------------------------------------------------------------------


def test_moving() -> None:
    """Arrows and letters, page and edge, and the next agent that needs the user."""

    async def script(user: User, app: Top, *_: Any) -> None:
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
            await user.press(*keys)
            assert selected_name(app) == expected, keys

    drive(script)


@pytest.mark.parametrize(("key", "done"), [("enter", "able-ant"), ("1", "able-ant"), ("4", "sage-wombat")])
def test_jumping(key: str, done: str) -> None:
    """Enter jumps to the selected agent, a number to the agent with that number."""

    async def script(user: User, _app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        await user.press(key)
        await until(user, lambda: ("jump", done) in actions.recorded)

    drive(script)


def test_an_ended_agent_is_resumed_not_jumped_to() -> None:
    """Enter explains it, r resumes the agent."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        await user.press("9")
        await until(user, lambda: "Press r to resume it." in screen_text(app))
        assert actions.recorded == []
        await user.press("r")
        await until(user, lambda: ("resume", "late-wren") in actions.recorded)

    drive(script)


def test_an_error_is_shown_with_its_hint() -> None:
    """The footer shows the error of a failed action."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        actions.is_failing = True
        await user.press("enter")
        await until(user, lambda: "It does not run in tmux." in screen_text(app))
        assert "headspace run" in screen_text(app)

    drive(script)


def test_a_waiting_agent_refuses_a_prompt_before_the_user_types() -> None:
    """At a dialog or after the end, `s` opens no input. A question in plain text is answered with a prompt."""

    async def run() -> None:
        asked = Wait(id="w9", agent_id="id-plain-owl", kind="question", text="Shall I?", opened_at=NOON)
        plain = make_agent("plain-owl", "waiting", 5, waiting_for="question", waits=(asked,))
        app = make_app(FixedFeed([*sample_agents(), plain]))
        async with opened(app) as user:
            for name, refusal in (("able-ant", "waits at a dialog"), ("late-wren", "has ended"), ("plain-owl", "")):
                app.agents.select(next(at for at, each in enumerate(app.agents.agents) if each["name"] == name))
                await user.press("s")
                assert refusal in screen_text(app)
                assert app.screen.is_modal == (not refusal), name

    asyncio.run(run())


def test_sending() -> None:
    """s asks for a prompt of one or more lines; enter sends it, esc does not. An empty text is not sent."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        await user.press("down", "down", "s")
        await until(user, lambda: "prompt to olive-bee" in screen_text(app))
        await user.press(*"q1", "ctrl+j", *"two", "enter")
        await until(user, lambda: ("send", "olive-bee", "q1\ntwo") in actions.recorded)
        await until(user, lambda: "send: done" in screen_text(app))
        count = len(actions.recorded)
        await user.press("s", *"never", "escape")
        await user.press("down", "s", "enter")
        await user.pause()
        assert [call for call in actions.recorded[count:] if call[0] == "send"] == []
        assert selected_name(app) == "sage-wombat"

    drive(script)


def test_a_refused_prompt_is_not_lost() -> None:
    """If the daemon refuses it, for example because of a draft, the input opens again with the text and the reason."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        actions.is_failing = True
        await user.press("down", "down", "s", *"Again", "enter")
        await until(user, lambda: app.screen.is_modal and "Again" in screen_text(app))
        assert "It does not run in tmux." in screen_text(app)
        actions.is_failing = False
        await user.press("enter")
        await until(user, lambda: actions.recorded.count(("send", "olive-bee", "Again")) == 2)

    drive(script)


def test_a_prompt_that_was_not_sent_is_kept() -> None:
    """Esc closes the input; s opens it again with the text, for this agent only. A sent prompt leaves no draft."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        await user.press("down", "down", "s", *"Half", "escape")
        await until(user, lambda: "was not sent. Press s to continue it." in screen_text(app))
        await user.press("down", "s")
        await until(user, lambda: app.screen.is_modal)
        assert "Half" not in screen_text(app)
        await user.press("escape", "up", "s")
        await until(user, lambda: "Half" in screen_text(app))
        await user.press(*"-time", "enter")
        await until(user, lambda: ("send", "olive-bee", "Half-time") in actions.recorded)
        await user.press("s")
        await until(user, lambda: app.screen.is_modal)
        assert "Half" not in screen_text(app)

    drive(script)


def test_a_prompt_refused_while_another_dialog_is_open_is_kept() -> None:
    """The dialog stays; s opens the input with the text."""

    class SlowActions(RecordingActions):
        def __init__(self) -> None:
            super().__init__()
            self.dialog_is_open = threading.Event()

        def send(self, agent: Json, text: str, *, when_idle: bool = False) -> ActionResult:
            assert self.dialog_is_open.wait(LIMIT_SECONDS)
            self.recorded.append(("send", agent["name"], text))
            raise BadRequest("draft", "Its input box has a draft.", "")

    async def run() -> None:
        actions = SlowActions()
        app = make_app(FixedFeed(), actions)
        async with opened(app) as user:
            await user.press("down", "down", "s", *"Again", "enter", "question_mark")
            await until(user, lambda: "esc close" in screen_text(app) and app.screen.is_modal)
            actions.dialog_is_open.set()
            await until(user, lambda: ("send", "olive-bee", "Again") in actions.recorded)
            await user.press("escape", "s")
            await until(user, lambda: "Again" in screen_text(app))

    asyncio.run(run())


def test_filtering() -> None:
    """/ filters the list while typing; enter keeps the filter, esc clears it."""

    async def script(user: User, app: Top, *_: Any) -> None:
        await user.press("slash", *"api work")
        await until(user, lambda: len(app.agents.agents) == 2)
        await user.press("enter", "down")
        assert selected_name(app) == "snug-plover"
        assert "filter: api work" in screen_text(app)
        await user.press("escape")
        await until(user, lambda: len(app.agents.agents) == 9)
        await user.press("slash", *"nothing like it")
        await until(user, lambda: "No agent matches." in screen_text(app))
        await user.press("escape")
        await until(user, lambda: len(app.agents.agents) == 9)

    drive(script)


def test_a_filter_matches_parts_of_names_in_either_case() -> None:
    """Like the names in commands: the first letters of its words find an agent. The order stays that of the board."""

    async def script(user: User, app: Top, *_: Any) -> None:
        await user.press("slash", *"NK")
        await until(user, lambda: [each["name"] for each in app.agents.agents] == ["nimble-kestrel"])
        await user.press("escape", "slash", *"API Work")
        await until(user, lambda: len(app.agents.agents) == 2)

    drive(script)


def test_keys_that_follow_the_filter_key_at_once_are_text() -> None:
    """Also those that were pressed before its input had the focus: they do not act on an agent."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        select(app, "late-wren")
        for name, sign in (("slash", "/"), ("r", "r"), ("A", "A"), ("w", "w")):
            app.post_message(KeyEvent(name, sign))
        await until(user, lambda: app._filter_text == "rAw")
        await user.press("enter")
        assert (app.screen.is_modal, actions.recorded) == (False, [])

    drive(script)


FOOTER_KEYS = {
    "able-ant": "enter a / f w c p e ?",
    "olive-bee": "enter s / f w c p e ?",
    "quick-elk": "enter s / f w c p e ?",
    "late-wren": "r / f w c p e ?",
}
"""By agent: the keys that do something."""


@pytest.mark.parametrize("name", FOOTER_KEYS)
def test_the_footer_offers_only_what_applies(name: str) -> None:
    """An ended agent is resumed, one at a dialog is answered, another gets a prompt."""

    async def script(user: User, app: Top, *_: Any) -> None:
        select(app, name)
        await until(user, lambda: footer_keys(app) == FOOTER_KEYS[name].split())

    drive(script)


def test_the_footer_can_be_drawn_without_a_list() -> None:
    """While `top` ends, the list may be removed first: the footer then offers what needs no agent."""

    async def script(_user: User, app: Top, *_: Any) -> None:
        await app.agents.remove()
        assert "".join(part.text for part in app._footer_line(120)).split()[:2] == ["/", "filter"]

    drive(script)


def test_the_footer_offers_to_send_to_marked_agents() -> None:
    """Also if the selected agent takes no prompt."""

    async def script(user: User, app: Top, *_: Any) -> None:
        app.agents.marks = frozenset(["id-quick-elk"])
        select(app, "late-wren")
        await until(user, lambda: footer_keys(app)[:2] == ["s", "r"])

    drive(script)


def select(app: Top, name: str) -> None:
    """Select an agent."""
    app.agents.select_agent(f"id-{name}")


def footer_keys(app: Top) -> list[str]:
    """The keys in the footer."""
    return [hint.split()[0] for hint in screen_text(app).splitlines()[-1].split("   ") if hint.strip()]


def test_a_message_does_not_hide_the_filter() -> None:
    """The footer shows the filter, how to clear it, and the message."""

    async def script(user: User, app: Top, *_: Any) -> None:
        await user.press("slash", *"api work", "enter", "b")
        await until(user, lambda: "Bell off." in screen_text(app))
        footer = screen_text(app).splitlines()[-1]
        assert footer.split() == "filter: api work esc clear Bell off.".split()

    drive(script)


def headings(app: Top) -> str:
    """The names of the columns."""
    return next(line for line in screen_text(app).splitlines() if "activity" in line).partition("││")[0]


def test_the_client_of_an_agent() -> None:
    """A quiet column if there are several clients; the filter finds one by its name. The details name it."""

    async def run() -> None:
        app = make_app(FixedFeed([*sample_agents(), make_agent("deft-mole", "idle", 5, client="codex")]))
        async with opened(app, width=160) as user:
            assert "client" in headings(app)
            await user.press("slash", *"client:codex", "enter")
            await until(user, lambda: len(app.agents.agents) == 1)
            assert selected_name(app) == "deft-mole"
            assert "Codex, on desk" in screen_text(app)

    asyncio.run(run())


def test_one_client_needs_no_column() -> None:
    """While all agents use the same."""

    async def script(_user: User, app: Top, *_: Any) -> None:
        assert "client" not in headings(app)

    drive(script, width=160)


@pytest.mark.parametrize(
    ("key", "capability"),
    [
        ("s", Capability.SEND),
        ("x", Capability.INTERRUPT),
        ("c", Capability.CHANGES),
        ("a", Capability.ANSWER_PERMISSION),
    ],
)
def test_keys_say_what_the_client_cannot_do(key: str, capability: Capability) -> None:
    """With the sentence of the client, and without an action."""

    async def run(client: Client) -> None:
        asked = Wait(id="w9", agent_id="id-deft-mole", kind="permission", text="make", opened_at=NOON)
        waits = (asked,) if capability is Capability.ANSWER_PERMISSION else ()
        agent = make_agent("deft-mole", "waiting" if waits else "working", 5, client=client.name, waits=waits)
        actions = RecordingActions()
        app = make_app(FixedFeed([agent]), actions)
        async with opened(app, width=160) as user:
            await user.press(key)
            await user.pause()
            assert client.limits[capability] in screen_text(app)
            assert not app.screen.is_modal
            assert actions.recorded == []

    with limited_client() as client:
        asyncio.run(run(client))


def test_hiding_ended_agents() -> None:
    """e hides them, the footer shows their number, and e shows them again."""

    async def script(user: User, app: Top, *_: Any) -> None:
        await user.press("e")
        await until(user, lambda: "late-wren" not in screen_text(app))
        assert "1 ended hidden" in screen_text(app)
        await user.press("e")
        await until(user, lambda: "late-wren" in screen_text(app))

    drive(script)


def test_evidence_and_layouts() -> None:
    """w shows the evidence, tab switches the layout, esc returns to the first layout."""

    async def script(user: User, app: Top, *_: Any) -> None:
        await user.press("down", "w")
        await until(user, lambda: "AskUserQuestion waits" in screen_text(app))
        await user.press("w")
        await until(user, lambda: "1. SQLite: fast, in memory" in screen_text(app))
        await user.press("tab")
        await until(user, lambda: "able-ant" not in screen_text(app))
        await user.press("tab")
        await until(user, lambda: "SQLite" not in screen_text(app))
        await user.press("escape")
        await until(user, lambda: "SQLite" in screen_text(app) and "able-ant" in screen_text(app))

    drive(script, width=200, height=40)


def test_esc_closes_the_evidence_before_the_filter() -> None:
    """One thing for each Esc, and the footer says which."""

    async def script(user: User, app: Top, *_: Any) -> None:
        await user.press("slash", *"kestrel", "enter", "w")
        await until(user, lambda: "States, newest first" in screen_text(app))
        assert "esc close why" in screen_text(app)
        await user.press("escape")
        await until(user, lambda: "States, newest first" not in screen_text(app))
        assert "filter: kestrel  esc clear" in screen_text(app)
        await user.press("escape")
        await until(user, lambda: len(app.agents.agents) == 9)

    drive(script)


def test_labels_do_not_run_into_their_texts() -> None:
    """There is a space after the longest label, too."""

    async def script(user: User, app: Top, *_: Any) -> None:
        await user.press("down", "tab")
        await until(user, lambda: "to-do list 1 of 3 done" in screen_text(app))

    drive(script, width=120, height=50)


def test_turns_of_other_days_have_a_date() -> None:
    """A turn of today shows its time, an older one also its day."""
    lines = conversation_lines(
        [make_turn(1, "USER", "Begin.", 86_400), make_turn(2, "AGENT", "Done.", 60)], clock(), 80
    )
    texts = ["".join(span.text for span in line) for line in lines]
    assert texts[-2:] == ["  13:59 agent Done.", "  03-01 14:00 you   Begin."]


@pytest.mark.parametrize(("size", "border"), [((120, 30), 1), ((60, 15), 0)])
def test_a_click_selects_the_row_under_the_pointer(size: tuple[int, int], border: int) -> None:
    """With and without a border. A double click jumps to that agent; a click below the last row selects nothing."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        row = next(at for at, line in enumerate(screen_text(app).splitlines()) if "snug-plover" in line)
        y = row - app.agents.region.y
        assert y == 5 + border
        await user.click("#agents", offset=(5, y))
        await until(user, lambda: selected_name(app) == "snug-plover")
        await user.click("#agents", offset=(5, app.agents.region.height - 1 - border))
        await user.click("#agents", offset=(5, border))
        assert selected_name(app) == "snug-plover"
        await user.double_click("#agents", offset=(5, y - 1))
        await until(user, lambda: ("jump", "sage-wombat") in actions.recorded)
        assert [call for call in actions.recorded if call[0] == "jump"] == [("jump", "sage-wombat")]

    drive(script, width=size[0], height=size[1])


def test_a_double_click_does_not_jump_to_an_agent_that_moved_under_the_pointer() -> None:
    """Both clicks must be on the same agent."""

    async def script(user: User, app: Top, feed: FixedFeed, actions: RecordingActions) -> None:
        await user.click("#agents", offset=(5, 6))
        assert selected_name(app) == "snug-plover"
        feed.change("id-quick-elk", "state_changed", state="error", state_since=iso_ago(0))
        await until(user, lambda: app.agents.agents[4]["name"] != "snug-plover")
        app.agents.post_message(double_click_at(app, 6))
        await until(user, lambda: selected_name(app) != "snug-plover")
        await user.pause()
        assert not any(call[0] == "jump" for call in actions.recorded)

    drive(script)


def double_click_at(app: Top, y: int) -> Click:
    """The second click of a double click on a row of the list."""
    x, top = app.agents.region.offset
    return Click(app.agents, 5, y, 0, 0, 1, False, False, False, screen_x=x + 5, screen_y=top + y, chain=2)


@pytest.mark.parametrize("name", ["golden-trout", "olive-bee", "late-wren"])
def test_an_agent_that_does_nothing_is_not_interrupted(name: str) -> None:
    """x says so at once, without a question."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        app.agents.select([agent["name"] for agent in app.agents.agents].index(name))
        await user.press("x")
        await until(user, lambda: f"{name} is doing nothing that could be interrupted." in screen_text(app))
        await user.press("x")
        assert not any(call[0] == "interrupt" for call in actions.recorded)

    drive(script)


def test_no_color_means_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    """All text has the colours of the terminal; the selected row is reversed. t changes nothing."""
    monkeypatch.setenv("NO_COLOR", "1")

    async def script(user: User, app: Top, *_: Any) -> None:
        await user.press("down", "t")
        await until(user, lambda: "NO_COLOR is set" in screen_text(app))
        drawn = [segment for strip in app.screen._compositor.render_strips() for segment in strip]
        found = {part for each in drawn if each.style for part in (each.style.color, each.style.bgcolor) if part}
        assert {part.name for part in found} == {"default"}
        assert any(each.style and each.style.reverse and "shop" in each.text for each in drawn)

    drive(script)


def test_scrolling_the_details() -> None:
    """] and [ scroll the details."""

    async def script(user: User, app: Top, *_: Any) -> None:
        await until(user, lambda: "id-able-ant" in app.board.turns)
        await user.pause()
        before = screen_text(app)
        await user.press("right_square_bracket")
        await until(user, lambda: screen_text(app) != before)
        await user.press("left_square_bracket")
        await until(user, lambda: screen_text(app) == before)

    drive(script, width=100, height=26)


def test_a_selected_agent_is_marked_as_seen() -> None:
    """After a second. An agent that is already seen is not marked again."""

    async def script(user: User, _app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        await user.press("down")
        await until(user, lambda: ("mark_seen", "nimble-kestrel") in actions.recorded)
        await user.press("down")
        await user.pause(1.2)
        assert ("mark_seen", "olive-bee") not in actions.recorded

    drive(script)


def test_themes() -> None:
    """t switches between dark, light and terminal."""

    async def script(user: User, app: Top, *_: Any) -> None:
        seen = []
        for _number in range(3):
            await user.press("t")
            seen.append(app.theme)
        assert seen == ["light", "terminal", "dark"]

    drive(script)


def test_help_shows_all_keys() -> None:
    """? shows the help; esc closes it."""

    async def script(user: User, app: Top, *_: Any) -> None:
        await user.press("question_mark")
        await until(user, lambda: "esc close" in screen_text(app))
        for key in KEYS:
            assert f" {key.label:<11}{key.description}" in screen_text(app), key
        await user.press("escape")
        await until(user, lambda: "esc close" not in screen_text(app))

    drive(script, width=120, height=80)


def test_quitting() -> None:
    """q quits."""

    async def script(user: User, app: Top, *_: Any) -> None:
        await user.press("q")
        await until(user, lambda: app._exit)

    drive(script)


def test_there_is_no_polling() -> None:
    """Details are loaded once. Without events, nothing else is requested."""

    async def script(user: User, app: Top, feed: FixedFeed, _actions: RecordingActions) -> None:
        await until(user, lambda: "id-able-ant" in app.board.turns)
        await user.pause(2.5)
        assert feed.details_requests == ["id-able-ant"]
        assert feed.reloads == 0

    drive(script)


def test_changes_are_shown_over_the_board() -> None:
    """With marks for hidden characters; esc returns to the board."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        name = selected_name(app)
        await user.press("c")
        await until(user, lambda: f"changes of {name}" in screen_text(app) and "-old" in screen_text(app))
        shown = screen_text(app)
        assert ("changes", name) in actions.recorded
        assert "0123456789 Rename the button" in shown
        assert "modified src/button.py  +1 −1" in shown
        assert "+new ⟦U+202E⟧⟦U+001B⟧[31m" in shown
        await user.press("end", "pageup", "k", "j", "home", "escape")
        await until(user, lambda: "changes of" not in screen_text(app))

    drive(script)


def test_changes_that_cannot_be_read_are_reported() -> None:
    """In the footer; nothing opens."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        actions.is_failing = True
        await user.press("c")
        await until(user, lambda: "does not run in tmux" in screen_text(app))
        assert not app.screen.is_modal

    drive(script)
