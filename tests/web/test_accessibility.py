"""Everybody can use the page: axe finds nothing serious on any view, in either theme."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.web.conftest import ROOT, Stage, Visits

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


def findings(page: Page, axe: str, rules: Sequence[str]) -> list[dict[str, Any]]:
    """What axe finds. It runs beside the page, where the content policy of the page does not apply."""
    page.evaluate(axe)
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = list(rules)
    result = page.evaluate("(options) => axe.run(document, options)", options)
    return [
        {
            "rule": each["id"],
            "nodes": [node["html"][:160] + " | " + str(node["any"][:1])[:300] for node in each["nodes"][:3]],
        }
        for each in result["violations"]
        if each["impact"] in SERIOUS
    ]


@pytest.mark.parametrize(("scheme", "rules"), [("light", ()), ("dark", ("color-contrast",))])
def test_no_view_has_a_serious_finding(visits: Visits, stage: Stage, scheme: str, rules: Sequence[str]) -> None:
    """Contrast, names, roles, order: every view, with an agent selected and with the help open. In the dark only the
    contrast differs.
    """
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: bin/test installs it")
    axe = Path(AXE).read_text(encoding="utf-8")
    page = visits.open(stage.daemon, color_scheme=scheme, reduced_motion="reduce")
    found = {}
    for path in PATHS:
        page.goto(stage.daemon.url + path.replace("{calm-otter}", stage.ids["calm-otter"]))
        page.wait_for_selector("[data-link=live]", state="attached")
        page.wait_for_timeout(250)
        if path == "/":
            page.keyboard.press("j")
            page.wait_for_timeout(200)
        found[path] = findings(page, axe, rules)
    page.goto(stage.daemon.url)
    page.locator(".card").first.wait_for()
    page.keyboard.press("3")
    page.wait_for_timeout(200)
    found["columns"] = findings(page, axe, rules)
    page.keyboard.press("?")
    found["help"] = findings(page, axe, rules)
    assert {path: each for path, each in found.items() if each} == {}
