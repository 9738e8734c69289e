"""Only who was let in sees anything: the link works once, the cookie alone is not enough, the page says what to do."""

from playwright.sync_api import expect

from tests.support import RunningDaemon
from tests.web.conftest import Visits, link


def test_a_page_without_a_cookie_says_how_to_get_one(visits: Visits, daemon: RunningDaemon) -> None:
    """It names the command, and nothing else is shown."""
    page = visits.open(daemon, signed_in=False)
    expect(page.get_by_role("heading", name="Sign in to Headspace")).to_be_visible()
    expect(page.get_by_text("headspace open", exact=True).first).to_be_visible()
    expect(page.get_by_role("navigation")).to_have_count(0)


def test_a_link_works_once(visits: Visits, daemon: RunningDaemon) -> None:
    """The second browser with the same link is told so."""
    address = link(daemon)
    first = visits.open(daemon, signed_in=False)
    first.goto(address)
    expect(first.locator("[data-link=live]").first).to_be_attached()
    assert "key" not in first.url
    second = visits.open(daemon, signed_in=False)
    second.goto(address)
    expect(second.get_by_role("heading", name="That link was used, or is too old")).to_be_visible()


def test_the_cookie_is_closed_to_scripts_and_useless_alone(visits: Visits, daemon: RunningDaemon) -> None:
    """Scripts cannot read it, and without its key, which other ports do not have, it opens nothing."""
    page = visits.open(daemon)
    [cookie] = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert page.evaluate("document.cookie") == ""
    headers = {"Cookie": f"{cookie['name']}={cookie['value']}"}
    assert daemon.send("GET", "/api/agents", headers=headers).status == 401
    key = page.evaluate("localStorage.getItem('headspace.key')")
    assert daemon.send("GET", "/api/agents", headers={**headers, "X-Headspace-Key": key}).status == 200
    assert daemon.send("POST", "/api/admin/db/verify", {}, headers={**headers, "X-Headspace-Key": key}).status == 401
