"""When something is wrong every view says so, says what to do, and goes on by itself."""

import json
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from claude_headspace.surfaces.auth.tokens import read_secret
from tests.support import running_daemon
from tests.web.conftest import Stage, Visits
from tests.web.test_live import ask, begin

AWAY = "Headspace does not answer."

FETCHED = {
    "a": ("The day cannot be shown", "Worked"),
    "l": ("The receiver does not answer", "hooks active"),
    ",": ("The settings cannot be read", "heartbeat_seconds"),
}
"""What is asked for when it is looked at, by the key that leads there: what it says without a daemon, and with one."""

STORED = {"b": "Fix the parser", "w": "Nobody waits for you", "s": "Search everything", "r": "Drag through"}
"""What can be looked at all the same."""

REFUSED = {
    "/activity": ("**/api/activity*", "The day cannot be shown"),
    "/settings": ("**/api/settings", "The settings cannot be read"),
    "/logging": ("**/api/events?*", "The log cannot be read"),
    "/search?q=auth": ("**/api/search*", "The search failed"),
    "/agents/snug-plover": ("**/turns*", "The conversation cannot be read"),
    "/replay/{snug-plover}": ("**/evidence*", "Its past cannot be read"),
}
"""A view, what it asks for, and what it says if that is refused."""


def go(page: Page, key: str) -> None:
    """To another view, by keys alone."""
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("g")
    page.keyboard.press(key)


def test_every_view_says_that_the_daemon_is_away_and_goes_on(visits: Visits, tmp_path: Path) -> None:
    """What is known stays readable, what must be asked for says why it is not there; then all of it comes by itself."""
    home, cwd = tmp_path / "home", str(tmp_path)
    with running_daemon(home, heartbeat_seconds=1) as first:
        port, page = first.port, visits.open(first)
        agent = begin(first, "one", cwd)
        ask(first, "one", cwd, "Fix the parser")
        expect(page.locator(f"[data-agent='{agent}']")).to_contain_text("Fix the parser")
    expect(page.get_by_role("alert")).to_contain_text(AWAY)
    expect(page.get_by_role("alert")).to_contain_text("headspace serve")
    for key, shown in STORED.items():
        go(page, key)
        expect(page.get_by_role("main")).to_contain_text(AWAY)
        expect(page.get_by_role("main")).to_contain_text(shown)
    for key, (trouble, _) in FETCHED.items():
        go(page, key)
        expect(page.get_by_role("main")).to_contain_text(AWAY)
        expect(page.get_by_role("main")).to_contain_text(trouble)
    with running_daemon(home, heartbeat_seconds=1, port=port):
        expect(page.get_by_role("main")).not_to_contain_text(AWAY)
        expect(page.get_by_role("main")).to_contain_text(FETCHED[","][1])
        for key, (_, found) in FETCHED.items():
            go(page, key)
            expect(page.get_by_role("main")).to_contain_text(found)
        page.goto(f"http://127.0.0.1:{port}/agents/{agent}")
        expect(page.get_by_role("region", name="Conversation")).to_contain_text("Fix the parser")
    expect(page.get_by_role("main")).to_contain_text(AWAY)
    expect(page.get_by_role("region", name="Conversation")).to_contain_text("Fix the parser")


def test_a_first_visit_without_a_daemon_waits_for_it(visits: Visits, tmp_path: Path) -> None:
    """A page that was open before the daemon was there says so, and fills when it comes."""
    with running_daemon(tmp_path / "home") as first:
        page = visits.open(first)
        page.route("**/api/agents", lambda route: route.abort())
        page.reload()
        expect(page.get_by_text("Headspace cannot be reached")).to_be_visible()
        expect(page.get_by_role("alert")).to_contain_text("Start it with headspace up.")
        page.unroute("**/api/agents")
        begin(first, "one", str(tmp_path))
        expect(page.locator(".card")).to_have_count(1)


@pytest.mark.parametrize("path", REFUSED)
def test_a_view_whose_question_fails_says_why_and_what_to_do(visits: Visits, stage: Stage, path: str) -> None:
    """The daemon's own words and hint stand on the page, and the rest of it still works."""
    asked, title = REFUSED[path]

    def refuse(route: Route) -> None:
        problem = {"code": "journal_unavailable", "message": "The disk is full.", "hint": "Make room on it."}
        route.fulfill(status=503, content_type="application/json", body=json.dumps({"error": problem}))

    page = visits.open(stage.daemon)
    page.route(asked, refuse)
    page.goto(stage.daemon.url + path.replace("{snug-plover}", stage.ids["snug-plover"]))
    expect(page.get_by_role("alert")).to_contain_text(title)
    expect(page.get_by_role("alert")).to_contain_text("The disk is full. Make room on it.")
    go(page, "b")
    expect(page.locator(".card").first).to_be_visible()


def test_what_comes_while_everything_is_read_anew_is_not_lost(visits: Visits, tmp_path: Path) -> None:
    """After a gap the board is read; what is announced before the answer is here is applied to it."""
    cwd = str(tmp_path)
    with running_daemon(tmp_path / "first", heartbeat_seconds=1) as first:
        page = visits.open(first)
        port, gone = first.port, begin(first, "one", cwd)
        for number in range(20):
            ask(first, "one", cwd, f"Step {number}")
        expect(page.locator(f"[data-agent='{gone}']")).to_be_visible()
        secret = read_secret(first.home / "secret")
    (tmp_path / "second").mkdir()
    (tmp_path / "second/secret").write_bytes(secret)
    told: list[str] = []

    def answer_late(route: Route) -> None:
        """The answer is as old as it may be: more is announced while it is on its way."""
        answer = route.fetch()
        ask(second, "other", cwd, "Said meanwhile")
        told.append("Said meanwhile")
        time.sleep(1)
        route.fulfill(response=answer)

    page.route("**/api/agents", answer_late)
    with running_daemon(tmp_path / "second", heartbeat_seconds=1, port=port) as second:
        agent = begin(second, "other", cwd)
        expect(page.locator(f"[data-agent='{agent}']")).to_contain_text("working: Said meanwhile")
        assert told
