"""Ways through the page: Esc, Next, unknown addresses, addresses with names, keys that scroll."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support import RunningDaemon
from tests.web.conftest import LAPTOP, PHONE, TABLET, Pages, Sample

PAGE_SCROLL = "[document.scrollingElement.scrollTop, document.scrollingElement.scrollHeight - innerHeight]"


def waiting_agents(daemon: RunningDaemon, folder: Path, number: int) -> list[str]:
    """The names of agents that ask a question, the longest wait first."""
    names = []
    for index in range(number):
        session = {"session_id": f"s{index}", "cwd": str(folder)}
        daemon.post("user-prompt-submit", {**session, "prompt": "Begin"})
        stopped = daemon.post("stop", {**session, "last_assistant_message": f"Shall I do {index}?"}).json()
        names.append(daemon.agent(stopped["agent_id"])["name"])
    return names


@pytest.mark.parametrize(("size", "last"), [(LAPTOP, "Done with 19"), (PHONE, "Share")], ids=["laptop", "phone"])
def test_page_down_scrolls_the_conversation(
    pages: Pages, daemon: RunningDaemon, tmp_path: Path, size: dict[str, int], last: str
) -> None:
    """The view scrolls at once, and only the view, to its end: on a phone, the details follow the conversation."""
    session = {"session_id": "one", "cwd": str(tmp_path)}
    agent = daemon.post("session-start", session).json()["agent_id"]
    for number in range(20):
        daemon.post("user-prompt-submit", {**session, "prompt": f"Step {number}\n\nin two paragraphs"})
        daemon.post("stop", {**session, "last_assistant_message": f"Done with {number}"})
    page = pages.open(daemon, f"/agents/{agent}", viewport=size, reduced_motion="reduce")
    expect(page.get_by_role("region", name="Conversation")).to_contain_text("Done with 19")
    for _ in range(30):
        page.keyboard.press("PageDown")
    expect(page.get_by_text(last, exact=True)).to_be_in_viewport()
    assert page.evaluate(PAGE_SCROLL) == [0, 0]


def test_next_advances_and_begins_again(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Each press selects the next agent that needs the user. After the last one, the first one follows."""
    first, second, third = waiting_agents(daemon, tmp_path, 3)
    page = pages.open(daemon)
    selected = page.locator(".card.selected .name")
    button = page.locator("button.next")
    for name in (first, second, third, first):
        expect(button).to_contain_text(name)
        page.keyboard.press("n")
        expect(selected).to_have_text(name)
    button.click()
    expect(selected).to_have_text(second)


def test_next_opens_the_agent_if_there_is_no_room_for_a_panel(
    pages: Pages, daemon: RunningDaemon, tmp_path: Path
) -> None:
    """With the button and with the key, also from the page of an agent."""
    first, second = waiting_agents(daemon, tmp_path, 2)
    page = pages.open(daemon, viewport=TABLET)
    page.locator("button.next").click()
    expect(page.locator("h1")).to_have_text(first)
    page.keyboard.press("n")
    expect(page.locator("h1")).to_have_text(second)


@pytest.mark.parametrize("path", ["/nonsense", "/agents", "/agents/one/two", "/waits/one/two", "/%zz"])
def test_an_unknown_address_is_a_page(pages: Pages, sample: Sample, path: str) -> None:
    """It says so and links to the board."""
    page = pages.open(sample.daemon, path)
    expect(page.get_by_text("Page not found")).to_be_visible()
    page.get_by_role("link", name="Back to the board").click()
    expect(page.locator(".card").first).to_be_visible()


def test_replay_by_name(pages: Pages, sample: Sample) -> None:
    """The address may have the name of the agent, like that of its page."""
    page = pages.open(sample.daemon, "/replay/calm-otter")
    expect(page.locator(".conversation")).to_contain_text("Rounding happens once per invoice")
    expect(page.get_by_label("Agent", exact=True)).to_have_value(sample.ids["calm-otter"])
    page.goto(sample.daemon.url + "/replay/nobody-at-all")
    expect(page.get_by_text("Agent not found")).to_be_visible()
    page.get_by_role("link", name="Select an agent").click()
    expect(page.get_by_text("See an agent at any time in the past")).to_be_visible()


def heading(page: Page, text: str) -> None:
    """Wait for the heading of a view."""
    expect(page.locator("h1")).to_have_text(text)


def test_esc_goes_back_to_the_previous_view(pages: Pages, sample: Sample) -> None:
    """View by view, as they were opened."""
    page = pages.open(sample.daemon)
    page.get_by_role("link", name="Waits").click()
    page.get_by_role("link", name="patient-heron").click()
    heading(page, "patient-heron")
    page.keyboard.press("Escape")
    heading(page, "Waits")
    page.keyboard.press("Escape")
    expect(page.locator(".card").first).to_be_visible()


def test_esc_in_the_first_view_goes_to_its_list(pages: Pages, sample: Sample) -> None:
    """An effort that was opened from a link belongs to the efforts, an agent to the board."""
    page = pages.open(sample.daemon, f"/efforts/{sample.effort}")
    heading(page, "fix #1")
    page.keyboard.press("Escape")
    heading(page, "Efforts")
    page.goto(sample.daemon.url + "/agents/snug-plover")
    heading(page, "snug-plover")
    page.keyboard.press("Escape")
    expect(page.locator(".card").first).to_be_visible()


def test_esc_leaves_the_search_field(pages: Pages, sample: Sample) -> None:
    """The words stay, shortcuts work again, and the next Esc leaves the view."""
    page = pages.open(sample.daemon)
    page.keyboard.press("g")
    page.keyboard.press("s")
    field = page.get_by_label("Search for")
    expect(field).to_be_focused()
    field.fill("emoji")
    expect(page.locator(".hit").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(field).not_to_be_focused()
    expect(page).to_have_url(re.compile(r"/search\?q=emoji$"))
    page.keyboard.press("j")
    expect(page.locator(".hit").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".card").first).to_be_visible()
