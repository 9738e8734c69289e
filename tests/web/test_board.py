"""The board: cards, order, filters, keyboard, theme, small screens."""

import json
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.support import RunningDaemon
from tests.web.conftest import PHONE, Pages, Sample
from tests.web.sample_agents import AGENTS


def names(page: Page) -> list[str]:
    """The names on the visible cards, in order."""
    return page.locator(".card .name").all_inner_texts()


def test_every_agent_has_a_card_and_waiting_agents_come_first(pages: Pages, sample: Sample) -> None:
    """A card shows activity, project, model, context and cost. The longest wait comes first."""
    page = pages.open(sample.daemon)
    expect(page.locator(".card")).to_have_count(len(AGENTS))
    assert names(page)[:4] == ["patient-heron", "nimble-kestrel", "able-ant", "olive-bee"]
    card = page.locator(f"[data-agent='{sample.ids['able-ant']}']")
    expect(card).to_contain_text("wants to run: docker image prune --all --force")
    expect(card).to_contain_text("last active")
    expect(card).to_contain_text("infra")
    expect(card).to_contain_text("opus 4.7")
    expect(card).to_contain_text("27 %")
    expect(card).to_contain_text("$0.84")
    lynx = page.locator(f"[data-agent='{sample.ids['quiet-lynx']}']")
    expect(lynx).to_contain_text("explorer, reading main.tf")
    expect(page.locator(f"[data-agent='{sample.ids['golden-trout']}']")).to_contain_text("idle, 2 shells running")


def test_cards_show_the_states_of_the_api(pages: Pages, sample: Sample) -> None:
    """Each card has the state that `GET /api/agents` returns."""
    page = pages.open(sample.daemon)
    expect(page.locator(".card")).to_have_count(len(AGENTS))
    shown = {
        card.get_attribute("data-agent"): card.get_attribute("class") or "" for card in page.locator(".card").all()
    }
    for agent in sample.daemon.agents():
        assert agent["state"] in shown[agent["id"]].split(), agent["name"]


def test_title_and_icon_show_how_many_agents_need_attention(pages: Pages, sample: Sample) -> None:
    """Three are waiting and one has an error: title and icon show four."""
    page = pages.open(sample.daemon)
    expect(page).to_have_title("(4) Board · Headspace")
    expect(page.locator("#favicon")).to_have_attribute("href", "/icons/4.svg")


def test_the_board_has_three_groupings(pages: Pages, sample: Sample) -> None:
    """By attention, by project, and a column for each state. The browser stores the choice."""
    page = pages.open(sample.daemon)
    page.get_by_role("button", name="Projects").click()
    expect(page.locator("h2.section").first).to_contain_text("api")
    page.get_by_role("button", name="Columns").click()
    expect(page.locator(".column")).to_have_count(5)
    page.reload()
    expect(page.locator(".column")).to_have_count(5)


