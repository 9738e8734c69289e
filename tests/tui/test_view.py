"""Order, groups, pins and row numbers in `headspace top`."""

import asyncio
from typing import Any

from textual.events import AppFocus

from claude_headspace.surfaces.text.board_order import BoardView
from claude_headspace.surfaces.tui.app import Top
from claude_headspace.surfaces.tui.row_numbers import RowNumbers
from tests.tui.board import FixedFeed, RecordingActions, iso_ago, make_app, screen_text
from tests.tui.test_app import User, drive, opened, selected_name, until


def names(app: Top) -> list[str]:
    """The agents in the list."""
    return [agent["name"] for agent in app.agents.agents]


def numbers(app: Top) -> dict[str, int]:
    """The number of each agent that has one."""
    return {agent["name"]: number for agent in app.agents.agents if (number := app.agents.numbers.of(agent["id"]))}


def test_sorting_is_stored() -> None:
    """`o` chooses the next order, for `list`, too; the title names it."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        await user.press("o")
        await until(user, lambda: names(app)[:3] == ["able-ant", "fresh-mole", "golden-trout"])
        assert actions.view == BoardView(sort="name")
        assert "agents 9 · by name" in screen_text(app)

    drive(script)


def test_pinning() -> None:
    """A pinned agent is first and marked, and stays selected; `P` again unpins it."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        await user.press("end", "P")
        await until(user, lambda: names(app)[0] == "late-wren")
        assert "–*late-wren" in screen_text(app)
        assert selected_name(app) == "late-wren"
        assert actions.view.pins == ("id-late-wren",)
        await user.press("P")
        await until(user, lambda: names(app)[0] == "able-ant")

    drive(script)


def test_groups_can_be_folded() -> None:
    """The heading of a folded group shows its agents by state. Enter or space unfolds it."""

    async def script(user: User, app: Top, _feed: FixedFeed, actions: RecordingActions) -> None:
        await user.press("v")
        await until(user, lambda: "▾ api" in screen_text(app))
        assert names(app)[:3] == ["sage-wombat", "snug-plover", "golden-trout"]
        app.agents.select_agent("id-snug-plover")
        await user.press("space")
        await until(user, lambda: "▸ api  ● 2 working · ○ 1 idle" in screen_text(app))
        assert "snug-plover" not in names(app)
        assert app.agents.selected is None
        await user.press("s", "a", "x")  # there is no agent to act on
        assert actions.view.folded == ("api",)
        await user.press("enter")
        await until(user, lambda: "snug-plover" in names(app))
        await user.press("down")
        assert selected_name(app) == "sage-wombat"

    drive(script, width=140, height=40)


def test_the_stored_view_is_used() -> None:
    """Groups and folds of the last time."""

    async def run() -> None:
        actions = RecordingActions()
        actions.view = BoardView(group="state", folded=("ended",))
        app = make_app(actions=actions)
        async with opened(app) as user:
            await until(user, lambda: "▸ ended" in screen_text(app))
            assert selected_name(app) == "able-ant"

    asyncio.run(run())


def test_numbers_stay_while_the_user_looks() -> None:
    """A changed order does not change them. They are given again when the user comes back, or changes the list."""

    async def script(user: User, app: Top, feed: FixedFeed, actions: RecordingActions) -> None:
        before = numbers(app)
        assert list(before.values()) == list(range(1, 10))
        feed.change("id-quick-elk", "state_changed", state="waiting", state_since=iso_ago(1), unseen=True)
        await until(user, lambda: names(app)[0] == "quick-elk")
        assert numbers(app) == {"quick-elk": 6, **before}
        await user.press("1")
        await until(user, lambda: ("jump", "able-ant") in actions.recorded)
        app.post_message(AppFocus())
        await until(user, lambda: numbers(app)["quick-elk"] == 1)
        await user.press("1")
        await until(user, lambda: ("jump", "quick-elk") in actions.recorded)

    drive(script)


def test_new_agents_get_unused_numbers() -> None:
    """Never one that another agent had."""
    given = RowNumbers()
    given.assign(["a", "b"])
    given.assign(["new", "a"])
    assert [given.of(each) for each in ("a", "b", "new", "other")] == [1, 2, 3, 0]
    given.assign(str(number) for number in range(20))
    assert given.agent(9) == "5"
    given.restart()
    given.assign(["new", "a"])
    assert (given.agent(1), given.agent(3)) == ("new", None)


def test_the_next_agent_that_needs_the_user_may_be_in_a_folded_group() -> None:
    """Then `n` selects the heading."""

    async def script(user: User, app: Top, *_: Any) -> None:
        await user.press("v")
        app.agents.select_agent("id-able-ant")
        await user.press("space", "home", "n")
        await until(user, lambda: app.agents.selected_id == "group:infra")

    drive(script, height=40)
