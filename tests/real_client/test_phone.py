"""The real client asks for a permission, and the inbox of a phone allows it with one tap."""

from pathlib import Path

import pytest

playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: bin/test installs it")

from playwright.sync_api import ViewportSize, expect, sync_playwright  # noqa: E402  # after the check above

from claude_headspace.surfaces.page.static import FOLDER  # noqa: E402
from tests.real_client.model import Script, bash, reply, text  # noqa: E402
from tests.real_client.workspace import open_workspace  # noqa: E402
from tests.terminals import needs_tmux  # noqa: E402
from tests.web.chromium import CHROMIUM, FLAGS  # noqa: E402
from tests.web.conftest import PHONE, sign_in_link  # noqa: E402
from tests.web.held_waits import settle  # noqa: E402

pytestmark = needs_tmux

COMMAND = "echo done > login.txt"
SCRIPT: Script = {"Fix the login": [reply(bash(COMMAND)), reply(text("The login works."))]}
SIZE: ViewportSize = {"width": PHONE["width"], "height": PHONE["height"]}
SECONDS = 120_000
"""How long a step may take, in milliseconds: the client is slow on a loaded machine."""


def test_a_tap_in_the_inbox_of_a_phone_allows_the_command(tmp_path: Path) -> None:
    """Nothing runs before the tap. Afterwards the client has run exactly this command, and the turn ends."""
    if CHROMIUM is None or not (FOLDER / "index.html").is_file():
        pytest.skip("Chromium or the built page is missing")
    with open_workspace(tmp_path, SCRIPT) as workspace, sync_playwright() as playwright:
        client, made = workspace.client("--permission-mode", "default"), workspace.home.project / "login.txt"
        client.write("Fix the login")
        client.send()
        [wait] = workspace.held()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_context(viewport=SIZE, has_touch=True, is_mobile=True).new_page()
        page.set_default_timeout(SECONDS)
        expect.set_options(timeout=SECONDS)
        page.goto(sign_in_link(workspace.daemon))
        page.wait_for_selector("[data-connection=live]", state="attached")
        page.goto(f"{workspace.daemon.url}/waits")
        card = page.locator("article.wait")
        expect(card).to_contain_text(COMMAND)
        settle(page)
        assert not made.exists()
        card.get_by_role("button", name="Allow", exact=True).tap()
        expect(card).to_contain_text("llowed by")
        browser.close()
        workspace.agent("idle")
        assert made.read_text() == "done\n"
        answered = workspace.daemon.get(f"/api/waits/{wait['id']}").json()["answered"]
        assert answered["via"] == "web"
        assert "Do you want to proceed?" not in client.screen