def test_the_number_of_agents_with_and_without_a_filter(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Both count the same agents, and ended ones apart."""
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        daemon.post("session-start", {"session_id": name, "cwd": str(tmp_path / name)})
    daemon.post("session-end", {"session_id": "three", "cwd": str(tmp_path / "three"), "reason": "exit"})
    page = pages.open(daemon)
    number = page.locator("header .count")
    expect(number).to_have_text("2 agents, 1 ended")
    page.get_by_role("region", name="States").get_by_role("button", name="ended").click()
    expect(number).to_have_text("0 of 2 agents, 1 ended")
    page.keyboard.press("/")
    page.keyboard.type("nothing at all")
    expect(number).to_have_text("0 of 2 agents")


def test_filter_by_text_state_and_project(pages: Pages, sample: Sample) -> None:
    """Each filter hides the other agents; "Show all" shows them again."""
    page = pages.open(sample.daemon)
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Filter agents")).to_be_focused()
    page.keyboard.type("docker")
    expect(page.locator(".card")).to_have_count(1)
    page.get_by_role("button", name="Show all").click()
    page.get_by_role("region", name="States").get_by_role("button", name="working").click()
    expect(page.locator(".card")).to_have_count(3)
    page.get_by_role("region", name="Projects").get_by_role("button", name="web").click()
    expect(page.locator(".card .name")).to_have_text(["brisk-marten"])
    page.get_by_role("button", name="Show all").click()
    expect(page.locator(".card")).to_have_count(len(AGENTS))
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Filter agents")).to_be_focused()
    page.keyboard.type("no such thing anywhere")
    expect(page.get_by_text("No agent matches the filter")).to_be_visible()


def test_everything_works_with_the_keyboard(pages: Pages, sample: Sample) -> None:
    """j and k select, n selects the next agent, Enter opens, Esc goes back, g opens views, ? shows the help."""
    page = pages.open(sample.daemon)
    expect(page.locator(".card")).to_have_count(len(AGENTS))
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


def create_waiting_agent(daemon: RunningDaemon, folder: Path) -> str:
    """Create an agent that asks a question. Returns its id."""
    session = {"session_id": folder.name, "cwd": str(folder)}
    daemon.post("user-prompt-submit", {**session, "prompt": "Begin"})
    agent: str = daemon.post("stop", {**session, "last_assistant_message": "Shall I go on?"}).json()["agent_id"]
    return agent


def test_unseen_agents_are_marked(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """A waiting agent is unseen until it is selected, on the page or elsewhere."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    here, elsewhere = create_waiting_agent(daemon, tmp_path / "a"), create_waiting_agent(daemon, tmp_path / "b")
    page = pages.open(daemon)
    cards = {agent: page.locator(f"[data-agent='{agent}']") for agent in (here, elsewhere)}
    for card in cards.values():
        expect(card.locator(".unseen")).to_have_count(1)
    cards[here].click()
    expect(cards[here].locator(".unseen")).to_have_count(0)
    assert daemon.agent(here)["unseen"] is False
    assert daemon.agent(elsewhere)["unseen"] is True
    daemon.send("POST", f"/api/agents/{elsewhere}/seen", {}, scope="act")
    expect(cards[elsewhere].locator(".unseen")).to_have_count(0)


def test_j_and_k_move_the_focus_in_other_views(pages: Pages, sample: Sample) -> None:
    """Through waits, turns and search hits. Enter opens the item, w focuses the wait."""
    page = pages.open(sample.daemon, "/waits")
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
    page.goto(sample.daemon.url + "/search?q=emoji")
    page.locator(".hit").first.wait_for()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("snug-plover")
    expect(page.locator(":focus")).to_contain_text("emoji")


def test_the_theme_is_stored(pages: Pages, daemon: RunningDaemon) -> None:
    """The theme is that of the system until the user selects one. It is applied before the first paint."""
    page = pages.open(daemon, color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark").click()
    dark = page.evaluate(ground)
    assert light != dark
    page.reload()
    assert page.evaluate(ground) == dark


def test_a_phone_shows_one_column(pages: Pages, sample: Sample) -> None:
    """Nothing is wider than the screen. A tap opens the agent."""
    page = pages.open(sample.daemon, viewport=PHONE, has_touch=True)
    page.locator(".card").first.wait_for()
    lefts = {round(box["x"]) for card in page.locator(".card").all() if (box := card.bounding_box())}
    assert len(lefts) == 1
    for path in ("/", "/waits", "/activity", "/logging", "/settings", f"/agents/{sample.ids['snug-plover']}"):
        page.goto(sample.daemon.url + path)
        page.wait_for_selector("[data-connection=live]", state="attached")
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
    page.goto(sample.daemon.url)
    page.get_by_label("State", exact=True).select_option("working")
    expect(page.locator(".card")).to_have_count(3)
    page.get_by_label("Project", exact=True).select_option(label="web")
    expect(page.locator(".card .name")).to_have_text(["brisk-marten"])
    page.get_by_role("button", name="Show all").tap()
    page.locator(".card").first.tap()
    expect(page.locator("h1")).to_have_text("patient-heron")


def test_an_empty_board_shows_the_install_command(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The first agent appears without a reload."""
    page = pages.open(daemon)
    expect(page.get_by_text("headspace install")).to_be_visible()
    daemon.post("session-start", {"session_id": "first", "cwd": str(tmp_path)})
    expect(page.locator(".card")).to_have_count(1)


def test_reduced_motion_disables_animations(pages: Pages, sample: Sample) -> None:
    """The icon of a working agent does not pulse."""
    page = pages.open(sample.daemon, reduced_motion="reduce")
    page.locator(".shape.working").first.wait_for()
    running = json.loads(page.evaluate("JSON.stringify(document.getAnimations().map(a => a.playState))"))
    assert running == []
