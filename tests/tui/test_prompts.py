"""Prompts in `headspace top`: to several agents, when idle, saved ones, and the queue."""

import asyncio
from typing import Any

from claude_headspace.kernel.pending_prompts import PendingPrompt
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.tui.app import Top
from tests.tui.board import FixedFeed, RecordingActions, ago, make_agent, make_app, sample_agents, screen_text
from tests.tui.test_app import User, drive, opened, until


def pending_agent(name: str, *texts: str) -> Json:
    """A working agent with pending prompts."""
    prompts = tuple(PendingPrompt(id=f"{name}-{text}", summary=text, at=ago(120), by="ann") for text in texts)
    return make_agent(name, "working", 60, pending_prompts=prompts)


def test_a_prompt_waits_until_the_agent_is_idle() -> None:
    """ctrl+s sends the typed text when the agent is idle."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        app.agents.select_agent("id-snug-plover")
        await user.press("s", *"later", "ctrl+s")
        await until(user, lambda: ("send", "snug-plover", "later", "when idle") in actions.recorded)

    drive(script)


def test_saved_prompts_are_inserted_one_after_the_other() -> None:
    """ctrl+p inserts the next saved prompt, and replaces an unchanged one."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        app.agents.select_agent("id-quick-elk")
        await user.press("s", "ctrl+p")
        await until(user, lambda: "Review it." in screen_text(app))
        await user.press("ctrl+p")
        await until(user, lambda: "Test it." in screen_text(app))
        assert "Review it." not in screen_text(app)
        await user.press("enter")
        await until(user, lambda: ("send", "quick-elk", "Test it.") in actions.recorded)

    drive(script)


def test_a_prompt_goes_to_all_marked_agents() -> None:
    """m marks agents; the result of each is shown, and then no agent is marked."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        for name in ("golden-trout", "quick-elk"):
            app.agents.select_agent(f"id-{name}")
            await user.press("m")
        await until(user, lambda: "2 agents marked" in screen_text(app))
        await user.press("s", *"both", "enter")
        await until(user, lambda: "quick-elk received the prompt." in screen_text(app))
        assert ("send_all", "golden-trout", "quick-elk", "both") in actions.recorded
        assert "golden-trout received the prompt." in screen_text(app)
        assert app.agents.marks == frozenset()

    drive(script)


def test_marks_are_visible_and_esc_removes_them() -> None:
    """A marked agent has a plus sign. Marking it again unmarks it."""

    async def script(user: User, app: Top, *_: Any) -> None:
        app.agents.select_agent("id-quick-elk")
        await user.press("m")
        row = next(each for each in screen_text(app).splitlines() if "quick-elk" in each)
        assert "+" in row
        await user.press("escape")
        await until(user, lambda: app.agents.marks == frozenset())
        app.agents.select_agent("id-quick-elk")
        await user.press("m")
        app.agents.select_agent("id-quick-elk")
        await user.press("m")
        assert app.agents.marks == frozenset()

    drive(script)


def test_pending_prompts_are_shown_with_their_agent() -> None:
    """The row counts them, the details have their texts."""

    async def script(user: User, app: Top) -> None:
        await until(user, lambda: "1 prompt pending" in screen_text(app))
        await until(user, lambda: "Pending prompts" in screen_text(app))

    async def main() -> None:
        app = make_app(FixedFeed([pending_agent("busy-bee", "Then test it.")]))
        async with opened(app) as user:
            await script(user, app)

    asyncio.run(main())


def test_a_pending_prompt_is_cancelled_in_the_queue() -> None:
    """Q lists the prompts of all agents. x cancels the one at the cursor, and only that one."""

    async def main() -> None:
        feed, actions = FixedFeed([pending_agent("busy-bee", "one", "two"), *sample_agents()]), RecordingActions()
        app = make_app(feed, actions)
        async with opened(app) as user:
            await user.press("Q")
            await until(user, lambda: "pending prompts" in screen_text(app))
            await user.press("down", "x")
            await until(user, lambda: ("cancel_prompt", "busy-bee", "busy-bee-two") in actions.recorded)
            one = pending_agent("busy-bee", "one")["pending_prompts"]
            feed.change("id-busy-bee", pending_prompts=one)
            await until(user, lambda: "“two”" not in screen_text(app))
            await user.press("x")
            await user.pause()
            assert [call for call in actions.recorded if call[0] == "cancel_prompt"] == [
                ("cancel_prompt", "busy-bee", "busy-bee-two")
            ]
            await user.press("escape")
            await until(user, lambda: not app.screen.is_modal)

    asyncio.run(main())
