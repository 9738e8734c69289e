"""The dashboard on a phone: an inbox for one thumb, targets that are large enough, navigation that fits."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support import RunningDaemon
from tests.web.conftest import PHONE, Pages, Sample, sign_in_link
from tests.web.held_waits import HeldHook, answers, decision, hold, settle, started

SMALL_PHONE = {"width": 360, "height": 640}
SIZES = pytest.mark.parametrize("size", [PHONE, SMALL_PHONE], ids=["390x844", "360x640"])
THUMB: dict[str, Any] = {"has_touch": True, "is_mobile": True}
LONG_COMMAND = "\n".join(f"echo step {number}" for number in range(120))
LONG_OPTION = "A new service with its own database, its own deployment and a queue between both " * 2

SMALL_TARGETS = """() => {
  const controls = [...document.querySelectorAll("main :is(a, button, summary, select, input, textarea)")];
  const heightOf = (each) => each?.getBoundingClientRect().height ?? 0;
  return controls.filter((each) => {
    const isText = each.closest("p, dd, td, .prose") !== null && each.tagName === "A";
    const isShown = each.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    return !isText && isShown && Math.max(heightOf(each), heightOf(each.closest("label"))) < 43.5;
  }).map((each) => each.outerHTML.slice(0, 120));
}"""
"""Controls that are less than 44 pixels high, except links within a text."""
ZOOMING_FIELDS = """() => [...document.querySelectorAll("input:not([type=checkbox], [type=range]), select, textarea")]
  .filter((each) => parseFloat(getComputedStyle(each).fontSize) < 16).map((each) => each.outerHTML.slice(0, 120))"""


LOADED = "() => document.querySelector('main h1') && !document.querySelector('main [aria-busy=true]')"
TAP_TWICE = """() => {
  const click = (name) => [...document.querySelectorAll("main button")].find((each) => each.innerText === name).click();
  click("Next request");
  requestAnimationFrame(() => requestAnimationFrame(() => {
    click("Deny");
    window.isTapped = true;
  }));
}"""
"""Shows the next request, and denies it as soon as it is there."""


def open_on_phone(pages: Pages, daemon: RunningDaemon, path: str, size: dict[str, int] = PHONE) -> Page:
    """A page on a phone."""
    return pages.open(daemon, path, viewport=size, **THUMB)


def card(page: Page) -> Locator:
    """The request that the inbox shows."""
    return page.locator("article.wait")


def button(page: Page, name: str) -> Locator:
    """A button of the request."""
    return card(page).get_by_role("button", name=name, exact=True)


def hold_command(daemon: RunningDaemon, folder: Path, command: str, session: str = "one") -> HeldHook:
    """An agent asks to run a command."""
    return hold(daemon, folder, session=session, tool_name="Bash", tool_input={"command": command})


@SIZES
def test_a_request_is_answered_with_one_thumb(
    pages: Pages, daemon: RunningDaemon, tmp_path: Path, size: dict[str, int]
) -> None:
    """The buttons are in the lower half. A long request is allowed only after it was read, and the next one follows."""
    first = hold_command(daemon, tmp_path, LONG_COMMAND)
    second = hold_command(daemon, tmp_path, "make second", "two")
    page = open_on_phone(pages, daemon, "/waits", size)
    expect(card(page)).to_have_count(1)
    expect(page.get_by_text("1 of 2")).to_be_visible()
    allow = button(page, "Allow")
    place = allow.bounding_box()
    assert place is not None
    assert place["y"] > size["height"] / 2
    settle(page)
    allow.tap(force=True)
    expect(card(page)).to_contain_text("Scroll through all of the request")
    assert answers(daemon) == []
    reading = card(page).locator(".reading")
    for _ in range(200):
        if allow.get_attribute("aria-disabled") == "false":
            break
        reading.evaluate("(part) => part.scrollBy({ top: 80, behavior: 'instant' })")
        page.wait_for_timeout(450)
    assert allow.bounding_box() == place
    settle(page)
    allow.tap()
    assert decision(first) == {"behavior": "allow"}
    card(page).get_by_role("button", name="Next:").tap()
    expect(page.get_by_text("make second")).to_be_visible()
    expect(page.get_by_text("2 of 2")).to_be_visible()
    settle(page)
    button(page, "Deny").tap()
    assert decision(second)["behavior"] == "deny"


def test_a_tap_right_after_a_request_appeared_does_not_count(
    pages: Pages, daemon: RunningDaemon, tmp_path: Path
) -> None:
    """A tap that was meant for another request neither allows nor denies this one."""
    hold_command(daemon, tmp_path, "make first")
    hold_command(daemon, tmp_path, "make second", "two")
    page = open_on_phone(pages, daemon, "/waits")
    settle(page)
    page.evaluate(TAP_TWICE)
    page.wait_for_function("() => window.isTapped")
    expect(page.get_by_text("make second")).to_be_visible()
    settle(page)
    assert answers(daemon) == []


def test_a_link_opens_exactly_its_request(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Not the longest wait. A link to a closed request says what became of it; all of them also on a laptop."""
    hold_command(daemon, tmp_path, "make first")
    hold_command(daemon, tmp_path, "make second", "two")
    wait = next(each["id"] for each in daemon.get("/api/waits").json() if each["summary"] == "make second")
    page = open_on_phone(pages, daemon, f"/waits/{wait}")
    expect(card(page)).to_contain_text("make second")
    wide = pages.open(daemon, f"/waits/{wait}")
    expect(wide.locator(f"#wait-{wait}")).to_be_focused()
    daemon.send("POST", f"/api/waits/{wait}/answer", {"decision": "deny"}, scope="act")
    expect(card(page)).to_contain_text("enied by")
    daemon.post("stop", {"session_id": "two", "cwd": str(tmp_path), "last_assistant_message": "Then not."})
    expect(page.get_by_role("link", name="Waits")).to_contain_text("1")
    page.reload()
    expect(page.get_by_text("This request is closed")).to_be_visible()
    page.get_by_role("link", name="all requests").tap()
    expect(card(page)).to_contain_text("make first")


