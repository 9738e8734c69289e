"""The first load is small, and everything else is loaded on demand."""

from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Page, expect

from claude_headspace.surfaces.page.static import FOLDER
from tests.support import running_daemon
from tests.web.conftest import Pages, Sample

MAX_FIRST_LOAD_BYTES = 130_000
"""JavaScript and CSS that the board needs, compressed with gzip."""

WAITS = "**/assets/Waits-*.js"
NOT_LOADED = "Could not load this view"


def compressed_bytes(path: str) -> int:
    """The size of a script or style sheet as the daemon sends it to a browser that accepts only gzip."""
    return (FOLDER / f"{path.removeprefix('/')}.gz").stat().st_size


def loaded_files(page: Page) -> set[str]:
    """The paths of all scripts and style sheets that the page has loaded, also from the cache."""
    expect(page.locator(".card").first).to_be_visible()
    addresses: list[str] = page.evaluate("performance.getEntriesByType('resource').map((each) => each.name)")
    paths = {urlsplit(address).path for address in addresses}
    return {path for path in paths if path.endswith((".js", ".css"))}


def test_the_first_load_is_small(pages: Pages, sample: Sample) -> None:
    """All scripts and styles that the board needs, together."""
    page = pages.open(sample.daemon)
    sizes = {path: compressed_bytes(path) for path in loaded_files(page)}
    assert any(path.startswith("/assets/index") for path in sizes), sizes
    assert sum(sizes.values()) <= MAX_FIRST_LOAD_BYTES, sizes


def test_a_view_is_loaded_when_it_is_opened(pages: Pages, sample: Sample) -> None:
    """The board does not load the files of other views."""
    page = pages.open(sample.daemon)
    assert not any("/Waits-" in path for path in loaded_files(page))
    with page.expect_request(WAITS):
        page.get_by_role("link", name="Waits").click()
    expect(page.locator("h1")).to_have_text("Waits")


def test_a_page_that_is_older_than_the_daemon_offers_to_reload(pages: Pages, sample: Sample) -> None:
    """After an upgrade the files of the old page do not exist any more. Other views still work."""
    page = pages.open(sample.daemon)
    page.route(WAITS, lambda route: route.fulfill(status=404, content_type="application/json", body="{}"))
    page.get_by_role("link", name="Waits").click()
    expect(page.get_by_role("alert")).to_contain_text(NOT_LOADED)
    page.get_by_role("link", name="Board").click()
    expect(page.locator(".card").first).to_be_visible()
    page.get_by_role("link", name="Waits").click()
    page.unroute(WAITS)
    page.get_by_role("button", name="Reload the page").click()
    expect(page.locator("h1")).to_have_text("Waits")


def test_a_view_is_loaded_when_the_connection_returns(pages: Pages, tmp_path: Path) -> None:
    """Without the daemon the view says how to start it, and appears once it runs."""
    home = tmp_path / "home"
    with running_daemon(home, heartbeat_seconds=1) as first:
        page, port = pages.open(first), first.port
        page.get_by_text("headspace install").wait_for()
    expect(page.locator("[data-connection=offline]").first).to_be_attached()
    page.get_by_role("link", name="Waits").click()
    message = page.get_by_role("alert").filter(has_text=NOT_LOADED)
    expect(message).to_contain_text("headspace up")
    page.get_by_role("button", name="Try again").click()
    expect(message).to_be_visible()
    with running_daemon(home, heartbeat_seconds=1, port=port):
        expect(page.locator("h1")).to_have_text("Waits")


def test_the_search_field_of_a_view_that_is_loaded_later_has_the_focus(pages: Pages, sample: Sample) -> None:
    """Typing works at once, also when the view before had the focus."""
    page = pages.open(sample.daemon, "/settings")
    expect(page.locator("h1")).to_have_text("Settings")
    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(page.get_by_label("Search for")).to_be_focused()
