"""The board: who is there, who needs somebody, and everything that can be done without a mouse."""

import json
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.support import RunningDaemon
from tests.web.cast import PARTS
from tests.web.conftest import PHONE, Stage, Visits


def names(page: Page) -> list[str]:
    """The cards in sight, in their order."""
    return page.locator(".card .name").all_inner_texts()


def test_one_card_per_agent_those_who_need_somebody_first(visits: Visits, stage: Stage) -> None:
    """Every agent has its card with what it does; the waiting come first, whoever waits longest before the others."""
    page = visits.open(stage.daemon)
    expect(page.locator(".card")).to_have_count(len(PARTS))
    assert names(page)[:4] == ["patient-heron", "nimble-kestrel", "able-ant", "olive-bee"]
    card = page.locator(f"[data-agent='{stage.ids['able-ant']}']")
    expect(card).to_contain_text("wants to run: docker image prune --all --force")
    expect(card).to_contain_text("last active")
    expect(card).to_contain_text("infra")
    expect(card).to_contain_text("opus 4.7")
    expect(card).to_contain_text("27 %")
    expect(card).to_contain_text("$0.84")
    lynx = page.locator(f"[data-agent='{stage.ids['quiet-lynx']}']")
    expect(lynx).to_contain_text("explorer, reading main.tf")
    expect(page.locator(f"[data-agent='{stage.ids['golden-trout']}']")).to_contain_text("idle, 2 shells running")


def test_every_state_is_the_one_of_the_api(visits: Visits, stage: Stage) -> None:
    """What a card shows is what `GET /api/agents` says."""
    page = visits.open(stage.daemon)
    expect(page.locator(".card")).to_have_count(len(PARTS))
    shown = {
        card.get_attribute("data-agent"): card.get_attribute("class") or "" for card in page.locator(".card").all()
    }
    for agent in stage.daemon.agents():
        assert agent["state"] in shown[agent["id"]].split(), agent["name"]


def test_title_and_icon_count_those_who_call(visits: Visits, stage: Stage) -> None:
    """Three wait and one was stopped: the tab says four, in its title and its icon."""
    page = visits.open(stage.daemon)
    expect(page).to_have_title("(4) Headspace")
    expect(page.locator("#favicon")).to_have_attribute("href", "/icons/4.svg")


def test_the_board_is_arranged_three_ways(visits: Visits, stage: Stage) -> None:
    """By attention, by project, and as a column for each state; the choice is remembered."""
    page = visits.open(stage.daemon)
    page.get_by_role("button", name="Projects").click()
    expect(page.locator("h2.section").first).to_contain_text("api")
    page.get_by_role("button", name="Columns").click()
    expect(page.locator(".column")).to_have_count(5)
    page.reload()
    expect(page.locator(".column")).to_have_count(5)


def test_the_board_is_narrowed_by_typing_state_and_project(visits: Visits, stage: Stage) -> None:
    """Words, a state and a project each leave out the others, and all of it comes back."""
    page = visits.open(stage.daemon)
    page.keyboard.press("/")
    page.keyboard.type("docker")
    expect(page.locator(".card")).to_have_count(1)
    page.get_by_role("button", name="Show all").click()
    page.get_by_role("region", name="States").get_by_role("button", name="working").click()
    expect(page.locator(".card")).to_have_count(3)
    page.get_by_role("region", name="Projects").get_by_role("button", name="web").click()
    assert names(page) == ["brisk-marten"]
    page.get_by_role("button", name="Show all").click()
    expect(page.locator(".card")).to_have_count(len(PARTS))
    page.keyboard.press("/")
    page.keyboard.type("no such thing anywhere")
    expect(page.get_by_text("No agent fits the filter")).to_be_visible()


def test_everything_is_reached_by_keyboard_alone(visits: Visits, stage: Stage) -> None:
    """j and k select, n takes the next, Enter opens, Esc goes back, g goes to the views, ? tells them all."""
    page = visits.open(stage.daemon)
    expect(page.locator(".card")).to_have_count(len(PARTS))
    page.keyboard.press("j")
    expect(page.locator(".card.selected .name")).to_have_text("patient-heron")
    page.keyboard.press("j")
    expect(page.locator(".card.selected .name")).to_have_text("nimble-kestrel")
    page.keyboard.press("k")
    expect(page.locator(".card.selected .name")).to_have_text("patient-heron")
    expect(page.get_by_role("complementary", name="Selected agent")).to_contain_text("Tokens instead of sessions")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("patient-heron")
    page.keyboard.press("Escape")
    expect(page.locator(".card.selected")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".card.selected")).to_have_count(0)
    page.keyboard.press("n")
    expect(page.locator(".card.selected .name")).to_have_text("patient-heron")
    for key, title in zip("wsarl,", ["Waits", "Search", "Activity", "Replay", "Logging", "Settings"], strict=True):
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page.locator("h1")).to_have_text(title)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def asking(daemon: RunningDaemon, folder: Path) -> str:
    """An agent that asks something; its id."""
    told = {"session_id": folder.name, "cwd": str(folder)}
    daemon.post("user-prompt-submit", {**told, "prompt": "Begin"})
    agent: str = daemon.post("stop", {**told, "last_assistant_message": "Shall I go on?"}).json()["agent_id"]
    return agent