def test_long_options_wrap(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """An option is completely visible, and the answer reaches the client."""
    question = {
        "question": "Where should it live?",
        "header": "Place",
        "multiSelect": False,
        "options": [{"label": LONG_OPTION.strip(), "description": "Slow"}, {"label": "Here", "description": "Fast"}],
    }
    common = {"session_id": "one", "cwd": str(tmp_path)}
    call = {**common, "tool_name": "AskUserQuestion", "tool_input": {"questions": [question]}}
    daemon.post("user-prompt-submit", {**common, "prompt": "Go"})
    daemon.post("pre-tool-use", {**call, "tool_use_id": "one"})
    hook = started(HeldHook(daemon, call), daemon)
    page = open_on_phone(pages, daemon, "/waits", SMALL_PHONE)
    option = card(page).get_by_role("button", name="A new service")
    assert option.evaluate(
        "(each) => each.scrollWidth <= each.clientWidth && each.scrollHeight <= each.clientHeight + 1"
    )
    settle(page)
    option.tap()
    settle(page)
    button(page, "Answer").tap()
    answered = decision(hook)["updatedInput"]["answers"]
    assert answered == {"Where should it live?": LONG_OPTION.strip()}


@SIZES
def test_every_view_fits(pages: Pages, sample: Sample, size: dict[str, int]) -> None:
    """Nothing is wider than the screen, controls are at least 44 pixels high, and no field makes the phone zoom."""
    agent = sample.ids["snug-plover"]
    views = ("/", "/waits", "/missions", "/efforts", "/search?q=login", "/usage", "/activity", "/replay/snug-plover")
    page = open_on_phone(pages, sample.daemon, "/", size)
    for path in (*views, f"/efforts/{sample.effort}", "/logging", "/settings", f"/agents/{agent}"):
        page.goto(sample.daemon.url + path)
        page.wait_for_selector("[data-connection=live]", state="attached")
        page.wait_for_function(LOADED)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], path
        assert page.evaluate(SMALL_TARGETS) == [], path
        assert page.evaluate(ZOOMING_FIELDS) == [], path


def test_all_views_are_within_reach(pages: Pages, sample: Sample) -> None:
    """Board, waits and search at the bottom of the screen, all others behind More."""
    page = open_on_phone(pages, sample.daemon, "/", SMALL_PHONE)
    bar = page.get_by_role("navigation", name="Views", exact=True)
    place = bar.bounding_box()
    assert place is not None
    assert place["y"] + place["height"] == SMALL_PHONE["height"]
    bar.get_by_role("link", name="Search").tap()
    expect(page.locator("h1")).to_have_text("Search")
    bar.get_by_role("button", name="More").tap()
    page.get_by_role("dialog").get_by_role("link", name="Settings").tap()
    expect(page.locator("h1")).to_have_text("Settings")
    expect(page.get_by_role("dialog")).to_be_hidden()
    bar.get_by_role("link", name="Board").tap()
    expect(page.locator(".card").first).to_be_visible()


def test_an_installed_app_signs_in_with_a_pasted_link(pages: Pages, daemon: RunningDaemon) -> None:
    """It does not share the sign-in of the browser, and links do not open it."""
    page = pages.open(daemon, "/", viewport=PHONE, signed_in=False, **THUMB)
    page.get_by_label("Sign-in link").fill(sign_in_link(daemon))
    page.get_by_role("button", name="Sign in").tap()
    page.wait_for_selector("[data-connection=live]", state="attached")
