"""Every view and dialog in light and dark, at three sizes, checked with axe.

Screenshots are saved in `tests/web/pictures`, which Git ignores. `test_pictures.py` takes those of the documentation.
"""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support import RunningDaemon
from tests.web.conftest import LAPTOP, PHONE, PICTURES, SIZES, Pages, Sample

SERIOUS = ("serious", "critical")
RULES = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}
"""In dark mode only the contrast differs."""

VIEWS = {
    "board": "/",
    "new": "/new",
    "agent": "/agents/snug-plover",
    "waiting agent": "/agents/able-ant",
    "terminal": "/agents/snug-plover?tab=terminal",
    "waits": "/waits",
    "missions": "/missions",
    "efforts": "/efforts",
    "effort": "/efforts/{effort}",
    "search": "/search?q=auth",
    "activity": "/activity",
    "usage": "/usage",
    "timeline": "/timeline",
    "replay": "/replay/{snug-plover}",
    "logging": "/logging",
    "settings": "/settings",
}
KEYS = {"projects": "2", "columns": "3", "help": "?"}
"""Variants of the board, by the key that shows them."""
ACTIONS = ("Stop", "Fork", "Rename", "Note")
"""Buttons of an agent that open a dialog."""


def screenshot(page: Page, name: str) -> None:
    """Save a screenshot."""
    page.wait_for_timeout(250)  # skeletons disappear, transitions end
    PICTURES.mkdir(exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png")


def axe_violations(page: Page, axe: str, scheme: str) -> list[str]:
    """Serious and critical violations. `evaluate` is not subject to the content security policy of the page."""
    page.evaluate(axe)
    options = {"resultTypes": ["violations"], **RULES[scheme]}
    result: dict[str, Any] = page.evaluate("(options) => axe.run(document, options)", options)
    serious = [each for each in result["violations"] if each["impact"] in SERIOUS]
    return [f"{each['id']}: {node['html'][:200]}" for each in serious for node in each["nodes"][:3]]


def opened(page: Page, name: str) -> Locator:
    """A dialog, once it is shown."""
    dialog = page.get_by_role("dialog", name=name)
    expect(dialog).to_be_visible()
    return dialog


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_is_accessible(pages: Pages, sample: Sample, axe: str, scheme: str, size: str) -> None:
    """axe finds no serious violation: contrast, names, roles, order. Nothing is wider than the window."""
    page = pages.open(sample.daemon, viewport=SIZES[size], color_scheme=scheme, reduced_motion="reduce")
    found = {}
    for view, path in VIEWS.items():
        page.goto(sample.daemon.url + path.format_map({**sample.ids, "effort": sample.effort}))
        page.wait_for_selector("[data-connection=live]", state="attached")
        if view == "board":
            page.locator(".card").first.wait_for()
            page.keyboard.press("n")
        screenshot(page, f"{view} {size} {scheme}")
        found[view] = axe_violations(page, axe, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"], view
    page.goto(sample.daemon.url)
    for view, key in KEYS.items():
        page.locator(".card").first.wait_for()
        page.keyboard.press(key)
        screenshot(page, f"{view} {size} {scheme}")
        found[view] = axe_violations(page, axe, scheme)
    assert {view: serious for view, serious in found.items() if serious} == {}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_dialog_is_accessible(pages: Pages, sample: Sample, axe: str, scheme: str, size: str) -> None:
    """axe finds no serious violation. Esc closes the dialog only, and the focus returns."""
    page = pages.open(
        sample.daemon, "/agents/snug-plover", viewport=SIZES[size], color_scheme=scheme, reduced_motion="reduce"
    )
    found = {}
    for action in ACTIONS:
        button = page.get_by_role("group", name="Actions").get_by_role("button", name=action, exact=True)
        button.click()
        dialog = opened(page, f"{action} on snug-plover" if action == "Note" else f"{action} snug-plover")
        dialog.get_by_role("heading").click()  # text takes the focus from the fields
        screenshot(page, f"{action} {size} {scheme}")
        found[action] = axe_violations(page, axe, scheme)
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        expect(button).to_be_focused()
        expect(page.locator("h1")).to_have_text("snug-plover")
    page.locator("summary", has_text="Share").click()
    expect(page.get_by_role("button", name="Create a link")).to_be_visible()
    found["share"] = axe_violations(page, axe, scheme)
    page.goto(f"{sample.daemon.url}/settings")
    field = page.get_by_label("New value of policy_preset")
    field.focus()
    field.select_option("watch")
    dialog = opened(page, "Save this change?")
    expect(dialog.get_by_role("button", name="Save")).to_be_enabled()
    screenshot(page, f"plan {size} {scheme}")
    found["plan"] = axe_violations(page, axe, scheme)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(field).to_be_focused()
    assert {name: serious for name, serious in found.items() if serious} == {}


def test_an_action_that_does_not_apply_says_why(pages: Pages, sample: Sample) -> None:
    """With its key and with a finger, where nothing can be hovered over."""
    page = pages.open(sample.daemon, "/agents/snug-plover", viewport=PHONE, has_touch=True)
    actions = page.get_by_role("group", name="Actions")
    actions.get_by_role("button", name="Archive").tap(force=True)
    expect(actions.get_by_role("status")).to_have_text("Only ended agents can be archived. Stop it first.")
    page.keyboard.press("W")
    expect(actions.get_by_role("status")).to_have_text("snug-plover does not work in a git worktree of its own.")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_empty_pages_are_accessible(pages: Pages, daemon: RunningDaemon, axe: str) -> None:
    """The board without agents, and the sign-in page."""
    page = pages.open(daemon, color_scheme="light", viewport=LAPTOP)
    page.get_by_text("headspace install").wait_for()
    screenshot(page, "first visit")
    assert axe_violations(page, axe, "light") == []
    page = pages.open(daemon, signed_in=False, color_scheme="dark")
    page.get_by_text("headspace open", exact=True).first.wait_for()
    screenshot(page, "signed out")
    assert axe_violations(page, axe, "dark") == []
