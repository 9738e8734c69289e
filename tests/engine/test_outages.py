"""Outages: what `status` reports about times without the journal."""

from pathlib import Path

from claude_headspace.engine.outages import MAX_STORED, STORED_FOR, Outage, Outages
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.testing import START, ManualClock


def test_an_outage_has_a_start_a_reason_and_an_end() -> None:
    """The newest reason is reported. A failure after the end is another outage."""
    clock = ManualClock()
    outages = Outages(clock)
    outages.end()
    assert (outages.current, outages.all) == (None, [])
    outages.begin("slow")
    clock.advance(1)
    outages.begin("gone")
    outages.count_spooled()
    assert outages.current == Outage(START, "gone", None, 1)
    outages.end()
    outages.begin("gone again")
    assert outages.all == [
        Outage(START, "gone", START + SECOND, 1),
        Outage(START + SECOND, "gone again"),
    ]


def test_a_finished_event_is_only_recorded() -> None:
    """A jump of the clock is listed afterwards, and nothing waits for it."""
    outages = Outages(ManualClock())
    outages.add_past_outage("the clock was set back")
    assert outages.current is None
    assert [outage.reason for outage in outages.all] == ["the clock was set back"]


def test_the_number_of_outages_is_limited() -> None:
    """The newest ones are kept."""
    outages = Outages(ManualClock())
    for number in range(3 * MAX_STORED):
        outages.begin(str(number))
        outages.end()
    assert [outage.reason for outage in outages.all] == [str(n) for n in range(2 * MAX_STORED, 3 * MAX_STORED)]


def test_the_next_daemon_reports_earlier_outages(tmp_path: Path) -> None:
    """Ended outages are unchanged, an ongoing one continues, and after a week they are removed."""
    clock, file = ManualClock(), tmp_path / "outages.json"
    first = Outages(clock, file)
    first.begin("gone")
    first.count_spooled()
    first.end()
    first.begin("gone again")
    first.count_spooled()
    second = Outages(clock, file, lambda: 3)
    second.begin("still gone")
    second.end()
    third = Outages(clock, file)
    third.count_spooled()
    assert third.all == [Outage(START, "gone", START, 1), Outage(START, "still gone", START, 3)]
    clock.advance(STORED_FOR / SECOND + 1)
    assert Outages(clock, file).all == []


def test_a_file_that_cannot_be_read_or_written_is_no_outage(tmp_path: Path) -> None:
    """Neither invalid content nor an unwritable disk raises an error."""
    (tmp_path / "outages.json").write_text("[")
    assert Outages(ManualClock(), tmp_path / "outages.json").all == []
    away = Outages(ManualClock(), tmp_path / "missing" / "outages.json")
    away.begin("gone")
    assert away.current is not None


def test_the_time_after_a_killed_daemon_is_an_outage() -> None:
    """With the number of events that waited. Events that wait for the journal are counted in its own outage."""
    clock = ManualClock()
    outages = Outages(clock, count_waiting=lambda: 2)
    outages.record_killed_daemon(7, START - SECOND)
    [outage] = outages.all
    assert (outage.since, outage.until, outage.spooled) == (START - SECOND, START, 2)
    assert "pid 7" in outage.reason
    outages.begin("gone")
    outages.record_killed_daemon(8, START)
    assert [each.reason.partition(" (")[2][:5] for each in outages.all] == ["pid 7", "pid 8", ""]
    assert outages.current is not None
    assert outages.all[1].spooled == 0
