"""Every view in light and dark, on a laptop and a phone, checked with axe.

Screenshots are saved in `tests/web/pictures`, which Git ignores. `test_pictures.py` takes those of the documentation.
"""

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.support import RunningDaemon
from tests.web.conftest import LAPTOP, PHONE, PICTURES, Pages, Sample

SERIOUS = ("serious", "critical")
RULES = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}
"""In dark mode only the contrast differs."""

VIEWS = {
    "board": "/",
    "agent": "/agents/snug-plover",
    "waits": "/waits",
    "missions": "/missions",
    "efforts": "/efforts",
    "effort": "/efforts/{effort}",
    "search": "/search?q=auth",
    "activity": "/activity",
    "replay": "/replay/{snug-plover}",
    "logging": "/logging",
    "settings": "/settings",
}
ON_A_PHONE = {"board": "/", "agent": "/agents/able-ant"}
KEYS = {"projects": "2", "columns": "3", "help": "?"}
"""Variants of the board, by the key that shows them."""


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_is_accessible(pages: Pages, sample: Sample, axe: str, scheme: str) -> None:
    """axe finds no serious violation: contrast, names, roles, order."""
    page = pages.open(sample.daemon, color_scheme=scheme, reduced_motion="reduce")
    found = {}
    for view, path in VIEWS.items():
        page.goto(sample.daemon.url + path.format_map({**sample.ids, "effort": sample.effort}))
        page.wait_for_selector("[data-connection=live]", state="attached")
        if view == "board":
            page.locator(".card").first.wait_for()
            page.keyboard.press("n")
        screenshot(page, f"{view} {scheme}")
        found[view] = axe_violations(page, axe, scheme)
    page.goto(sample.daemon.url)
    for view, key in KEYS.items():
        page.locator(".card").first.wait_for()
        page.keyboard.press(key)
        screenshot(page, f"{view} {scheme}")
        found[view] = axe_violations(page, axe, scheme)
    assert {view: serious for view, serious in found.items() if serious} == {}


def test_a_phone_is_accessible(pages: Pages, sample: Sample, axe: str) -> None:
    """The board and a waiting agent on a small screen."""
    page = pages.open(sample.daemon, viewport=PHONE, color_scheme="light", reduced_motion="reduce")
    for view, path in ON_A_PHONE.items():
        page.goto(sample.daemon.url + path)
        page.wait_for_selector("[data-connection=live]", state="attached")
        screenshot(page, f"{view} phone")
        assert axe_violations(page, axe, "light") == []


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
