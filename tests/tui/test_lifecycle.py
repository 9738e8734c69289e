"""The keys of `top` that start, fork, stop, rename, note and archive agents."""

import asyncio

from claude_headspace.surfaces.tui.app import Top
from tests.tui.board import FixedFeed, RecordingActions, Ticks, make_app, screen_text
from tests.tui.test_app import User, drive, opened, until


def select(app: Top, name: str) -> None:
    """Select an agent."""
    app.agents.select(next(at for at, each in enumerate(app.agents.agents) if each["name"] == name))


def test_a_new_agent_is_asked_for_in_a_form() -> None:
    """N suggests the project and the client of the selected agent; enter starts the agent. A refusal keeps the form."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        actions.is_failing = True
        root = app.agents.selected["project"]["root"] if app.agents.selected else ""
        await user.press("N")
        await until(user, lambda: "new agent" in screen_text(app))
        await user.press(*"Fix it", "up", *"plan", "tab", "enter")
        call = ("new", root, "claude-code", "plan", "Fix it")
        await until(user, lambda: call in actions.recorded)
        await until(user, lambda: app.screen.is_modal and "It does not run in tmux." in screen_text(app))
        actions.is_failing = False
        await user.press("enter")
        await until(user, lambda: actions.recorded.count(call) == 2)
        await until(user, lambda: "new: done" in screen_text(app))
        assert len(app.agents.agents) > 1  # what was typed is no filter

    drive(script)


def test_stopping_needs_a_confirmation() -> None:
    """X asks. Only `y` stops the agent, and not within half a second. An ended agent is not stopped."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        select(app, "olive-bee")
        for no in ("escape", "enter", "n"):
            await user.press("X")
            await until(user, lambda: "Stop olive-bee" in screen_text(app))
            await user.press(no)
            await until(user, lambda: not app.screen.is_modal)
        assert ("stop", "olive-bee") not in actions.recorded
        await user.press("X")
        await until(user, lambda: app.screen.is_modal)
        await user.press("y")
        await until(user, lambda: ("stop", "olive-bee") in actions.recorded)
        select(app, "late-wren")
        await user.press("X")
        await until(user, lambda: "late-wren has ended. Press A to archive it." in screen_text(app))

    drive(script)


def test_a_confirmation_that_comes_too_early_does_not_count() -> None:
    """A `y` that was meant for something else stops no agent."""

    async def run() -> None:
        ticks, actions = Ticks(), RecordingActions()
        ticks.now = 10.0
        app = make_app(actions=actions, monotonic=ticks)
        async with opened(app) as user:
            select(app, "olive-bee")
            await user.press("X", "y")
            await until(user, lambda: "Too early" in screen_text(app))
            assert ("stop", "olive-bee") not in actions.recorded
            ticks.now += 10
            await user.press("y")
            await until(user, lambda: ("stop", "olive-bee") in actions.recorded)

    asyncio.run(run())


def test_agents_are_forked_renamed_noted_and_archived() -> None:
    """F asks for a prompt, R for a name, M for a note; A archives only an ended agent, after a question."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        select(app, "olive-bee")
        await user.press("F")
        await until(user, lambda: "continue the conversation of olive-bee" in screen_text(app))
        await user.press(*"Again", "enter")
        await until(user, lambda: ("fork", "olive-bee", "Again") in actions.recorded)
        await user.press("R")
        await until(user, lambda: "rename olive-bee" in screen_text(app))
        await user.press(*"-2", "enter")
        await until(user, lambda: ("rename", "olive-bee", "olive-bee-2") in actions.recorded)
        await user.press("M")
        await until(user, lambda: "note on olive-bee" in screen_text(app))
        await user.press(*"Mine", "enter")
        await until(user, lambda: any(call[:2] == ("note", "olive-bee") for call in actions.recorded))
        await user.press("A")
        await until(user, lambda: "olive-bee is still running. Press X to stop it." in screen_text(app))
        select(app, "late-wren")
        await user.press("A")
        await until(user, lambda: "Take late-wren off the board?" in screen_text(app))
        await user.press("y")
        await until(user, lambda: ("archive", "late-wren") in actions.recorded)

    drive(script)


def test_an_archived_agent_leaves_the_list() -> None:
    """The stream says so."""

    async def script(user: User, app: Top, feed: FixedFeed, _actions: RecordingActions) -> None:
        feed.change("id-late-wren", archived=True)
        await until(user, lambda: "late-wren" not in [each["name"] for each in app.agents.agents])

    drive(script)


def test_the_worktree_of_an_agent_is_merged_after_a_confirmation() -> None:
    """W offers merge, rebase and removal with the distance. An agent elsewhere has nothing to offer."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        select(app, "late-wren")
        await user.press("W")
        await until(user, lambda: "late-wren does not work in a git worktree." in screen_text(app))
        select(app, "olive-bee")
        agent = app.agents.selected
        assert isinstance(agent, dict)
        agent["branch"] = "login"
        distance = {"base": "main", "ahead": 2, "behind": 0, "uncommitted": 1}
        agent["worktree"] = {"root": "/w/login", **distance, "removed": False}
        for key, what in (("m", "merge"), ("d", "remove")):
            await user.press("W")
            await until(user, lambda: "2 commits ahead of main, 1 file not committed" in screen_text(app))
            await user.press(key)
            await until(user, lambda: "y yes" in screen_text(app))
            assert ("worktree", "olive-bee", what) not in actions.recorded
            await user.press("y")
            await until(user, lambda what=what: ("worktree", "olive-bee", what) in actions.recorded)  # type: ignore[misc]

    drive(script)
