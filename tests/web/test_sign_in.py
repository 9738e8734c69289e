"""Sign-in: a link works once, the cookie is useless without its key, and the page shows the command."""

from playwright.sync_api import expect

from tests.support import RunningDaemon
from tests.web.conftest import Pages, sign_in_link


def test_a_browser_without_a_cookie_sees_the_sign_in_page(pages: Pages, daemon: RunningDaemon) -> None:
    """It shows the command and nothing else."""
    page = pages.open(daemon, signed_in=False)
    expect(page.get_by_role("heading", name="Sign in to Headspace")).to_be_visible()
    expect(page.get_by_text("headspace open", exact=True).first).to_be_visible()
    expect(page.get_by_role("navigation")).to_have_count(0)


def test_a_link_works_once(pages: Pages, daemon: RunningDaemon) -> None:
    """A second browser with the same link sees a message."""
    address = sign_in_link(daemon)
    first = pages.open(daemon, signed_in=False)
    first.goto(address)
    expect(first.locator("[data-connection=live]").first).to_be_attached()
    assert "key" not in first.url
    second = pages.open(daemon, signed_in=False)
    second.goto(address)
    expect(second.get_by_role("heading", name="This link has expired or was already used")).to_be_visible()


def test_the_cookie_is_protected(pages: Pages, daemon: RunningDaemon) -> None:
    """Scripts cannot read it, and it grants nothing without its key, which other ports do not have."""
    page = pages.open(daemon)
    [cookie] = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert page.evaluate("document.cookie") == ""
    headers = {"Cookie": f"{cookie['name']}={cookie['value']}"}
    assert daemon.send("GET", "/api/agents", headers=headers).status == 401
    key = page.evaluate("localStorage.getItem('headspace.key')")
    assert daemon.send("GET", "/api/agents", headers={**headers, "X-Headspace-Key": key}).status == 200
    assert daemon.send("POST", "/api/admin/db/verify", {}, headers={**headers, "X-Headspace-Key": key}).status == 401


def test_a_browser_is_signed_in_at_both_names(pages: Pages, daemon: RunningDaemon) -> None:
    """Signed in at 127.0.0.1, it is signed in at `localhost`, the address in the descriptions, and the reverse."""
    page = pages.open(daemon)
    page.goto(f"http://localhost:{daemon.port}/waits")
    expect(page.locator("[data-connection=live]").first).to_be_attached()
    assert page.url == f"http://127.0.0.1:{daemon.port}/waits"
    other = pages.open(daemon, signed_in=False)
    other.goto(sign_in_link(daemon).replace("127.0.0.1", "localhost"))
    expect(other.locator("[data-connection=live]").first).to_be_attached()
    assert other.url.startswith(daemon.url)
