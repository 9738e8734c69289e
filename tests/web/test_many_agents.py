"""Five hundred agents: only visible cards are rendered, and an event changes only its own card."""

from playwright.sync_api import expect

from tests.support import RunningDaemon
from tests.web.conftest import Pages

AGENTS = 500


def create_agents(daemon: RunningDaemon) -> None:
    """Create five hundred agents in as many projects. Every tenth asks a question."""
    with daemon.client() as client:
        for number in range(AGENTS):
            session = {"session_id": f"s{number}", "cwd": f"/home/dev/project-{number}"}
            client.post("session-start", session)
            client.post("user-prompt-submit", {**session, "prompt": f"Task number {number}"})
            if number % 10 == 0:
                client.post("stop", {**session, "last_assistant_message": f"Shall I do {number}?"})


RECORD_CHANGES = """
() => {
  window.changed = [];
  new MutationObserver((changes) => {
    for (const { target } of changes) {
      const element = target instanceof Element ? target : target.parentElement;
      const card = element.closest("[data-agent]");
      if (!element.closest("time")) window.changed.push(card ? card.dataset.agent : element.tagName);
    }
  }).observe(document.getElementById("app"), { subtree: true, childList: true, characterData: true, attributes: true });
}
"""
"""Records in which card each change of the page is. Ticking times are ignored."""


def test_an_event_changes_only_its_own_card(pages: Pages, daemon: RunningDaemon) -> None:
    """Tool calls of one agent change nothing else on the page."""
    create_agents(daemon)
    page = pages.open(daemon)
    page.get_by_role("region", name="States").get_by_role("button", name="working").click()
    session = {"session_id": "s1", "cwd": "/home/dev/project-1"}
    agent = next(agent["id"] for agent in daemon.agents() if agent["session_id"] == "s1")
    card = page.locator(f"[data-agent='{agent}']")
    card.wait_for()
    page.evaluate(RECORD_CHANGES)
    for number in range(10):
        call = {
            **session,
            "tool_name": "Bash",
            "tool_input": {"command": f"make {number}"},
            "tool_use_id": f"t{number}",
        }
        daemon.post("pre-tool-use", call)
        expect(card).to_contain_text(f"make {number}")
        daemon.post("post-tool-use", call)
    assert set(page.evaluate("window.changed")) == {agent}


def test_only_visible_cards_are_rendered(pages: Pages, daemon: RunningDaemon) -> None:
    """The page scrolls to the last agent, filters by text, and updates a filtered card."""
    create_agents(daemon)
    assert len(daemon.agents()) == AGENTS
    page = pages.open(daemon)
    expect(page.get_by_text(f"{AGENTS} agents")).to_be_visible()
    expect(page.locator(".card").first).to_be_visible()
    assert page.locator(".card").count() < 80
    expect(page).to_have_title("(50) Board · Headspace")
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
