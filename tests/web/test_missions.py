"""Missions on the page: the list, one mission, and links between worker, conversation and mission."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.support import RunningDaemon
from tests.web.conftest import LAPTOP, PHONE, Pages
from tests.web.test_accessibility import axe_violations, screenshot

SLOW, REVIEW, COUNT = (
    "Find out why the nightly build takes an hour longer.",
    "Review the pull requests",
    "Count the tests",
)
WORKERS = {SLOW: "keen-finch", REVIEW: "calm-stoat", COUNT: "brave-wren"}


def mission_for(daemon: RunningDaemon, directory: Path, goal: str) -> tuple[str, dict[str, Any]]:
    """Start a mission from a conversation, with a client that works on it. Returns both."""
    session = {"session_id": f"conversation-{goal}", "cwd": str(directory)}
    conversation = daemon.post("session-start", session).json()["agent_id"]
    body = {"goal": goal, "cwd": str(directory), "conversation": conversation, "name": WORKERS[goal]}
    mission: dict[str, Any] = daemon.send("POST", "/api/missions", body, scope="act").json()
    worker = {"session_id": WORKERS[goal], "cwd": str(directory)}
    daemon.post("session-start", {**worker, "source": "startup"}, {"X-Headspace-Session-Id": mission["id"]})
    daemon.post("user-prompt-submit", {**worker, "prompt": goal})
    return conversation, mission


def box(page: Page, name: str) -> Any:
    """A section of the page, by its heading."""
    return page.locator("section.box", has=page.get_by_role("heading", name=name, exact=True))


def test_a_mission_from_start_to_report(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The list and the mission show its goal, sessions, events and outcome, and are updated live."""
    page = pages.open(daemon, "/missions")
    expect(page.get_by_text("No missions yet")).to_be_visible()
    conversation, mission = mission_for(daemon, tmp_path, COUNT)
    item = page.get_by_role("list", name="Missions").get_by_role("listitem")
    expect(item).to_contain_text("Count the tests")
    expect(item).to_contain_text("in progress")
    item.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Count the tests")
    timeline = page.get_by_role("region", name="Timeline")
    expect(timeline.get_by_role("listitem").first).to_contain_text("started")
    expect(page.get_by_role("list", name="Sessions of brave-wren")).to_contain_text("session 1, startup")
    daemon.send("POST", f"/api/missions/{mission['id']}/report", {"text": "There are 12."}, scope="act")
    expect(timeline.get_by_role("listitem").last).to_contain_text("There are 12.")
    expect(page.locator("header .outcome")).to_have_text("succeeded")
    page.get_by_role("region", name="Details").get_by_role("link", name="brave-wren").click()
    expect(box(page, "Mission")).to_contain_text("There are 12.")
    page.goto(f"{daemon.url}/agents/{conversation}")
    expect(box(page, "Workers")).to_contain_text("succeeded")
    box(page, "Workers").get_by_role("link", name="Count the tests").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Count the tests")


def test_missions_are_accessible(pages: Pages, daemon: RunningDaemon, axe: str, tmp_path: Path) -> None:
    """The list and one mission, on a laptop and a phone."""
    _, mission = mission_for(daemon, tmp_path, SLOW)
    report = {"text": "The cache key has the date in it, so nothing is ever found in it.\nFixed in ci/cache.yml."}
    daemon.send("POST", f"/api/missions/{mission['id']}/report", report, scope="act")
    mission_for(daemon, tmp_path / "other", REVIEW)
    for name, size, scheme in (("laptop", LAPTOP, "light"), ("laptop", LAPTOP, "dark"), ("phone", PHONE, "light")):
        page = pages.open(daemon, "/missions", viewport=size, color_scheme=scheme)
        page.get_by_role("list", name="Missions").wait_for()
        screenshot(page, f"missions {name} {scheme}")
        assert axe_violations(page, axe, scheme) == []
        page.get_by_role("link", name="Find out why").click()
        page.get_by_role("region", name="Timeline").wait_for()
        screenshot(page, f"mission {name} {scheme}")
        assert axe_violations(page, axe, scheme) == []


def test_cards_show_missions_and_finished_workers(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """A tag on the worker's card, and one on the card of the conversation until its next prompt."""
    conversation, mission = mission_for(daemon, tmp_path, COUNT)
    page = pages.open(daemon)
    worker = page.locator(f".card[data-agent='{mission['workers'][0]['id']}']")
    expect(worker.locator(".tag", has_text="mission")).to_be_visible()
    daemon.post("session-end", {"session_id": "brave-wren", "cwd": str(tmp_path), "reason": "other"})
    expect(page.locator(f".card[data-agent='{conversation}'] .tag")).to_have_text("1 worker finished")


def test_policy_verdicts_are_shown_on_the_agents_page(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Immediately, with the reason of the rule."""
    session = {"session_id": "one", "cwd": str(tmp_path)}
    agent = daemon.post("user-prompt-submit", {**session, "prompt": "Tidy up"}).json()["agent_id"]
    page = pages.open(daemon, f"/agents/{agent}")
    expect(box(page, "Policy")).to_have_count(0)
    call = {"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}, "tool_use_id": "t1"}
    daemon.send("POST", "/hook/pre-tool-use", {**session, **call}, {"X-Headspace-Reply": "hook"}, scope="ingest")
    expect(box(page, "Policy")).to_contain_text("denied")
    expect(box(page, "Policy")).to_contain_text("system-delete")


def test_an_unknown_mission(pages: Pages, daemon: RunningDaemon) -> None:
    """The page links back to the list."""
    page = pages.open(daemon, "/missions/none-at-all")
    expect(page.get_by_text("Mission not found")).to_be_visible()
    page.get_by_role("link", name="← Missions").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Missions")
