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


TOUCHED = """
() => {
  window.touched = [];
  new MutationObserver((changes) => {
    for (const { target } of changes) {
      const element = target instanceof Element ? target : target.parentElement;
      const card = element.closest("[data-agent]");
      if (!element.closest("time")) window.touched.push(card ? card.dataset.agent : element.tagName);
    }
  }).observe(document.getElementById("app"), { subtree: true, childList: true, characterData: true, attributes: true });
}
"""
"""Whose card each change of the page is in; times tick by themselves."""


def test_an_event_touches_its_own_card_alone(visits: Visits, daemon: RunningDaemon) -> None:
    """However many agents there are, what one of them does changes its card and nothing else on the page."""
    fill(daemon)
    page = visits.open(daemon)
    page.get_by_role("region", name="States").get_by_role("button", name="working").click()
    told = {"session_id": "s1", "cwd": "/home/dev/project-1"}
    agent = next(agent["id"] for agent in daemon.agents() if agent["session_id"] == "s1")
    card = page.locator(f"[data-agent='{agent}']")
    card.wait_for()
    page.evaluate(TOUCHED)
    for number in range(10):
        call = {**told, "tool_name": "Bash", "tool_input": {"command": f"make {number}"}, "tool_use_id": f"t{number}"}
        daemon.post("pre-tool-use", call)
        expect(card).to_contain_text(f"make {number}")
        daemon.post("post-tool-use", call)
    assert set(page.evaluate("window.touched")) == {agent}


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
