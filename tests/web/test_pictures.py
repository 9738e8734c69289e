"""The screenshots of the documentation, taken from the demo, which is seeded and stopped at its first event.

They are saved in `tests/web/pictures`; `bin/pictures` also copies them to the documentation. `tests/tui/test_demo.py`
draws the terminal with the same agents.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from claude_headspace.demo.sandbox import Sandbox
from tests.demo.still import keep, still_demo
from tests.support import RunningDaemon
from tests.web.conftest import LAPTOP, Pages
from tests.web.held_waits import hold, settle

SCENES: dict[str, tuple[str, str, str]] = {
    "board-dark": ("/", "dark", "wants to run: docker image prune"),
    "board-light": ("/", "light", "wants to run: docker image prune"),
    "agent-light": ("/agents/snug-plover", "light", "digest = scrypt"),
    "changes-light": ("/agents/nimble-kestrel?tab=changes", "light", "def is_expired"),
    "changes-dark": ("/agents/nimble-kestrel?tab=changes", "dark", "def is_expired"),
    "activity-light": ("/activity", "light", "By hour"),
    "search-light": ("/search?q=login", "light", "The login page returns 500"),
    "waits-dark": ("/waits", "dark", "Which database should the tests run against?"),
}
"""Path, colour scheme, and a text that must be visible."""


@pytest.fixture(scope="module")
def show() -> Iterator[Sandbox]:
    """The demo at its first event."""
    with still_demo() as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def pages(browser: Browser, show: Sandbox) -> Iterator[dict[str, Page]]:
    """A signed-in page for each colour scheme, with the resolution of a good screen."""
    opened = {}
    for scheme in ("light", "dark"):
        context = browser.new_context(
            viewport=LAPTOP,  # type: ignore[arg-type]  # a dict with these keys
            color_scheme=scheme,
            device_scale_factor=1.5,
            reduced_motion="reduce",
        )
        page = opened[scheme] = context.new_page()
        client = show.client
        page.goto(client.url + client.create_sign_in_link()["path"])
        page.wait_for_selector("[data-connection=live]", state="attached")
    yield opened
    for page in opened.values():
        page.context.close()


@pytest.mark.parametrize("name", SCENES)
def test_the_page(pages: dict[str, Page], show: Sandbox, name: str) -> None:
    """The expected text is visible, and no directory of this machine."""
    path, scheme, wanted = SCENES[name]
    page = pages[scheme]
    page.goto(show.client.url + path)
    page.wait_for_selector("[data-connection=live]", state="attached")
    page.get_by_text(wanted).first.wait_for()
    if path == "/":
        page.keyboard.press("n")
        settle(page)
    if name == "changes-dark":
        page.get_by_role("button", name="Side by side").click()
    page.wait_for_timeout(500)  # skeletons disappear, transitions end
    keep(f"{name}.png", page.screenshot())
    directories = [line for line in page.inner_text("body").splitlines() if "/tmp" in line]
    assert directories == []


def test_the_doctor_of_the_demo(pages: dict[str, Page], show: Sandbox) -> None:
    """No check of the demo fails."""
    page = pages["light"]
    page.goto(show.client.url + "/logging")
    page.get_by_role("button", name="Run checks").click()
    doctor = page.get_by_role("region", name="Doctor")
    expect(doctor.locator(".checks .ok").first).to_be_visible(timeout=30_000)
    expect(doctor.locator(".checks .error")).to_have_count(0)


COMMAND = """docker compose build api worker \\
  && docker compose up -d --wait \\
  && ./bin/migrate --database production \\
  && echo done \u202e"""
RULE = {"toolName": "Bash", "ruleContent": "docker compose:*"}
SUGGESTIONS = [
    {"type": "addRules", "rules": [RULE], "behavior": "allow", "destination": "localSettings"},
    {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
]


def test_the_request(browser: Browser, daemon: RunningDaemon, tmp_path: Path) -> None:
    """One wait with its complete request, a hidden character, and the suggestions of the client."""
    folder = tmp_path / "shop"
    folder.mkdir()
    call = {"command": COMMAND, "description": "Deploy the new version"}
    hold(daemon, folder, tool_name="Bash", tool_input=call, permission_suggestions=SUGGESTIONS)
    [agent] = daemon.agents()
    daemon.send("POST", f"/api/agents/{agent['id']}/rename", {"name": "calm-otter"}, scope="act")
    opened = Pages(browser)
    size = {"width": 1120, "height": 620}
    page = opened.open(daemon, "/waits", viewport=size, color_scheme="light", device_scale_factor=1.5)
    settle(page)
    page.get_by_role("button", name="Always allow…").click()
    page.get_by_role("checkbox").first.check()
    settle(page)
    keep("request-light.png", page.screenshot())
    opened.close()
