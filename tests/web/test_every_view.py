"""Every view in light and dark, on a laptop and a phone: seen by people (pictures) and by axe (accessibility).

The pictures go to `tests/web/pictures`, which is not part of the project, for people to judge. Those of the
documentation are taken from the demo (`test_pictures.py`).
"""

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.support import RunningDaemon
from tests.web.conftest import LAPTOP, PHONE, PICTURES, Stage, Visits

SERIOUS = ("serious", "critical")
RULES = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}
"""In the dark only the contrast differs."""

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
"""What a key makes of the board."""


def look(page: Page, name: str) -> None:
    """Take a picture."""
    page.wait_for_timeout(250)  # skeletons go, colours settle
    PICTURES.mkdir(exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png")


def findings(page: Page, axe: str, scheme: str) -> list[str]:
    """What axe finds. It runs beside the page, where the content policy of the page does not apply."""
    page.evaluate(axe)
    options = {"resultTypes": ["violations"], **RULES[scheme]}
    result: dict[str, Any] = page.evaluate("(options) => axe.run(document, options)", options)
    serious = [each for each in result["violations"] if each["impact"] in SERIOUS]
    return [f"{each['id']}: {node['html'][:200]}" for each in serious for node in each["nodes"][:3]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_can_be_used_by_everybody(visits: Visits, stage: Stage, axe: str, scheme: str) -> None:
    """Each view shows without complaint, and axe finds nothing serious: contrast, names, roles, order."""
    page = visits.open(stage.daemon, color_scheme=scheme, reduced_motion="reduce")
    found = {}
    for view, path in VIEWS.items():
        page.goto(stage.daemon.url + path.format_map({**stage.ids, "effort": stage.effort}))
        page.wait_for_selector("[data-link=live]", state="attached")
        if view == "board":
            page.locator(".card").first.wait_for()
            page.keyboard.press("n")
        look(page, f"{view} {scheme}")
        found[view] = findings(page, axe, scheme)
    page.goto(stage.daemon.url)
    for view, key in KEYS.items():
        page.locator(".card").first.wait_for()
        page.keyboard.press(key)
        look(page, f"{view} {scheme}")
        found[view] = findings(page, axe, scheme)
    assert {view: serious for view, serious in found.items() if serious} == {}


def test_a_phone_can_be_used_by_everybody(visits: Visits, stage: Stage, axe: str) -> None:
    """The board and an agent that waits, on a small screen."""
    page = visits.open(stage.daemon, viewport=PHONE, color_scheme="light", reduced_motion="reduce")
    for view, path in ON_A_PHONE.items():
        page.goto(stage.daemon.url + path)
        page.wait_for_selector("[data-link=live]", state="attached")
        look(page, f"{view} phone")
        assert findings(page, axe, "light") == []


def test_pages_without_agents_explain_themselves(visits: Visits, daemon: RunningDaemon, axe: str) -> None:
    """A first visit, and one without a cookie."""
    page = visits.open(daemon, color_scheme="light", viewport=LAPTOP)
    page.get_by_text("headspace install").wait_for()
    look(page, "first visit")
    assert findings(page, axe, "light") == []
    page = visits.open(daemon, signed_in=False, color_scheme="dark")
    page.get_by_text("headspace open", exact=True).first.wait_for()
    look(page, "signed out")
    assert findings(page, axe, "dark") == []
