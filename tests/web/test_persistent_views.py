"""What a view shows is in its address: links, back and forward, titles and saved views show the same again."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.support import RunningDaemon
from tests.web.conftest import LAPTOP, PHONE, Pages, Sample
from tests.web.test_accessibility import axe_violations, screenshot

TABLET = {"width": 1024, "height": 768}
LOW = {"width": 1024, "height": 500}
SIZES = {"laptop": LAPTOP, "tablet": TABLET, "phone": PHONE}


def query(page: Page, **expected: str) -> None:
    """Wait until the address has exactly these parameters."""
    wanted = {name: [value] for name, value in expected.items()}

    def matches(address: str) -> bool:
        return parse_qs(urlsplit(address).query) == wanted

    page.wait_for_url(matches)


def test_a_copied_link_of_the_board_shows_the_same(pages: Pages, sample: Sample) -> None:
    """Filter, grouping and selected agent."""
    page = pages.open(sample.daemon)
    page.get_by_role("button", name="Projects").click()
    page.get_by_role("button", name=re.compile("^waiting")).click()
    page.get_by_label("Filter agents").fill("auth")
    page.locator("[data-agent]", has_text="patient-heron").click()
    query(page, q="auth", state="waiting", group="project", agent=sample.ids["patient-heron"])
    other = pages.open(sample.daemon, page.url.removeprefix(sample.daemon.url))
    expect(other.get_by_label("Filter agents")).to_have_value("auth")
    expect(other.get_by_role("button", name="Projects")).to_have_attribute("aria-pressed", "true")
    expect(other.get_by_role("complementary", name="Selected agent")).to_contain_text("patient-heron")
    expect(other.locator(".card")).to_have_count(1)
    other.goto(sample.daemon.url)
    expect(other.get_by_role("button", name="Attention")).to_have_attribute("aria-pressed", "true")


def test_back_and_forward_restore_filter_and_selection(pages: Pages, sample: Sample) -> None:
    """The board is as it was when it was left, and so is the view that was opened from it."""
    page = pages.open(sample.daemon)
    page.get_by_role("button", name=re.compile("^waiting")).click()
    page.keyboard.press("j")
    first = page.locator(".card.selected .name").inner_text()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(first)
    page.get_by_role("navigation", name="Agent").get_by_role("link", name="Changes").click()
    expect(page.get_by_role("region", name="Changes")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("region", name="Conversation")).to_be_visible()
    page.go_back()
    expect(page.locator(".card.selected .name")).to_have_text(first)
    expect(page.get_by_role("button", name=re.compile("^waiting"))).to_have_attribute("aria-pressed", "true")
    page.go_forward()
    expect(page.locator("h1")).to_have_text(first)


def test_the_board_of_the_sidebar_keeps_what_is_selected(pages: Pages, sample: Sample) -> None:
    """Its link has no filter, but the board shows the one that the user has set."""
    page = pages.open(sample.daemon)
    page.get_by_role("button", name=re.compile("^waiting")).click()
    page.get_by_role("link", name="Waits").click()
    expect(page.locator("h1")).to_have_text("Waits")
    page.get_by_role("link", name="Board", exact=True).click()
    expect(page.get_by_role("button", name=re.compile("^waiting"))).to_have_attribute("aria-pressed", "true")
    query(page, state="waiting")


def set_day(page: Page) -> None:
    """The day of the activity."""
    page.get_by_label("Day", exact=True).fill("2026-01-02")
    page.get_by_label("Day", exact=True).dispatch_event("change")


def see_day(page: Page) -> None:
    """The day of the activity."""
    expect(page.get_by_label("Day", exact=True)).to_have_value("2026-01-02")


def set_events(page: Page) -> None:
    """The filters of the log and the selected event."""
    page.get_by_label("Filter events").fill("stop")
    page.get_by_label("Source").select_option("hook")
    page.get_by_role("region", name="Raw events").get_by_role("button", name=re.compile("Stop")).first.click()


def see_events(page: Page) -> None:
    """The filters of the log and the selected event."""
    expect(page.get_by_label("Filter events")).to_have_value("stop")
    expect(page.get_by_label("Source")).to_have_value("hook")
    expect(page.get_by_role("button", expanded=True)).to_contain_text("Stop")


def set_finished(page: Page) -> None:
    """Finished efforts."""
    page.get_by_label("show finished").check()


def see_finished(page: Page) -> None:
    """Finished efforts."""
    expect(page.get_by_label("show finished")).to_be_checked()


def set_time(page: Page) -> None:
    """The time of a replay."""
    page.get_by_label("Time", exact=True).fill("0.5")


def see_time(page: Page) -> None:
    """The time of a replay: the slider is not at its end."""
    expect(page.get_by_label("Time", exact=True)).not_to_have_value("1")


VIEWS: dict[str, tuple[str, Callable[[Page], None], Callable[[Page], None]]] = {
    "activity": ("/activity", set_day, see_day),
    "logging": ("/logging", set_events, see_events),
    "efforts": ("/efforts", set_finished, see_finished),
    "replay": ("/replay/calm-otter", set_time, see_time),
}
"""The path of a view, what is selected in it, and how that is seen."""


@pytest.mark.parametrize("view", VIEWS)
def test_the_selection_of_a_view_is_in_its_address(pages: Pages, sample: Sample, view: str) -> None:
    """A copied link shows it, and so does the way back to the view."""
    path, select, see = VIEWS[view]
    page = pages.open(sample.daemon, path)
    select(page)
    page.wait_for_url(re.compile(r"\?"))
    see(page)
    page.get_by_role("link", name="Settings").click()
    expect(page.locator("h1")).to_have_text("Settings")
    page.go_back()
    see(page)
    see(pages.open(sample.daemon, page.url.removeprefix(sample.daemon.url)))


def many_waits(daemon: RunningDaemon, folder: Path) -> None:
    """Thirty agents that wait, so that boards and lists scroll."""
    for number in range(30):
        session = {"session_id": f"s{number}", "cwd": str(folder)}
        daemon.post("user-prompt-submit", {**session, "prompt": f"Step {number}"})
        daemon.post("stop", {**session, "last_assistant_message": f"Shall I do {number}?"})


SCROLLED = "(name) => document.querySelector(name).scrollTop"
LISTS = {"board": ("/", "main .virtual", ".card"), "waits": ("/waits", "main", "article.wait")}
"""A view, what scrolls in it, and its items."""


@pytest.mark.parametrize("view", LISTS)
def test_back_restores_the_scroll_position(pages: Pages, daemon: RunningDaemon, tmp_path: Path, view: str) -> None:
    """Also after a reload. A view that is opened by a link begins at its top."""
    path, scroller, item = LISTS[view]
    many_waits(daemon, tmp_path)
    page = pages.open(daemon, path, viewport=LOW)
    expect(page.locator(item).first).to_be_visible()
    page.wait_for_function(
        "(name) => { const e = document.querySelector(name); return e.scrollHeight > e.clientHeight + 400; }",
        arg=scroller,
    )
    page.evaluate("(name) => document.querySelector(name).scrollTo({top: 333, behavior: 'instant'})", scroller)
    page.wait_for_function("() => Object.values(history.state?.scroll ?? {}).includes(333)")
    page.get_by_role("link", name="Settings").click()
    expect(page.locator("h1")).to_have_text("Settings")
    assert page.evaluate(SCROLLED, "main") == 0
    page.go_back()
    expect(page.locator(item).first).to_be_attached()
    page.wait_for_function("(name) => document.querySelector(name)?.scrollTop === 333", arg=scroller)
    page.reload()
    page.wait_for_function("(name) => document.querySelector(name)?.scrollTop === 333", arg=scroller)


TITLES = {
    "/": "(4) Board · Headspace",
    "/waits": "(4) Waits · Headspace",
    "/agents/calm-otter": "(4) calm-otter · Headspace",
    "/agents/calm-otter?tab=changes": "(4) calm-otter · Changes · Headspace",
    "/agents/calm-otter?tab=terminal": "(4) calm-otter · Terminal · Headspace",
    "/new": "(4) New agent · Headspace",
    "/replay/calm-otter": "(4) calm-otter · Replay · Headspace",
    "/efforts/{effort}": "(4) fix #1 · Efforts · Headspace",
    "/nonsense": "(4) Page not found · Headspace",
}


@pytest.mark.parametrize("path", TITLES)
def test_titles_name_the_view_and_the_agent(pages: Pages, sample: Sample, path: str) -> None:
    """After the number of agents that need the user."""
    page = pages.open(sample.daemon, path.format(effort=sample.effort))
    expect(page).to_have_title(TITLES[path])


def test_the_title_of_the_board_names_the_selected_agent(pages: Pages, sample: Sample) -> None:
    """While its panel is shown."""
    page = pages.open(sample.daemon, f"/?agent={sample.ids['calm-otter']}")
    expect(page).to_have_title("(4) calm-otter · Board · Headspace")
    page.keyboard.press("Escape")
    expect(page).to_have_title("(4) Board · Headspace")


def save_view(page: Page, name: str) -> None:
    """Save the view under a name."""
    page.get_by_role("button", name="Save this view").click()
    page.get_by_role("dialog", name="Save this view").get_by_label("Name").fill(name)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_views_are_saved_renamed_and_removed(pages: Pages, sample: Sample) -> None:
    """They are in the sidebar, stay after a reload, and show what was saved."""
    page = pages.open(sample.daemon)
    page.get_by_role("button", name=re.compile("^waiting")).click()
    query(page, state="waiting")
    save_view(page, "My waits")
    saved = page.get_by_role("region", name="Saved views")
    expect(saved.get_by_role("link", name="My waits")).to_have_attribute("aria-current", "page")
    page.goto(f"{sample.daemon.url}/settings")
    saved.get_by_role("link", name="My waits").click()
    expect(page.get_by_role("button", name=re.compile("^waiting"))).to_have_attribute("aria-pressed", "true")
    saved.get_by_role("button", name="Rename or remove My waits").click()
    page.get_by_role("dialog", name="Saved view").get_by_label("Name").fill("Needs me")
    page.keyboard.press("Enter")
    expect(saved.get_by_role("link")).to_have_text(["Needs me"])
    saved.get_by_role("button", name="Rename or remove Needs me").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(saved.get_by_role("link")).to_have_count(0)


def test_a_saved_view_without_a_filter_removes_the_filter(pages: Pages, sample: Sample) -> None:
    """It shows what was saved, not what is selected now."""
    page = pages.open(sample.daemon)
    expect(page.locator(".card").first).to_be_visible()
    save_view(page, "Everything")
    link = page.get_by_role("region", name="Saved views").get_by_role("link", name="Everything")
    expect(link).to_have_attribute("aria-current", "page")
    waiting = page.get_by_role("button", name=re.compile("^waiting"))
    waiting.click()
    expect(link).not_to_have_attribute("aria-current", "page")
    link.click()
    expect(waiting).to_have_attribute("aria-pressed", "false")
    query(page)


def test_saved_views_are_in_the_palette(pages: Pages, sample: Sample) -> None:
    """They can be saved, opened and edited there, also on a phone."""
    page = pages.open(sample.daemon, "/search?q=auth", viewport=PHONE)
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Find agents")
    field.fill("save this view")
    page.keyboard.press("Enter")
    page.get_by_role("dialog", name="Save this view").get_by_label("Name").fill("Auth")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.goto(sample.daemon.url)
    expect(page.locator(".card").first).to_be_visible()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("group", name="Saved views").get_by_role("option", name="Auth").first).to_be_visible()
    page.get_by_role("option", name="Auth", exact=True).click()
    expect(page.locator(".hit").first).to_be_visible()
    expect(page.get_by_label("Search for")).to_have_value("auth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_saved_views_are_accessible(pages: Pages, sample: Sample, axe: str, scheme: str, size: str) -> None:
    """The list and the dialog."""
    page = pages.open(sample.daemon, viewport=SIZES[size], color_scheme=scheme, reduced_motion="reduce")
    page.locator(".card").first.wait_for()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Find agents").fill("save this view")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Save this view")
    dialog.get_by_label("Name").fill("Everything")
    screenshot(page, f"save view {size} {scheme}")
    assert axe_violations(page, axe, scheme) == []
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    screenshot(page, f"saved views {size} {scheme}")
    assert axe_violations(page, axe, scheme) == []
