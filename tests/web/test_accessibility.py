"""Everybody can use the page: axe finds nothing serious on any view, in either theme."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.support import RunningDaemon
from tests.web.conftest import ROOT, Visits

AXE = ROOT / "web/node_modules/axe-core/axe.min.js"
SERIOUS = ("serious", "critical")
PATHS = (
    "/",
    "/agents/snug-plover",
    "/agents/able-ant",
    "/waits",
    "/search",
    "/activity",
    "/replay/{calm-otter}",
    "/logging",
    "/settings",
)


def findings(page: Page, axe: str) -> list[dict[str, Any]]:
    """What axe finds. It runs beside the page, where the content policy of the page does not apply."""
    page.evaluate(axe)
    result = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        {
            "rule": each["id"],
            "nodes": [node["html"][:160] + " | " + str(node["any"][:1])[:300] for node in each["nodes"][:3]],
        }
        for each in result["violations"]
        if each["impact"] in SERIOUS
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_has_a_serious_finding(
    visits: Visits, daemon: RunningDaemon, cast: dict[str, str], scheme: str
) -> None:
    """Contrast, names, roles, order: every view, with an agent selected and with the help open."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: bin/test installs it")
    axe = Path(AXE).read_text(encoding="utf-8")
    page = visits.open(daemon, color_scheme=scheme, reduced_motion="reduce")
    found = {}
    for path in PATHS:
        page.goto(daemon.url + path.replace("{calm-otter}", cast["calm-otter"]))
        page.wait_for_selector("[data-link=live]", state="attached")
        page.wait_for_timeout(400)
        if path == "/":
            page.keyboard.press("j")
            page.wait_for_timeout(200)
        found[path] = findings(page, axe)
    page.goto(daemon.url)
    page.locator(".card").first.wait_for()
    page.keyboard.press("3")
    page.wait_for_timeout(200)
    found["columns"] = findings(page, axe)
    page.keyboard.press("?")
    found["help"] = findings(page, axe)
    assert {path: each for path, each in found.items() if each} == {}
