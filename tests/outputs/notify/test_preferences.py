"""`notify.toml`: what may be written, what it comes to, and how a mistake is told."""

from pathlib import Path

import pytest

from claude_headspace.errors import BadConfiguration
from claude_headspace.kernel.agent import Project
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.kernel.notify.rules import DEFAULTS, HOUR, MINUTE
from claude_headspace.outputs.notify.preferences import NotificationPreferences, PreferencesFile, read_preferences

WHOLE = """
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


def book_of(folder: Path, text: str) -> NotificationPreferences:
    """The book of a text."""
    path = folder / "notify.toml"
    path.write_text(text)
    return read_preferences(path)


def test_nothing_has_to_be_written(tmp_path: Path) -> None:
    """No file and an empty one are the defaults."""
    assert read_preferences(tmp_path / "none.toml") == NotificationPreferences()
    assert book_of(tmp_path, "") == NotificationPreferences()


def test_everything_can_be_written(tmp_path: Path) -> None:
    """Channels, times in every spelling, quiet hours, rules by kind and project."""
    book = book_of(tmp_path, WHOLE)
    rules = book.rules
    assert (rules.digest_from, book.present_for) == (5, 30 * SECOND)
    assert (rules.channels["phone"].per_hour, rules.channels["phone"].spacing) == (6, MINUTE)
    assert rules.channels["desktop"].spacing == 0
    assert rules.channels["desktop"].per_hour > 100
    assert (book.addresses["phone"].brief, book.addresses["team"].tell_over) == (True, True)
    assert len(book.addresses["team"].urls) == 2
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
        ("[waiting]\nafter = 'soon'", "'soon' is no time"),
        ("[waiting]\nto = ['phone']", "the channel 'phone', which there is not"),
        ("[channels.phone]\nper_hour = 3", "the channel phone has no `url`"),
        ("[channels.phone]\nurl = 'x://'\nper_hour = 0", "per_hour"),
        ("[channels.'my phone']\nurl = 'x://'", "cannot be called 'my phone'"),
        ("[quiet]\nfrom = '22'\nto = '7:00'", "'22' is no time of day"),
        ("[quiet]\nfrom = '22:00'", "to"),
        ("[quiet]\nfrom = '22:00'\nto = '7:00'\ndays = ['someday']", "no day 'someday'"),
        ("[quiet]\nfrom = '22:00'\nto = '7:00'\nlet_through = ['all']", "no kind 'all'"),
        ("[project.shop]\nbroken = false", "no kind 'broken'"),
        ("digest_from = 1", "digest_from"),
        ("not toml", "notify.toml cannot be used"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, text: str, problem: str) -> None:
    """With the file, and what to do."""
    with pytest.raises(BadConfiguration) as raised:
        book_of(tmp_path, text)
    assert problem in raised.value.message
    assert "headspace notify rules" in raised.value.hint


def test_the_book_is_kept_current(tmp_path: Path) -> None:
    """What changes counts at once; what cannot be used leaves the last good rules, and says so until it is mended."""
    path = tmp_path / "notify.toml"
    keeper = PreferencesFile(path)
    assert keeper.current() == NotificationPreferences()
    path.write_text("digest_from = 4")
    assert (keeper.current().rules.digest_from, keeper.failure) == (4, None)
    path.write_text("digest_from = 'many'")
    assert keeper.current().rules.digest_from == 4
    assert keeper.failure is not None
    path.write_text("digest_from = 50")
    assert keeper.current().rules.digest_from == 50
    assert not keeper.failure
    path.unlink()
    assert keeper.current() == NotificationPreferences()


def test_every_recipe_of_the_documentation_can_be_used(tmp_path: Path) -> None:
    """The TOML in docs/notifications.md."""
    page = Path(__file__).parents[3] / "docs" / "notifications.md"
    recipes = [part.partition("```")[0] for part in page.read_text().split("```toml\n")[1:]]
    assert len(recipes) >= 5
    for recipe in recipes:
        assert book_of(tmp_path, recipe) != NotificationPreferences()
