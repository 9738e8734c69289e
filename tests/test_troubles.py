"""What `status` can tell of times without the journal."""

from claude_headspace.kernel.envelope import SECOND
from claude_headspace.testing import START, ManualClock
from claude_headspace.troubles import REMEMBERED, Trouble, Troubles


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
