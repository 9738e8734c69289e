"""The view *Timeline*: bands, commands, sub-agents, zoom, live updates, and a thousand agents."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support import RunningDaemon, running_daemon
from tests.web.conftest import PHONE, SIZES, Pages
from tests.web.sample_timeline import Past, create
from tests.web.test_accessibility import axe_violations, screenshot

AGENTS = 1_000
PATIENCE = 30_000
"""Milliseconds for what follows an event or a large request."""


@dataclass(frozen=True)
class Worked:
    """A daemon with agents that worked some hours, and their names by session."""

    daemon: RunningDaemon
    names: dict[str, str]


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worked]:
    """Shared by all tests that only read."""
    with running_daemon(tmp_path_factory.mktemp("timeline") / "home", heartbeat_seconds=2) as running:
        ids = create(running)
        names = {agent["id"]: agent["name"] for agent in running.agents()}
        yield Worked(running, {session: names[agent] for session, agent in ids.items()})


def track(page: Page, name: str) -> Locator:
    """What an agent did."""
    return page.locator(f"a.track[aria-label^='{name},']")


def test_states_are_bands(pages: Pages, worked: Worked) -> None:
    """A row for each agent below its project, with its waits, commands and sub-agents."""
    page = pages.open(worked.daemon, "/timeline")
    expect(page.locator(".project h2")).to_have_text(["api-2", "api-3", "api-4", "infra-5", "shop-0", "shop-1"])
    expect(page.locator("a.track")).to_have_count(6)
    waiting = track(page, worked.names["shop-1"])
    expect(waiting.locator(".band.waiting").last).to_be_visible()
    expect(waiting).to_have_attribute("aria-label", re.compile("waiting for an answer, .* commands"))
    expect(track(page, worked.names["api-2"]).locator(".band.error")).to_be_visible()
    expect(waiting.locator(".command")).to_have_count(4)
    assert page.evaluate("window.hacked") is None


def test_idle_agents_are_hidden(pages: Pages, worked: Worked) -> None:
    """They can be shown; the filter finds agents by name and project."""
    page = pages.open(worked.daemon, "/timeline")
    expect(track(page, worked.names["rest-9"])).to_have_count(0)
    page.get_by_label("1 agent without activity").check()
    expect(track(page, worked.names["rest-9"])).to_have_count(1)
    page.keyboard.press("/")
    page.keyboard.type("infra")
    expect(page.locator("a.track")).to_have_count(1)
    page.keyboard.type(" nothing")
    expect(page.get_by_text("No agent matches")).to_be_visible()


def test_evidence_on_hover_and_focus(pages: Pages, worked: Worked) -> None:
    """A state shows its time, duration and evidence; Enter opens the agent at that time."""
    page = pages.open(worked.daemon, "/timeline")
    caption = page.locator(".caption")
    row = track(page, worked.names["shop-1"])
    row.locator(".band.waiting").last.hover()
    expect(caption).to_contain_text("was waiting for an answer")
    expect(caption).to_contain_text("confidence")
    row.focus()
    page.keyboard.press("Home")
    expect(caption).to_contain_text("was working")
    page.keyboard.press("ArrowRight")
    expect(caption).to_contain_text("Split the settings page into tabs")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(worked.names["shop-1"])


def test_a_tap_selects_and_a_second_one_opens(pages: Pages, worked: Worked) -> None:
    """The evidence of the selected state stays visible after the finger is lifted."""
    page = pages.open(worked.daemon, "/timeline", viewport=PHONE, has_touch=True, is_mobile=True)
    row = track(page, worked.names["shop-1"])
    row.tap()
    expect(page.locator(".caption")).to_contain_text("confidence")
    row.tap()
    expect(page.locator("h1")).to_have_text(worked.names["shop-1"])


def test_an_open_wait_is_opened(pages: Pages, worked: Worked) -> None:
    """A click on it goes to the wait."""
    page = pages.open(worked.daemon, "/timeline")
    track(page, worked.names["shop-1"]).locator(".band.waiting").last.click()
    expect(page.locator(".wait").first).to_be_focused()


def test_sub_agents_are_nested(pages: Pages, worked: Worked) -> None:
    """They are folded."""
    page = pages.open(worked.daemon, "/timeline")
    expect(page.locator(".helper")).to_have_count(0)
    page.get_by_role("button", name=f"Sub-agents of {worked.names['shop-0']}").click()
    expect(page.locator(".helper")).to_have_text(["explorer"])
    expect(page.locator(".helper-track")).to_have_attribute("href", re.compile(r"/agents/.*\?at="))


def test_zoom_and_pan(pages: Pages, worked: Worked) -> None:
    """With buttons, keys and the wheel; the window is in the address."""
    page = pages.open(worked.daemon, "/timeline")
    expect(page.locator("a.track")).to_have_count(6)
    page.keyboard.press("+")
    expect(page).to_have_url(f"{worked.daemon.url}/timeline?minutes=180")
    page.get_by_role("button", name="Zoom out").click()
    expect(page).to_have_url(f"{worked.daemon.url}/timeline?minutes=360")
    page.keyboard.press("h")
    expect(page).to_have_url(re.compile("since=.*&until="))
    expect(page.locator("a.track").first).to_be_visible()
    before = page.url
    page.get_by_role("region", name="Chart").hover()
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    expect(page).not_to_have_url(before)
    page.keyboard.press("0")
    expect(page).to_have_url(f"{worked.daemon.url}/timeline")
    page.get_by_role("button", name="1 hour").click()
    page.reload()
    expect(page.get_by_role("button", name="1 hour", pressed=True)).to_be_visible()


def test_quiet_times_are_shortened(pages: Pages, worked: Worked) -> None:
    """Hours without work do not squeeze the last minutes."""
    page = pages.open(worked.daemon, "/timeline")
    expect(page.locator(".scale .gap").first).to_be_attached()
    chart = page.locator(".scale").bounding_box()
    band = track(page, worked.names["shop-0"]).locator(".band.working").last.bounding_box()
    assert chart is not None
    assert band is not None
    assert band["width"] > chart["width"] * 5 / 360


def test_the_list_has_the_same(pages: Pages, worked: Worked) -> None:
    """A table for those who do not see the chart. Text of agents is text."""
    page = pages.open(worked.daemon, "/timeline")
    page.get_by_role("group", name="Layout").get_by_role("button", name="List").click()
    expect(page.locator("tbody tr").first).to_contain_text(worked.names["api-2"])
    expect(page.get_by_role("cell", name="<img src=x")).to_be_visible()
    expect(page.get_by_role("cell", name="⟦U+202E⟧")).to_be_visible()
    page.locator("tbody a").first.click()
    expect(page.locator("h1")).to_have_text(worked.names["api-2"])


def test_it_is_live(pages: Pages, daemon: RunningDaemon) -> None:
    """States, commands and new agents appear while it is open."""
    page = pages.open(daemon)
    page.keyboard.press("g")
    page.keyboard.press("t")
    expect(page.get_by_text("No activity in this time")).to_be_visible()
    past = Past(daemon)
    past.post("shop-1", 0.5, "user-prompt-submit", prompt="Go")
    expect(page.locator("a.track .band.working")).to_have_count(1, timeout=PATIENCE)
    expect(page.locator("a.track .command")).to_have_count(1)
    past.post("shop-1", 0, "stop", last_assistant_message="Shall I?")
    expect(page.locator("a.track .band.waiting")).to_have_count(1, timeout=PATIENCE)
    expect(page.locator(".lines .now")).to_be_attached()


def test_a_thousand_agents(pages: Pages, daemon: RunningDaemon) -> None:
    """Only visible rows are rendered, also after scrolling to the end."""
    with daemon.client() as client:
        for number in range(AGENTS):
            session = {"session_id": f"s{number}", "cwd": f"/home/dev/project-{number % 40}"}
            client.post("user-prompt-submit", {**session, "prompt": f"Task number {number}"})
    page = pages.open(daemon, "/timeline")
    expect(page.get_by_text("1,000 agents")).to_be_visible(timeout=PATIENCE)
    expect(page.locator("a.track").first).to_be_visible()
    assert page.locator("a.track").count() < 100
    last = max(
        (agent for agent in daemon.agents() if agent["project"]["name"] == "project-9"), key=lambda a: a["created_at"]
    )
    page.get_by_role("region", name="Agents").evaluate("(list) => { list.scrollTop = list.scrollHeight }")
    expect(track(page, last["name"])).to_be_in_viewport()
    assert page.locator("a.track").count() < 100


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_size_is_accessible(pages: Pages, worked: Worked, axe: str, scheme: str) -> None:
    """axe finds nothing serious, and nothing is wider than the window."""
    for size, viewport in SIZES.items():
        page = pages.open(worked.daemon, "/timeline", viewport=viewport, color_scheme=scheme, reduced_motion="reduce")
        expect(page.locator("a.track").first).to_be_visible()
        screenshot(page, f"timeline {size} {scheme}")
        assert axe_violations(page, axe, scheme) == []
        assert page.evaluate("document.querySelector('main').scrollWidth <= document.querySelector('main').clientWidth")
    page.get_by_role("button", name="List").click()
    expect(page.locator("tbody tr").first).to_be_visible()
    screenshot(page, f"timeline list {scheme}")
    assert axe_violations(page, axe, scheme) == []
