"""The user's own keys: `keys.toml`, its checks, and their effect in `top`."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.errors import BadConfiguration
from claude_headspace.surfaces.tui.app import Top
from claude_headspace.surfaces.tui.keymap import apply_entries, load_keys, translate
from claude_headspace.surfaces.tui.keys import KEYS
from tests.tui.board import FixedFeed, RecordingActions, clock, make_agent, make_app, screen_text
from tests.tui.test_app import opened, until


def test_the_default_keys_have_no_conflict_and_every_action_a_name() -> None:
    """The table itself passes the check that users' keys pass."""
    assert apply_entries({}) == KEYS
    names = [key.id for key in KEYS]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() for name in names)


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ({"sned": "S"}, "there is no action `sned`"),
        ({"send": "a"}, "the key `a` belongs to `send` and `answer`"),
        ({"filter": ["/", "?"]}, "the key `?` belongs to `filter` and `help`"),
        ({"send": "ctrl+c"}, "`ctrl+c` cannot be a key of `send`"),
        ({"send": "5"}, "`5` cannot be a key of `send`"),
        ({"send": "tab"}, "`tab` cannot be a key of `send`"),
        ({"send": "shift+ctrl"}, "cannot be a key"),
        ({"send": 3}, "must be a key or a list of keys"),
        ({"jump_to": "x"}, "there is no action `jump_to`"),
    ],
)
def test_a_wrong_entry_is_an_error(entries: dict[str, Any], problem: str) -> None:
    """The message names the action and the key."""
    with pytest.raises(ValueError, match=re.escape(problem)):
        apply_entries(entries)


def test_two_actions_can_swap_their_keys() -> None:
    """Only the result must be free of conflicts."""
    keys = {key.id: key.names for key in apply_entries({"send": "a", "answer": "s"})}
    assert (keys["send"], keys["answer"]) == ("a", "s")


def test_the_file_is_optional_and_checked(tmp_path: Path) -> None:
    """Without a file the default keys count. A broken one is named in the error."""
    file = tmp_path / "keys.toml"
    assert load_keys(file) == KEYS
    file.write_text('send = ["S", "ctrl+s"]\nleave = "Z"\n')
    changed = {key.id: (key.names, key.label) for key in load_keys(file)}
    assert changed["send"] == ("S,ctrl+s", "S ctrl+s")
    assert changed["leave"] == ("Z,ctrl+c", "Z")
    file.write_text("send = [")
    with pytest.raises(BadConfiguration, match=r"keys\.toml"):
        load_keys(file)


def test_messages_name_the_keys_in_use() -> None:
    """A hint about a default key has the user's key."""
    keys = apply_entries({"resume": "u"})
    assert translate("It has ended. Press r to resume it.", keys) == "It has ended. Press u to resume it."
    assert translate("Press enter to jump there.", keys) == "Press enter to jump there."


def test_clicks_meet_their_rows_in_a_scrolled_list_and_fold_groups() -> None:
    """A click selects the row under the pointer after scrolling, too. A double click on a heading folds the group."""

    async def main() -> None:
        agents = [make_agent(f"agent-{number:02}", "idle", 60) for number in range(40)]
        app = make_app(FixedFeed(agents))
        async with opened(app, height=20) as user:
            await user.press("end")
            await until(user, lambda: app.agents.scroll_offset.y > 0)
            await user.click("#agents", offset=(5, 4))
            expected = app.agents.agents[app.agents.scroll_offset.y + 2]["id"]
            await until(user, lambda: app.agents.selected_id == expected)
            await user.press("home", "v")
            await until(user, lambda: len(app.agents.rows) > len(app.agents.agents))
            await user.press("home")
            await user.double_click("#agents", offset=(5, 2))
            await until(user, lambda: not app.agents.agents)

    asyncio.run(main())


def test_own_keys_work_and_are_shown() -> None:
    """The new key acts, the old one does not; footer, help and messages show the new one."""

    async def main() -> None:
        actions = RecordingActions()
        keys = apply_entries({"send": "y", "leave": "Z", "help": "h"})
        app = Top(FixedFeed(), actions, clock, keys=keys)
        async with opened(app) as user:
            app.agents.select_agent("id-quick-elk")
            await until(user, lambda: "y send" in screen_text(app))
            await user.press("s")
            await user.pause()
            assert not app.screen.is_modal
            await user.press("y", *"hi", "enter")
            await until(user, lambda: ("send", "quick-elk", "hi") in actions.recorded)
            await user.press("h")
            await until(user, lambda: " y          send a prompt" in screen_text(app))
            await user.press("escape", "Z")
            await until(user, lambda: app._exit)

    asyncio.run(main())
