"""Every view shows errors with a hint, and recovers automatically."""

import json
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from claude_headspace.surfaces.auth.tokens import read_secret
from tests.support import running_daemon
from tests.web.conftest import Pages, Sample
from tests.web.test_live import prompt, start_session

OFFLINE = "Headspace is not responding."
VIEW = "main :is(.board, .page)"

LOADED = {
    "a": ("Could not load the activity", "Working time"),
    "l": ("Could not load the status", "hooks active"),
    ",": ("Could not load the settings", "heartbeat_seconds"),
}
"""Views that load data, by shortcut: their text without and with a daemon."""

STORED = {"b": "Fix the parser", "w": "No agent is waiting for you", "s": "Search all", "r": "See an agent at any time"}
"""Views that work without a daemon once they were opened, by shortcut."""

REFUSED = {
    "/activity": ("**/api/activity*", "Could not load the activity"),
    "/settings": ("**/api/settings", "Could not load the settings"),
    "/logging": ("**/api/events?*", "Could not load the events"),
    "/search?q=auth": ("**/api/search*", "The search failed"),
    "/agents/snug-plover": ("**/conversation*", "Could not load the conversation"),
    "/replay/{snug-plover}": ("**/evidence*", "Could not load the history"),
}
"""A view, a request that it sends, and its message if the request fails."""


def go(page: Page, key: str) -> None:
    """Open another view with its shortcut."""
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("g")
    page.keyboard.press(key)


def test_every_view_recovers_after_a_restart_of_the_daemon(pages: Pages, tmp_path: Path) -> None:
    """Without the daemon, known data stays readable and the rest shows an error. Afterwards all data appears."""
    home, cwd = tmp_path / "home", str(tmp_path)
    with running_daemon(home, heartbeat_seconds=1) as first:
        port, page = first.port, pages.open(first)
        agent = start_session(first, "one", cwd)
        prompt(first, "one", cwd, "Fix the parser")
        for key in (*STORED, *LOADED, "b"):
            go(page, key)
            expect(page.locator(VIEW)).to_be_visible()
        expect(page.locator(f"[data-agent='{agent}']")).to_contain_text("Fix the parser")
    expect(page.get_by_role("alert")).to_contain_text(OFFLINE)
    expect(page.get_by_role("alert")).to_contain_text("headspace up")
    for key, shown in STORED.items():
        go(page, key)
        expect(page.get_by_role("main")).to_contain_text(OFFLINE)
        expect(page.get_by_role("main")).to_contain_text(shown)
    for key, (error, _) in LOADED.items():
        go(page, key)
        expect(page.get_by_role("main")).to_contain_text(OFFLINE)
        expect(page.get_by_role("main")).to_contain_text(error)
    with running_daemon(home, heartbeat_seconds=1, port=port):
        expect(page.get_by_role("main")).not_to_contain_text(OFFLINE)
        expect(page.get_by_role("main")).to_contain_text(LOADED[","][1])
        for key, (_, found) in LOADED.items():
            go(page, key)
            expect(page.get_by_role("main")).to_contain_text(found)
        page.goto(f"http://127.0.0.1:{port}/agents/{agent}")
        expect(page.get_by_role("region", name="Conversation")).to_contain_text("Fix the parser")
    expect(page.get_by_role("main")).to_contain_text(OFFLINE)
    expect(page.get_by_role("region", name="Conversation")).to_contain_text("Fix the parser")


def test_the_page_waits_for_the_daemon(pages: Pages, tmp_path: Path) -> None:
    """A page that cannot load the board shows an error and retries."""
    with running_daemon(tmp_path / "home") as first:
        page = pages.open(first)
        page.route("**/api/agents", lambda route: route.abort())
        page.reload()
        expect(page.get_by_text("Could not reach Headspace")).to_be_visible()
        expect(page.get_by_role("alert")).to_contain_text("Start it with headspace up.")
        page.unroute("**/api/agents")
        start_session(first, "one", str(tmp_path))
        expect(page.locator(".card")).to_have_count(1)


@pytest.mark.parametrize("path", REFUSED)
def test_a_failed_request_shows_its_error_and_hint(pages: Pages, sample: Sample, path: str) -> None:
    """The page shows the daemon's message and hint, and other views still work."""
    request, title = REFUSED[path]

    def refuse(route: Route) -> None:
        error = {"code": "journal_unavailable", "message": "The disk is full.", "hint": "Make room on it."}
        route.fulfill(status=503, content_type="application/json", body=json.dumps({"error": error}))

    page = pages.open(sample.daemon)
    page.route(request, refuse)
    page.goto(sample.daemon.url + path.replace("{snug-plover}", sample.ids["snug-plover"]))
    expect(page.get_by_role("alert")).to_contain_text(title)
    expect(page.get_by_role("alert")).to_contain_text("The disk is full. Make room on it.")
    go(page, "b")
    expect(page.locator(".card").first).to_be_visible()


def test_events_during_a_reload_are_not_lost(pages: Pages, tmp_path: Path) -> None:
    """After a gap the page reloads the board. Events that arrive before the reply are applied to it."""
    cwd = str(tmp_path)
    with running_daemon(tmp_path / "first", heartbeat_seconds=1) as first:
        page = pages.open(first)
        port, gone = first.port, start_session(first, "one", cwd)
        for number in range(20):
            prompt(first, "one", cwd, f"Step {number}")
        expect(page.locator(f"[data-agent='{gone}']")).to_be_visible()
        secret = read_secret(first.home / "secret")
    (tmp_path / "second").mkdir()
    (tmp_path / "second/secret").write_bytes(secret)
    (tmp_path / "second/secret").chmod(0o600)
    sent: list[str] = []

    def reply_late(route: Route) -> None:
        """Send an event before the reply reaches the page."""
        response = route.fetch()
        prompt(second, "other", cwd, "Sent during the reload")
        sent.append("Sent during the reload")
        time.sleep(1)
        route.fulfill(response=response)

    page.route("**/api/agents", reply_late)
    with running_daemon(tmp_path / "second", heartbeat_seconds=1, port=port) as second:
        agent = start_session(second, "other", cwd)
        expect(page.locator(f"[data-agent='{agent}']")).to_contain_text("working: Sent during the reload")
        assert sent
