"""Search in `headspace top`."""

from claude_headspace.surfaces.tui.app import Top
from tests.tui.board import FixedFeed, RecordingActions, make_hit, screen_text
from tests.tui.test_app import User, drive, selected_name, until


async def search(user: User, app: Top, actions: RecordingActions, text: str) -> None:
    """Open the panel and type a text."""
    actions.hits = [make_hit("snug-plover", "needle one"), make_hit("late-wren", "needle two"), make_hit("gone", "hay")]
    await user.press("f")
    await until(user, lambda: "search all agents" in screen_text(app))
    await user.press(*text)


def test_enter_jumps_to_the_agent_of_a_result() -> None:
    """It is also selected on the board."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        await search(user, app, actions, "needle")
        await until(user, lambda: "we need needle one" in screen_text(app))
        assert "▌ snug-plover  shop · prompt" in screen_text(app)
        assert ("search", "needle") in actions.recorded
        await user.press("enter")
        await until(user, lambda: ("jump", "snug-plover") in actions.recorded)
        assert selected_name(app) == "snug-plover"

    drive(script)


def test_enter_resumes_an_ended_agent() -> None:
    """Also one that is not on the board any more."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        await search(user, app, actions, "needle")
        await until(user, lambda: "needle two" in screen_text(app))
        await user.press("down", "enter")
        await until(user, lambda: ("resume", "late-wren") in actions.recorded)
        await search(user, app, actions, "hay")
        await until(user, lambda: "▌ gone" in screen_text(app))
        await user.press("enter")
        await until(user, lambda: ("resume", "gone") in actions.recorded)
        assert not [call for call in actions.recorded if call[0] == "jump"]

    drive(script)


def test_a_result_can_be_selected_on_the_board() -> None:
    """Without going there."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        await search(user, app, actions, "needle")
        await until(user, lambda: "needle one" in screen_text(app))
        await user.press("ctrl+o")
        await until(user, lambda: selected_name(app) == "snug-plover")
        assert not [call for call in actions.recorded if call[0] in ("jump", "resume")]

    drive(script)


def test_nothing_found() -> None:
    """The panel says so with a hint; enter does nothing; esc closes it."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        await search(user, app, actions, "zebra")
        await until(user, lambda: "No results for 'zebra'." in screen_text(app))
        assert "Try less." in screen_text(app)
        await user.press("enter")
        assert "search all agents" in screen_text(app)
        await user.press("escape")
        await until(user, lambda: "search all agents" not in screen_text(app))

    drive(script)
