"""Five hundred agents: only what is in sight exists, and everything stays within reach."""

from playwright.sync_api import expect

from tests.support import RunningDaemon
from tests.web.conftest import Visits

AGENTS = 500


def fill(daemon: RunningDaemon) -> None:
    """Five hundred sessions in as many directories, every tenth of them asking."""
    with daemon.client() as client:
        for number in range(AGENTS):
            told = {"session_id": f"s{number}", "cwd": f"/home/dev/project-{number}"}
            client.post("session-start", told)
            client.post("user-prompt-submit", {**told, "prompt": f"Task number {number}"})
            if number % 10 == 0:
                client.post("stop", {**told, "last_assistant_message": f"Shall I do {number}?"})


def test_five_hundred_agents_are_within_reach(visits: Visits, daemon: RunningDaemon) -> None:
    """The page makes some dozens of cards, scrolls to the last, finds one by typing, and follows one of them."""
    fill(daemon)
    assert len(daemon.agents()) == AGENTS
    page = visits.open(daemon)
    expect(page.get_by_text(f"{AGENTS} agents")).to_be_visible()
    expect(page.locator(".card").first).to_be_visible()
    assert page.locator(".card").count() < 80
    expect(page).to_have_title("(50) Headspace")
    expect(page.locator("#favicon")).to_have_attribute("href", "/icons/many.svg")
    page.keyboard.press("k")
    last = page.locator(".card.selected")
    expect(last).to_be_in_viewport()
    assert page.locator(".card").count() < 80
    page.keyboard.press("/")
    page.keyboard.type("number 333")
    expect(page.locator(".card")).to_have_count(1)
    daemon.post(
        "stop",
        {
            "session_id": "s333",
            "cwd": "/home/dev/project-333",
            "last_assistant_message": "Or 334?",
        },
    )
    expect(page.locator(".card")).to_contain_text("asks: Or 334?")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Show all").click()
    page.get_by_role("button", name="Columns").click()
    expect(page.locator(".column")).to_have_count(2)
    assert page.locator(".card").count() < 120
