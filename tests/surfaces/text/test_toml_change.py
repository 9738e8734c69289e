"""Changes in the text of TOML files."""

from typing import Any

import pytest

from claude_headspace.errors import BadConfiguration
from claude_headspace.surfaces.text.toml_change import KeyPath, change_setting, change_toml


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "port = 5056\n"),
        ("port = 1 # old\n", "port = 5056 # old\n"),
        ("host = 'a'\n", "host = 'a'\nport = 5056\n"),
        ("# mine\nhost = 'a'\nport=1\n", "# mine\nhost = 'a'\nport=5056\n"),
        ("[policy]\npreset = 'off'\n", "port = 5056\n\n[policy]\npreset = 'off'\n"),
    ],
)
def test_only_the_setting_changes(before: str, after: str) -> None:
    """Its value is replaced, or added before the first table."""
    assert change_setting(before, "port", 5056, "config.toml") == after


def test_a_setting_stays_in_its_table() -> None:
    """`[policy] preset` is not added a second time as `policy_preset`."""
    assert change_setting("[policy]\npreset = 'off' # why\n", "policy_preset", "watch", "config.toml") == (
        '[policy]\npreset = "watch" # why\n'
    )


def test_a_value_of_several_lines_is_replaced() -> None:
    """All of its lines are, and a line inside of another text is not."""
    text = "note = '''\nconfig_dirs = 1\n'''\nconfig_dirs = [\n  'a',\n]\n"
    assert change_setting(text, "config_dirs", ["b"], "config.toml") == (
        "note = '''\nconfig_dirs = 1\n'''\nconfig_dirs = [\"b\"]\n"
    )


@pytest.mark.parametrize(
    ("changes", "after"),
    [
        ({("quiet",): None}, "on = true\n\n[channels.phone]\nurl = 'a' # mine\n"),
        ({("channels", "phone"): None, ("quiet",): None}, "on = true\n\n"),
        ({("absent", "name"): None, ("quiet", "to"): "7:00"}, None),
    ],
)
def test_tables_are_changed_and_removed(changes: dict[KeyPath, Any], after: str | None) -> None:
    """None removes a table with its values; removing what is not there changes nothing."""
    before = "on = true\n\n[channels.phone]\nurl = 'a' # mine\n[quiet]\nfrom = '22:00'\nto = '8:00'\n"
    expected = before.replace("'8:00'", '"7:00"') if after is None else after
    assert change_toml(before, changes, "notify.toml") == expected


@pytest.mark.parametrize("text", ["port = ", "quiet = 1\n"])
def test_a_text_that_cannot_be_changed_is_refused(text: str) -> None:
    """A text that is not TOML, and a value where a table is needed."""
    with pytest.raises(BadConfiguration, match="cannot be changed"):
        change_toml(text, {("quiet", "from"): "22:00"}, "notify.toml")
