"""Attention: what pages report, and when a report expires. tests/stories covers tmux."""

from claude_headspace.kernel.envelope import SECOND
from claude_headspace.kernel.notify.plan import Attention
from claude_headspace.outputs.notify.attention import MAX_PAGES, PAGE_TIMEOUT_SECONDS, AttentionTracker

PRESENT_FOR = 120 * SECOND


class ManualClock:
    """A clock that the test sets."""

    now = 1_000.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def test_a_visible_page_means_presence_and_its_agent_is_watched() -> None:
    """A hidden page does not count."""
    attention = AttentionTracker(ManualClock())
    assert attention.observe([], PRESENT_FOR) == Attention()
    attention.report_page("p1", "a1", visible=True, notifies=False)
    assert attention.observe([], PRESENT_FOR) == Attention(frozenset({"a1"}), True)
    attention.report_page("p1", None, visible=True, notifies=False)
    assert attention.observe([], PRESENT_FOR) == Attention(frozenset(), True)
    attention.report_page("p1", "a1", visible=False, notifies=False)
    assert attention.observe([], PRESENT_FOR) == Attention()


def test_a_page_without_reports_expires() -> None:
    """A page reports every 30 seconds, but not from a closed laptop."""
    clock = ManualClock()
    attention = AttentionTracker(clock)
    attention.report_page("p1", "a1", visible=True, notifies=True)
    clock.now += PAGE_TIMEOUT_SECONDS - 1
    assert (attention.observe([], PRESENT_FOR).is_present, attention.has_page()) == (True, True)
    clock.now += 1
    assert (attention.observe([], PRESENT_FOR).is_present, attention.has_page()) == (False, False)


def test_a_repeated_report_is_no_change() -> None:
    """Only a different report causes a new plan."""
    attention = AttentionTracker(ManualClock())
    assert attention.report_page("p1", "a1", visible=True, notifies=False)
    assert not attention.report_page("p1", "a1", visible=True, notifies=False)
    assert attention.report_page("p1", "a1", visible=True, notifies=True)


def test_the_number_of_pages_is_limited() -> None:
    """The oldest reports are dropped."""
    attention = AttentionTracker(ManualClock())
    for number in range(MAX_PAGES + 10):
        attention.report_page(f"p{number}", f"a{number}", visible=True, notifies=False)
    watched = attention.observe([], PRESENT_FOR).watched
    assert len(watched) == MAX_PAGES
    assert "a0" not in watched
