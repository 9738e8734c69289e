"""What `status` can tell of times without the journal."""

from pathlib import Path

from claude_headspace.engine.outages import REMEMBERED, REMEMBERED_FOR, Trouble, Troubles
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.testing import START, ManualClock


def test_a_trouble_has_a_beginning_a_reason_and_an_end() -> None:
    """The newest reason is told; what comes after the end is another one."""
    clock = ManualClock()
    troubles = Troubles(clock)
    troubles.end()
    assert (troubles.now, troubles.all) == (None, [])
    troubles.begin("slow")
    clock.advance(1)
    troubles.begin("gone")
    troubles.spooled()
    assert troubles.now == Trouble(START, "gone", None, 1)
    troubles.end()
    troubles.begin("gone again")
    assert troubles.all == [
        Trouble(START, "gone", START + SECOND, 1),
        Trouble(START + SECOND, "gone again"),
    ]


def test_what_is_over_at_once_is_only_noted() -> None:
    """It is told afterwards, and makes nothing wait."""
    troubles = Troubles(ManualClock())
    troubles.note("the clock was set back")
    assert troubles.now is None
    assert [trouble.reason for trouble in troubles.all] == ["the clock was set back"]


def test_the_newest_are_remembered() -> None:
    """A database that comes and goes all day does not fill the memory."""
    troubles = Troubles(ManualClock())
    for number in range(3 * REMEMBERED):
        troubles.begin(str(number))
        troubles.end()
    assert [trouble.reason for trouble in troubles.all] == [str(n) for n in range(2 * REMEMBERED, 3 * REMEMBERED)]


def test_the_next_daemon_tells_them_too(tmp_path: Path) -> None:
    """What was over stays as it was; what lasted goes on, with what waits now; a week later it is forgotten."""
    clock, file = ManualClock(), tmp_path / "troubles.json"
    first = Troubles(clock, file)
    first.begin("gone")
    first.spooled()
    first.end()
    first.begin("gone again")
    first.spooled()
    second = Troubles(clock, file)
    second.waiting = lambda: 3
    second.begin("still gone")
    second.end()
    third = Troubles(clock, file)
    third.spooled()
    assert third.all == [Trouble(START, "gone", START, 1), Trouble(START, "still gone", START, 3)]
    clock.advance(REMEMBERED_FOR / SECOND + 1)
    assert Troubles(clock, file).all == []


def test_a_file_that_cannot_be_read_or_written_is_no_trouble(tmp_path: Path) -> None:
    """Whatever stands in it, and on whatever disk."""
    (tmp_path / "troubles.json").write_text("[")
    assert Troubles(ManualClock(), tmp_path / "troubles.json").all == []
    away = Troubles(ManualClock(), tmp_path / "missing" / "troubles.json")
    away.begin("gone")
    assert away.now is not None


def test_a_daemon_that_was_killed_is_told() -> None:
    """With what waited for the next; what waits for the journal is told there, since that trouble lasts."""
    clock = ManualClock()
    troubles = Troubles(clock)
    troubles.waiting = lambda: 2
    troubles.killed(7, START - SECOND)
    [trouble] = troubles.all
    assert (trouble.since, trouble.until, trouble.spooled) == (START - SECOND, START, 2)
    assert "pid 7" in trouble.reason
    troubles.begin("gone")
    troubles.killed(8, START)
    assert [each.reason.partition(" (")[2][:5] for each in troubles.all] == ["pid 7", "pid 8", ""]
    assert troubles.now is not None
    assert troubles.all[1].spooled == 0
