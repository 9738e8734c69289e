"""Changes of config.toml."""

import pytest

from claude_headspace.errors import BadConfiguration
from claude_headspace.surfaces.cli.settings_file import set_value


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "port = 5056\n"),
        ("port = 1 # old\n", "port = 5056\n"),
        ("host = 'a'", "host = 'a'\nport = 5056\n"),
        ("  port=1\nhost = 'a'\n", "port = 5056\nhost = 'a'\n"),
        ("[policy]\npreset = 'off'\n", "port = 5056\n\n[policy]\npreset = 'off'\n"),
    ],
)
def test_only_the_setting_changes(before: str, after: str) -> None:
    """Its line is replaced, or added before the first table."""
    assert set_value(before, "port", 5056, "config.toml") == after


@pytest.mark.parametrize(
    "text", ["config_dirs = [\n  'a',\n]\n", "[policy]\npreset = 'off'\n", "note = '''\nconfig_dirs = 1\n'''\n"]
)
def test_a_text_that_cannot_be_changed_is_refused(text: str) -> None:
    """A value with several lines, a setting in a table, a line inside of a text."""
    name, value = ("policy_preset", "watch") if "policy" in text else ("config_dirs", ["b"])
    with pytest.raises(BadConfiguration, match="cannot be changed automatically"):
        set_value(text, name, value, "config.toml")
