"""Browser notifications: shown while the tab is hidden, closed when the need is resolved."""

from pathlib import Path

from playwright.sync_api import Page, expect

from claude_headspace.kernel.notify.messages import EXCERPT
from tests.support import RunningDaemon, wait_until
from tests.web.conftest import Pages

RECORD_NOTIFICATIONS = """() => {
  window.shown = [];
  window.Notification = class {
    static permission = "granted";
    constructor(title, options) { this.title = title; window.shown.push(`show ${title}: ${options.body}`); }
    close() { window.shown.push(`close ${this.title}`); }
  };
}"""
"""Tests cannot see notifications of the system, so the calls of the page are recorded instead."""

HIDE_TAB = """() => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def recorded(page: Page) -> list[str]:
    """The notifications that the page showed and closed."""
    found: list[str] = page.evaluate("() => window.shown")
    return found


def test_a_hidden_tab_shows_one_notification(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Enabled in the settings. It is closed when the tool call has run, and listed on the agent's page."""
    page = pages.open(daemon, "/settings", permissions=["notifications"])
    page.get_by_role("button", name="Enable notifications in this browser").click()
    expect(page.get_by_text("This browser notifies you while its tab is hidden.")).to_be_visible()
    page.evaluate(RECORD_NOTIFICATIONS)
    wait_until(
        lambda: daemon.get("/api/notifications").json()["channels"][1]["available"],
        "the page to be registered as a channel",
    )
    page.evaluate(HIDE_TAB)
    call = {"session_id": "one", "cwd": str(tmp_path), "tool_name": "Bash", "tool_input": {"command": "make deploy"}}
    name = daemon.post("session-start", {"session_id": "one", "cwd": str(tmp_path)}).json()["agent"]
    daemon.post("pre-tool-use", {**call, "tool_use_id": "t1"})
    daemon.post("permission-request", call)
    wait_until(lambda: recorded(page), "a notification")
    assert recorded(page) == [f"show {name} wants to run: make deploy\n{EXCERPT}\n{tmp_path.name}"]
    daemon.post("post-tool-use", {**call, "tool_use_id": "t1"})
    wait_until(lambda: recorded(page)[1:] == [f"close {name} wants to run"], "the notification to be closed")
    page.goto(f"{daemon.url}/agents/{daemon.agents()[0]['id']}")
    expect(page.get_by_role("heading", name="Notifications")).to_be_visible()
    expect(page.get_by_text("the tool ran")).to_be_visible()
