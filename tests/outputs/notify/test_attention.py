"""Where people look: what pages say, and until when it is believed. tmux is in the stories."""

from claude_headspace.kernel.envelope import SECOND
from claude_headspace.kernel.notify.plan import Attention
from claude_headspace.outputs.notify.attention import MAX_PAGES, PAGE_TIMEOUT_SECONDS, AttentionTracker

RECENT = 120 * SECOND


class Wall:
    """A clock that is set by hand."""

    now = 1_000.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def test_a_visible_page_is_somebody_and_its_agent_is_watched() -> None:
    """A hidden one is nobody."""
    attention = AttentionTracker(Wall())
    assert attention.observe([], RECENT) == Attention()
    attention.report_page("p1", "a1", visible=True, notifies=False)
    assert attention.observe([], RECENT) == Attention(frozenset({"a1"}), True)
    attention.report_page("p1", None, visible=True, notifies=False)
    assert attention.observe([], RECENT) == Attention(frozenset(), True)
    attention.report_page("p1", "a1", visible=False, notifies=False)
    assert attention.observe([], RECENT) == Attention()


def test_a_page_that_fell_silent_is_gone() -> None:
    """It tells every half minute; a laptop that was closed does not."""
    wall = Wall()
    attention = AttentionTracker(wall)
    attention.report_page("p1", "a1", visible=True, notifies=True)
    wall.now += PAGE_TIMEOUT_SECONDS - 1
    assert (attention.observe([], RECENT).is_present, attention.has_page()) == (True, True)
    wall.now += 1
    assert (attention.observe([], RECENT).is_present, attention.has_page()) == (False, False)


def test_only_what_changed_is_news() -> None:
    """Whoever says the same again wakes nobody."""
    attention = AttentionTracker(Wall())
    assert attention.report_page("p1", "a1", visible=True, notifies=False)
    assert not attention.report_page("p1", "a1", visible=True, notifies=False)
    assert attention.report_page("p1", "a1", visible=True, notifies=True)


def test_pages_do_not_pile_up() -> None:
    """Of very many the newest count."""
    attention = AttentionTracker(Wall())
    for number in range(MAX_PAGES + 10):
        attention.report_page(f"p{number}", f"a{number}", visible=True, notifies=False)
    watched = attention.observe([], RECENT).watched
    assert len(watched) == MAX_PAGES
    assert "a0" not in watched
