"""Pictures of every view, in light and dark, for people to judge; some of them stand in the documentation.

They go to `tests/web/pictures`, which is not part of the project. `HEADSPACE_PICTURES=docs` renews those in `docs/`.
"""

import os

import pytest
from playwright.sync_api import Page

from tests.support import RunningDaemon
from tests.web.conftest import LAPTOP, PHONE, PICTURES, ROOT, Stage, Visits

VIEWS = {
    "board": "/",
    "agent": "/agents/snug-plover",
    "waits": "/waits",
    "search": "/search?q=auth",
    "activity": "/activity",
    "replay": "/replay/{snug-plover}",
    "logging": "/logging",
    "settings": "/settings",
}
ON_A_PHONE = {"board": "/", "agent": "/agents/snug-plover", "waits": "/waits"}
IN_THE_DOCS = {"board dark", "board light", "agent light", "activity light"}


def _take(page: Page, name: str) -> None:
    page.wait_for_timeout(250)  # skeletons go, colours settle
    PICTURES.mkdir(exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png")
    if os.environ.get("HEADSPACE_PICTURES") == "docs" and name in IN_THE_DOCS:
        folder = ROOT / "docs/pictures"
        folder.mkdir(exist_ok=True)
        page.screenshot(path=folder / f"{name.replace(' ', '-')}.png")


def _visit(visits: Visits, daemon: RunningDaemon, ids: dict[str, str], scheme: str, viewport: dict[str, int]) -> None:
    page = visits.open(daemon, viewport=viewport, color_scheme=scheme)
    size = "" if viewport == LAPTOP else " phone"
    for view, path in VIEWS.items() if not size else ON_A_PHONE.items():
        page.goto(daemon.url + path.replace("{snug-plover}", ids["snug-plover"]))
        page.wait_for_selector("[data-link=live]", state="attached")
        if view == "board" and not size:
            page.keyboard.press("n")
        _take(page, f"{view} {scheme}{size}")
    if not size:
        page.goto(daemon.url)
        for key, name in (("2", "projects"), ("3", "columns"), ("?", "help")):
            page.wait_for_selector(".card")
            page.keyboard.press(key)
            _take(page, f"{name} {scheme}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_can_be_seen(visits: Visits, stage: Stage, scheme: str) -> None:
    """Every view shows without complaint on a laptop and on a phone."""
    _visit(visits, stage.daemon, stage.ids, scheme, LAPTOP)
    _visit(visits, stage.daemon, stage.ids, scheme, PHONE)


def test_pages_without_agents_can_be_seen(visits: Visits, daemon: RunningDaemon) -> None:
    """A first visit, and one without a cookie, explain themselves."""
    page = visits.open(daemon, color_scheme="light")
    page.get_by_text("headspace install").wait_for()
    _take(page, "first visit")
    page = visits.open(daemon, signed_in=False, color_scheme="dark")
    page.get_by_text("headspace open", exact=True).first.wait_for()
    _take(page, "signed out")
