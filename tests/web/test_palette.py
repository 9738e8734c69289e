"""The command palette: agents, views, actions and search, with the keyboard, a screen reader, and on a phone."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support import RunningDaemon
from tests.web.conftest import PHONE, SIZES, Pages, Sample
from tests.web.test_accessibility import axe_violations, screenshot


def palette(page: Page) -> Locator:
    """Open the palette with its shortcut. Returns its field, which has the focus."""
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Find agents, views and actions")
    expect(field).to_be_focused()
    return field


def selected(page: Page) -> Locator:
    """The entry that Enter chooses."""
    return page.locator("[role=option][aria-selected=true]")


def test_an_agent_is_found_by_parts_of_its_name(pages: Pages, sample: Sample) -> None:
    """In any case and with typing gaps. It is shown beside the board."""
    page = pages.open(sample.daemon, "/settings")
    expect(page.locator("h1")).to_have_text("Settings")
    palette(page).fill("SNGPLV")
    expect(selected(page)).to_contain_text("snug-plover")
    page.keyboard.press("Enter")
    expect(page.locator(".card.selected")).to_contain_text("snug-plover")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_agents_that_need_the_user_come_first(pages: Pages, sample: Sample) -> None:
    """Before something is typed, the first entries are the agents that the board shows first."""
    page = pages.open(sample.daemon)
    first = page.locator(".card .name").first.inner_text()
    palette(page)
    expect(page.locator("[role=option]").first).to_contain_text(first)


def test_a_view_is_opened_with_the_arrow_keys(pages: Pages, sample: Sample) -> None:
    """The field keeps the focus and names the selected entry. After the last entry the first one follows."""
    page = pages.open(sample.daemon)
    field = palette(page)
    field.fill("sett")
    expect(selected(page)).to_contain_text("Settings")
    page.keyboard.press("ArrowUp")
    expect(selected(page)).to_contain_text("Search all conversations")
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-activedescendant", selected(page).get_attribute("id") or "")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Settings")


def test_the_focus_returns(pages: Pages, sample: Sample) -> None:
    """After Esc, and after the shortcut once more, the focus is where it was."""
    page = pages.open(sample.daemon, "/search?q=auth")
    hit = page.locator(".hit").nth(1)
    hit.focus()
    for key in ("Escape", "Control+k"):
        palette(page)
        page.keyboard.press(key)
        expect(hit).to_be_focused()
    expect(page).to_have_url(re.compile(r"/search\?q=auth$"))


def test_the_shortcut_works_in_a_field(pages: Pages, sample: Sample) -> None:
    """What was typed there stays."""
    page = pages.open(sample.daemon)
    page.keyboard.press("/")
    page.keyboard.type("docker")
    palette(page)
    page.keyboard.press("Escape")
    expect(page.get_by_label("Filter agents")).to_be_focused()
    expect(page.get_by_label("Filter agents")).to_have_value("docker")


def test_actions_of_the_page(pages: Pages, sample: Sample) -> None:
    """The theme and the grouping change; an action that is not possible says why and does nothing."""
    page = pages.open(sample.daemon, color_scheme="light")
    palette(page).fill("theme dark")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    palette(page).fill("columns")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Columns")).to_have_attribute("aria-pressed", "true")
    palette(page).fill("clear the filter")
    expect(selected(page)).to_contain_text("The board is not filtered.")
    expect(selected(page)).to_be_disabled()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Command palette")).to_be_visible()


def test_sign_out(pages: Pages, daemon: RunningDaemon) -> None:
    """The browser cannot read anything any more, also after a reload."""
    page = pages.open(daemon)
    palette(page).fill("sign out")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Sign in to Headspace")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Sign in to Headspace")).to_be_visible()


def test_actions_of_the_selected_agent(pages: Pages, sample: Sample) -> None:
    """They name the agent, lead to its views, and say why one is not possible."""
    page = pages.open(sample.daemon, "/agents/calm-otter")
    expect(page.locator("h1")).to_have_text("calm-otter")
    field = palette(page)
    group = page.get_by_role("group", name="calm-otter")
    expect(group.get_by_role("option")).not_to_have_count(0)
    expect(group.get_by_role("option", name="Interrupt")).to_contain_text("The agent is")
    field.fill("show changes")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"tab=changes"))
    expect(page.get_by_role("region", name="Changes")).to_be_visible()


def test_renaming_asks_for_the_name(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """A refusal and the result are shown in the palette; the board has the new name."""
    agent = daemon.post("session-start", {"session_id": "one", "cwd": str(tmp_path)}).json()["agent_id"]
    page = pages.open(daemon, f"/agents/{agent}")
    expect(page.locator("h1")).not_to_be_empty()
    palette(page).fill("rename")
    page.keyboard.press("Enter")
    name = page.get_by_role("textbox", name="New name of")
    expect(name).to_be_focused()
    name.fill("not a name!")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
    name.fill("keen-kestrel")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The agent is now called keen-kestrel.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("h1")).to_have_text("keen-kestrel")


def test_interrupting_shows_what_happened(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """With the result of the daemon."""
    session = {"session_id": "one", "cwd": str(tmp_path), "tmux_pane": "%1"}
    agent = daemon.post("user-prompt-submit", {**session, "prompt": "Begin"}).json()["agent_id"]
    page = pages.open(daemon, f"/agents/{agent}")
    expect(page.locator("h1")).not_to_be_empty()
    sent = []

    def reply(route: Route) -> None:
        sent.append(route.request.url)
        route.fulfill(json={"status": "confirmed", "state": "idle"})

    page.route("**/api/agents/*/interrupt", reply)
    palette(page).fill("interrupt")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The agent stopped and is now idle.")).to_be_visible()
    assert len(sent) == 1


def test_search_is_last_and_finds_texts(pages: Pages, sample: Sample) -> None:
    """Hits open their place in the conversation, and the last entry opens the search with the same words."""
    page = pages.open(sample.daemon)
    field = palette(page)
    field.fill("rounding happens")
    hit = page.get_by_role("group", name="Search").get_by_role("option").first
    expect(hit).to_contain_text("calm-otter")
    expect(page.get_by_role("option").last).to_contain_text("Search all conversations for “rounding happens”")
    hit.click()
    expect(page.locator("h1")).to_have_text("calm-otter")
    palette(page).fill("rounding happens")
    page.get_by_role("option", name="Search all conversations").click()
    expect(page.get_by_label("Search for")).to_have_value("rounding happens")
    expect(page.locator(".hit").first).to_be_visible()


def test_a_failed_search_is_reported(pages: Pages, sample: Sample) -> None:
    """With the message of the daemon; everything else still works."""
    page = pages.open(sample.daemon)
    error = {"code": "journal_unavailable", "message": "The disk is full.", "hint": "Make room on it."}
    page.route(
        "**/api/search*",
        lambda route: route.fulfill(status=503, content_type="application/json", body=json.dumps({"error": error})),
    )
    palette(page).fill("activity")
    expect(page.get_by_text("The disk is full. Make room on it.")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Activity")


def test_on_a_phone_a_button_opens_it(pages: Pages, sample: Sample) -> None:
    """Everything is within the screen and large enough for a finger."""
    page = pages.open(sample.daemon, viewport=PHONE, has_touch=True)
    page.get_by_role("button", name="Find…").tap()
    dialog = page.get_by_role("dialog", name="Command palette")
    expect(dialog).to_be_visible()
    box = dialog.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]
    heights = page.locator("[role=option]").evaluate_all("(all) => all.map((each) => each.offsetHeight)")
    assert min(heights) >= 44
    page.get_by_role("option", name="patient-heron").tap()
    expect(page.locator("h1")).to_have_text("patient-heron")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_the_palette_is_accessible(pages: Pages, sample: Sample, axe: str, scheme: str, size: str) -> None:
    """axe finds no serious violation, with and without results of the search."""
    page = pages.open(sample.daemon, "/agents/snug-plover", viewport=SIZES[size], color_scheme=scheme)
    expect(page.locator("h1")).to_have_text("snug-plover")
    field = palette(page)
    screenshot(page, f"palette {size} {scheme}")
    assert axe_violations(page, axe, scheme) == []
    field.fill("auth")
    expect(page.get_by_role("group", name="Search").get_by_role("option")).not_to_have_count(1)
    screenshot(page, f"palette search {size} {scheme}")
    assert axe_violations(page, axe, scheme) == []