def test_what_was_not_looked_at_is_marked_on_every_surface(
    visits: Visits, daemon: RunningDaemon, tmp_path: Path
) -> None:
    """A waiting agent is unseen until somebody selects it, here or elsewhere; both know of it."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    here, elsewhere = asking(daemon, tmp_path / "a"), asking(daemon, tmp_path / "b")
    page = visits.open(daemon)
    cards = {agent: page.locator(f"[data-agent='{agent}']") for agent in (here, elsewhere)}
    for card in cards.values():
        expect(card.locator(".unseen")).to_have_count(1)
    cards[here].click()
    expect(cards[here].locator(".unseen")).to_have_count(0)
    assert daemon.agent(here)["unseen"] is False
    assert daemon.agent(elsewhere)["unseen"] is True
    daemon.send("POST", f"/api/agents/{elsewhere}/seen", {}, scope="act")
    expect(cards[elsewhere].locator(".unseen")).to_have_count(0)


def test_waits_hits_and_turns_are_walked_through_by_keyboard(visits: Visits, stage: Stage) -> None:
    """Outside of the board j and k go from one thing to the next, Enter opens it, w leads to the wait."""
    page = visits.open(stage.daemon, "/waits")
    page.locator(".wait").first.wait_for()
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".wait").nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("nimble-kestrel")
    page.get_by_role("region", name="Conversation").locator(".turn").first.wait_for()
    page.keyboard.press("k")
    expect(page.locator(".turn").last).to_be_focused()
    page.keyboard.press("w")
    expect(page.locator(".wait")).to_be_focused()
    page.goto(stage.daemon.url + "/search?q=emoji")
    page.locator(".hit").first.wait_for()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("snug-plover")
    expect(page.locator(":focus")).to_contain_text("emoji")


def test_the_theme_is_chosen_and_remembered(visits: Visits, daemon: RunningDaemon) -> None:
    """Light and dark follow the system until somebody chooses; the choice stands before the first paint."""
    page = visits.open(daemon, color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark").click()
    dark = page.evaluate(ground)
    assert light != dark
    page.reload()
    assert page.evaluate(ground) == dark


def test_a_phone_shows_one_column(visits: Visits, stage: Stage) -> None:
    """Cards stand below one another, nothing runs out of the screen, a tap opens the agent."""
    page = visits.open(stage.daemon, viewport=PHONE, has_touch=True)
    page.locator(".card").first.wait_for()
    lefts = {round(box["x"]) for card in page.locator(".card").all() if (box := card.bounding_box())}
    assert len(lefts) == 1
    for path in ("/", "/waits", "/activity", "/logging", "/settings", f"/agents/{stage.ids['snug-plover']}"):
        page.goto(stage.daemon.url + path)
        page.wait_for_selector("[data-link=live]", state="attached")
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
    page.goto(stage.daemon.url)
    page.get_by_label("State", exact=True).select_option("working")
    expect(page.locator(".card")).to_have_count(3)
    page.get_by_label("Project", exact=True).select_option(label="web")
    assert names(page) == ["brisk-marten"]
    page.get_by_role("button", name="Show all").tap()
    page.locator(".card").first.tap()
    expect(page.locator("h1")).to_have_text("patient-heron")


def test_a_first_visit_explains_itself(visits: Visits, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Without agents the board says what to type, and the first agent appears without a reload."""
    page = visits.open(daemon)
    expect(page.get_by_text("headspace install")).to_be_visible()
    daemon.post("session-start", {"session_id": "first", "cwd": str(tmp_path)})
    expect(page.locator(".card")).to_have_count(1)


def test_motion_stops_when_less_is_asked_for(visits: Visits, stage: Stage) -> None:
    """The pulse of a working agent is still where the user wants no motion."""
    page = visits.open(stage.daemon, reduced_motion="reduce")
    page.locator(".shape.working").first.wait_for()
    running = json.loads(page.evaluate("JSON.stringify(document.getAnimations().map(a => a.playState))"))
    assert running == []
