"""`notify.toml`: its settings, their values, and how mistakes are reported."""

from pathlib import Path

import pytest

from claude_headspace.errors import BadConfiguration
from claude_headspace.kernel.agent import Project
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.kernel.notify.rules import DEFAULTS, HOUR, MINUTE
from claude_headspace.outputs.notify.preferences import NotificationPreferences, PreferencesFile, read_preferences

COMPLETE = """
on = true
digest_from = 5
present_for = "30s"

[channels.phone]
url = "ntfy://ntfy.sh/topic"
per_hour = 6
spacing = 60
brief = true

[channels.team]
urls = ["slack://a/b/c", "mailto://u:p@example.com"]
tell_over = true

[channels.desktop]
spacing = 0

[quiet]
from = "22:30"
to = "7:00"
days = ["Monday", "sun"]
let_through = ["error"]

[waiting]
to = [["desktop", "page"], "phone", "team"]
after = 5
present_after = "1.5m"
escalate_after = "1h"

[finished]
longer_than = "2 min"

[context]
levels = [70, 90]

[project."~/code/shop"]
finished = false
[project."~/code/shop".cost]
budget = 2.5
"""


def parse(folder: Path, text: str) -> NotificationPreferences:
    """Parse the preferences in a text."""
    path = folder / "notify.toml"
    path.write_text(text)
    return read_preferences(path)


def test_all_settings_are_optional(tmp_path: Path) -> None:
    """A missing or empty file means the defaults."""
    assert read_preferences(tmp_path / "none.toml") == NotificationPreferences()
    assert parse(tmp_path, "") == NotificationPreferences()


def test_all_settings_are_read(tmp_path: Path) -> None:
    """Channels, durations in every format, quiet hours, rules by kind and project."""
    preferences = parse(tmp_path, COMPLETE)
    rules = preferences.rules
    assert (rules.digest_from, preferences.present_for) == (5, 30 * SECOND)
    assert (rules.channels["phone"].per_hour, rules.channels["phone"].spacing) == (6, MINUTE)
    assert rules.channels["desktop"].spacing == 0
    assert rules.channels["desktop"].per_hour > 100
    assert (preferences.addresses["phone"].brief, preferences.addresses["team"].tell_over) == (True, True)
    assert len(preferences.addresses["team"].urls) == 2
    assert rules.quiet is not None
    assert (rules.quiet.begins, rules.quiet.ends, rules.quiet.days) == (22 * 60 + 30, 7 * 60, frozenset({0, 6}))
    waiting = rules.kinds["waiting"]
    assert waiting.to == (("desktop", "page"), ("phone",), ("team",))
    assert (waiting.after, waiting.present_after, waiting.escalate_after) == (5 * SECOND, 90 * SECOND, HOUR)
    assert rules.kinds["finished"].longer_than == 2 * MINUTE
    shop = Project("p", "shop", str(Path.home() / "code/shop/api"))
    assert not rules.find_rule("finished", shop).on
    assert (rules.find_rule("cost", shop).budget, rules.find_rule("waiting", shop)) == (2.5, waiting)
    assert rules.kinds["error"] == DEFAULTS["error"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("waiting = 3", "waiting"),
        ("[waiting]\nsoon = true", "soon"),
        ("[waiting]\nafter = 'soon'", "'soon' is not a duration"),
        ("[waiting]\nto = ['phone']", "unknown channel 'phone'"),
        ("[channels.phone]\nper_hour = 3", "the channel phone has no `url`"),
        ("[channels.phone]\nurl = 'x://'\nper_hour = 0", "per_hour"),
        ("[channels.'my phone']\nurl = 'x://'", "'my phone' is not a channel name"),
        ("[quiet]\nfrom = '22'\nto = '7:00'", "'22' is not a time of day"),
        ("[quiet]\nfrom = '22:00'", "to"),
        ("[quiet]\nfrom = '22:00'\nto = '7:00'\ndays = ['someday']", "unknown day 'someday'"),
        ("[quiet]\nfrom = '22:00'\nto = '7:00'\nlet_through = ['all']", "unknown kind 'all'"),
        ("[project.shop]\nbroken = false", "unknown kind 'broken'"),
        ("digest_from = 1", "digest_from"),
        ("not toml", "notify.toml cannot be used"),
    ],
)
def test_a_mistake_is_reported(tmp_path: Path, text: str, problem: str) -> None:
    """With the file, the problem and a hint."""
    with pytest.raises(BadConfiguration) as raised:
        parse(tmp_path, text)
    assert problem in raised.value.message
    assert "headspace notify rules" in raised.value.hint


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    """A change applies at once. An invalid file is reported, and the previous preferences stay in force."""
    path = tmp_path / "notify.toml"
    file = PreferencesFile(path)
    assert file.current() == NotificationPreferences()
    path.write_text("digest_from = 4")
    assert (file.current().rules.digest_from, file.failure) == (4, None)
    path.write_text("digest_from = 'many'")
    assert file.current().rules.digest_from == 4
    assert file.failure is not None
    path.write_text("digest_from = 50")
    assert file.current().rules.digest_from == 50
    assert not file.failure
    path.unlink()
    assert file.current() == NotificationPreferences()


def test_every_example_in_the_documentation_is_valid(tmp_path: Path) -> None:
    """The TOML in docs/notifications.md."""
    page = Path(__file__).parents[3] / "docs" / "notifications.md"
    recipes = [part.partition("```")[0] for part in page.read_text().split("```toml\n")[1:]]
    assert len(recipes) >= 5
    for recipe in recipes:
        assert parse(tmp_path, recipe) != NotificationPreferences()
