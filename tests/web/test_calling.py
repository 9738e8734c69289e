"""A browser that was allowed to calls its user while the tab is hidden, and takes it back when it is over."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.support import RunningDaemon, wait_until
from tests.web.conftest import Visits

WATCH = """() => {
  window.shown = [];
  window.Notification = class {
    static permission = "granted";
    constructor(title, options) { this.title = title; window.shown.push(`show ${title}: ${options.body}`); }
    close() { window.shown.push(`close ${this.title}`); }
  };
}"""
"""The system's own notifications cannot be seen from a test: what the page asks for is written down instead."""

HIDE = """() => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def shown(page: Page) -> list[str]:
    """What the page asked the system to show."""
    found: list[str] = page.evaluate("() => window.shown")
    return found


def test_a_hidden_tab_calls_once_and_takes_it_back(visits: Visits, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Allowed in the settings; nothing while the tab is visible, one call while it is hidden, closed by the answer."""
    page = visits.open(daemon, "/settings", permissions=["notifications"])
    page.get_by_role("button", name="Let this browser call me").click()
    expect(page.get_by_text("This browser calls you while its tab is hidden.")).to_be_visible()
    page.evaluate(WATCH)
    wait_until(lambda: daemon.get("/api/notifications").json()["channels"][1]["available"], "a page that may notify")
    page.evaluate(HIDE)
    told = {"session_id": "one", "cwd": str(tmp_path), "tool_name": "Bash", "tool_input": {"command": "make deploy"}}
    name = daemon.post("session-start", {"session_id": "one", "cwd": str(tmp_path)}).json()["agent"]
    daemon.post("pre-tool-use", {**told, "tool_use_id": "t1"})
    daemon.post("permission-request", told)
    wait_until(lambda: shown(page), "a notification")
    assert shown(page) == [f"show {name} wants to run: wants to run: make deploy\n{tmp_path.name}"]
    daemon.post("post-tool-use", {**told, "tool_use_id": "t1"})
    wait_until(lambda: shown(page)[1:] == [f"close {name} wants to run"], "that it is closed")
    page.goto(f"{daemon.url}/agents/{daemon.agents()[0]['id']}")
    expect(page.get_by_role("heading", name="Called")).to_be_visible()
    expect(page.get_by_text("the tool ran")).to_be_visible()
