"""Changes of the settings and the notification rules."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from claude_headspace.config import Paths, load_settings
from claude_headspace.errors import BadRequest
from claude_headspace.outputs.notify.preferences import read_preferences
from claude_headspace.surfaces.api.settings_changes import SettingsChange, SettingsPlan, change_settings

NOTIFY = """# mine
[channels.phone]
url = "ntfy://ntfy.sh/secret-topic"
per_hour = 3 # enough

[quiet]
from = "22:00"
to = "08:00"
"""


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """The paths of an installation with a notification file."""
    found = Paths(tmp_path, tmp_path, tmp_path, tmp_path / "run")
    found.create_directories()
    found.config_file.write_text('# mine\n[policy]\npreset = "guard"\n')
    found.notify_file.write_text(NOTIFY)
    return found


def plan(paths: Paths, change: dict[str, Any]) -> SettingsPlan:
    """The result of a change that is not written yet."""
    return change_settings(paths, msgspec.convert(change, SettingsChange), "ann")


def write(paths: Paths, change: dict[str, Any]) -> SettingsPlan:
    """Confirm the shown result of a change."""
    return plan(paths, {**change, "confirmed": plan(paths, change).digest})


def test_nothing_is_written_before_it_was_confirmed(paths: Paths) -> None:
    """The plan shows the diff of each file and when it applies."""
    shown = plan(paths, {"settings": {"policy_preset": "strict"}, "notifications": False})
    assert not shown.written
    assert [(Path(each.file).name, each.applies) for each in shown.files] == [
        ("config.toml", "after a restart"),
        ("notify.toml", "now"),
    ]
    assert '-preset = "guard"\n+preset = "strict"\n' in shown.files[0].diff
    assert paths.notify_file.read_text() == NOTIFY


def test_the_shown_text_is_written(paths: Paths) -> None:
    """Both files, with everything else unchanged and private modes."""
    assert write(paths, {"settings": {"policy_preset": "strict", "hold_seconds": 60}, "notifications": False}).written
    assert load_settings(paths, {}).policy_preset == "strict"
    assert load_settings(paths, {}).hold_seconds == 60
    assert paths.config_file.read_text().startswith("# mine\n")
    assert paths.notify_file.read_text() == NOTIFY.replace("# mine\n", "# mine\non = false\n\n")
    assert paths.notify_file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_changed_meanwhile_is_not_overwritten(paths: Paths) -> None:
    """The digest belongs to the text that was shown."""
    change = {"notifications": False}
    digest = plan(paths, change).digest
    paths.notify_file.write_text("digest_from = 5\n")
    with pytest.raises(BadRequest, match="Nothing was written"):
        plan(paths, {**change, "confirmed": digest})
    assert paths.notify_file.read_text() == "digest_from = 5\n"


def test_a_linked_file_stays_a_link(paths: Paths) -> None:
    """Settings are often kept in a repository of dotfiles."""
    target = paths.config / "dotfiles.toml"
    paths.notify_file.rename(target)
    paths.notify_file.symlink_to(target)
    write(paths, {"notifications": False})
    assert paths.notify_file.is_symlink()
    assert "on = false" in target.read_text()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"settings": {"host": "localhost"}}, "not_editable"),
        ({"settings": {"policy_preset": "none"}}, "bad_configuration"),
        ({"settings": {"hold_seconds": -1}}, "bad_configuration"),
        ({"quiet": {"begins": "25:00", "ends": "8:00", "days": []}}, "bad_notifications"),
        ({"channels": {"team": {"brief": True}}}, "bad_notifications"),
        ({"channels": {"No Name": {"url": "json://127.0.0.1"}}}, "bad_notifications"),
    ],
)
def test_a_change_that_is_not_valid_is_refused(paths: Paths, change: dict[str, Any], code: str) -> None:
    """Settings that the dashboard must not change, and values that could not be read afterwards."""
    with pytest.raises(BadRequest) as refused:
        plan(paths, change)
    assert refused.value.code == code


def test_quiet_hours_are_changed_and_removed(paths: Paths) -> None:
    """They apply at once, because the file is read again."""
    write(paths, {"quiet": {"begins": "21:30", "ends": "7:00", "days": ["fri"], "let_through": ["error"]}})
    quiet = read_preferences(paths.notify_file).rules.quiet
    assert quiet is not None
    assert (quiet.begins, quiet.ends, quiet.days, quiet.let_through) == (
        1290,
        420,
        frozenset({4}),
        frozenset({"error"}),
    )
    write(paths, {"quiet": None})
    assert read_preferences(paths.notify_file).rules.quiet is None


def test_kinds_are_switched_in_both_notations(paths: Paths) -> None:
    """`finished = false`, or `on` in its table."""
    paths.notify_file.write_text('finished = false\n[error]\nafter = "1m"\n')
    write(paths, {"kinds": {"finished": True, "error": False, "context": False}})
    kinds = read_preferences(paths.notify_file).rules.kinds
    assert [kinds[name].on for name in ("finished", "error", "context", "waiting")] == [True, False, False, True]


def test_addresses_of_channels_are_never_shown(paths: Paths) -> None:
    """Neither the known one nor a new one, which is marked."""
    shown = plan(
        paths, {"channels": {"phone": {"url": "ntfy://ntfy.sh/other-topic"}, "team": {"url": "json://10.0.0.1"}}}
    )
    assert "topic" not in shown.files[0].diff
    assert "10.0.0.1" not in shown.files[0].diff
    assert '-url = "ntfy://…"\n+url = "ntfy://… (new)"\n' in shown.files[0].diff


def test_channels_are_added_changed_and_removed(paths: Paths) -> None:
    """A new address replaces the old ones; limits that are not changed stay."""
    write(
        paths,
        {"channels": {"phone": {"url": "json://127.0.0.1/a", "brief": True}, "team": {"url": "json://127.0.0.1/b"}}},
    )
    found = read_preferences(paths.notify_file)
    assert found.addresses["phone"].urls == ("json://127.0.0.1/a",)
    assert found.addresses["phone"].brief
    assert found.rules.channels["phone"].per_hour == 3
    assert found.addresses["team"].urls == ("json://127.0.0.1/b",)
    write(paths, {"channels": {"phone": None}})
    assert set(read_preferences(paths.notify_file).addresses) == {"team"}
