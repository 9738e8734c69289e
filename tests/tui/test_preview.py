"""The preview in `headspace top`."""

import asyncio
from functools import partial
from typing import Any

from claude_headspace.surfaces.client.preview import Preview
from claude_headspace.surfaces.tui.app import Top
from claude_headspace.surfaces.tui.preview import STEADY_SECONDS
from tests.tui.board import FixedFeed, RecordingActions, Ticks, make_agent, make_app, screen_text
from tests.tui.test_app import User, drive, opened, until


def test_the_preview_shows_the_screen_in_colour() -> None:
    """The end of a screen that is too high. Esc shows the details again."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        lines = "\n".join(f"line {number}" for number in range(60))
        actions.screens["able-ant"] = Preview(f"{lines}\n\x1b[31mProceed?\x1b[0m\n\n\n", "%7")
        assert "Proceed?" not in screen_text(app)
        await user.press("p")
        await until(user, lambda: "Proceed?" in screen_text(app))
        assert "line 59" in screen_text(app)
        assert "line 3\n" not in screen_text(app)
        segments = [segment for strip in app.screen._compositor.render_strips() for segment in strip]
        [question] = [segment for segment in segments if "Proceed?" in segment.text]
        assert question.style is not None
        assert question.style.color is not None
        await user.press("escape")
        await until(user, lambda: "Proceed?" not in screen_text(app))

    drive(script)


def test_the_preview_follows_the_screen_and_the_selection() -> None:
    """A changed screen appears without a key, and another agent has its own."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        actions.screens = {"able-ant": Preview("first", "%7"), "nimble-kestrel": Preview("other", "%8")}
        await user.press("p")
        await until(user, lambda: "first" in screen_text(app))
        actions.screens["able-ant"] = Preview("second", "%7")
        await until(user, lambda: "second" in screen_text(app))
        await user.press("j")
        await until(user, lambda: "other" in screen_text(app))
        assert "second" not in screen_text(app)

    drive(script)


def test_without_a_screen_the_last_message_is_shown() -> None:
    """And the reason."""

    async def script(user: User, app: Top, *_: Any) -> None:
        await user.press("p")
        await until(user, lambda: "It has no terminal." in screen_text(app))
        assert "Last message" in screen_text(app)

    drive(script, width=160)


def is_read_again(actions: RecordingActions, before: int) -> bool:
    """Whether a preview was read after so many."""
    return len(actions.previews) > before


def test_the_preview_is_read_only_while_it_is_visible() -> None:
    """Not before it is opened, not after it is closed, not below a dialog; in a small terminal it gets the screen."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        actions.screens["able-ant"] = Preview("hello", "%7")
        await user.pause(0.1)
        assert actions.previews == []
        await user.press("p")
        await until(user, lambda: "hello" in screen_text(app))
        for closing, opening in (("p", "p"), ("question_mark", "escape")):
            await user.press(closing)
            await user.pause(STEADY_SECONDS / 2)
            before = len(actions.previews)
            await user.pause(2 * STEADY_SECONDS)
            assert len(actions.previews) == before
            await user.press(opening)
            await until(user, partial(is_read_again, actions, before))

    drive(script, width=60, height=15)


def test_a_question_at_the_start_of_a_client_is_shown() -> None:
    """A client that has been silent since its start may ask something: `a` shows its screen."""

    async def run() -> None:
        actions = RecordingActions()
        actions.screens["new-mole"] = Preview("Do you trust this folder?", "%7")
        app = make_app(FixedFeed([make_agent("new-mole", "starting", 60)]), actions, monotonic=Ticks())
        async with opened(app, width=180) as user:
            assert "its terminal may show a question" in screen_text(app)
            await user.press("a")
            await until(user, lambda: "Do you trust this folder?" in screen_text(app))
            assert "Press enter to jump there." in screen_text(app)

    asyncio.run(run())


def test_a_dialog_that_only_the_terminal_can_answer_is_shown() -> None:
    """`a` explains that, and opens the preview."""

    async def run() -> None:
        actions = RecordingActions()
        actions.screens["able-ant"] = Preview("Do you trust this folder?", "%7")
        app = make_app(actions=actions, monotonic=Ticks())
        async with opened(app) as user:
            await user.press("a")
            await until(user, lambda: "Do you trust this folder?" in screen_text(app))
            assert "Press enter to jump there." in screen_text(app)

    asyncio.run(run())
