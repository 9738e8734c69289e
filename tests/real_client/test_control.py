"""The real client, started and ended from the dashboard: in a worktree, with its terminal on the page."""

import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: bin/test installs it")

from playwright.sync_api import expect, sync_playwright  # noqa: E402  # after the check above

from claude_headspace.surfaces.page.static import FOLDER  # noqa: E402
from tests.inputs.repository.repositories import Repository  # noqa: E402
from tests.real_client.client import Home  # noqa: E402
from tests.real_client.model import Script, ScriptedModel, bash, reply, text  # noqa: E402
from tests.real_client.program import NEW, Unavailable  # noqa: E402
from tests.support import RunningDaemon, environment, running_daemon_in, wait_until  # noqa: E402
from tests.terminals import needs_tmux  # noqa: E402
from tests.web.chromium import CHROMIUM, FLAGS  # noqa: E402

pytestmark = needs_tmux

SCRIPT: Script = {"Fix the login": [reply(bash("echo done > login.txt")), reply(text("The login works."))]}
SECONDS = 120_000
"""How long a step may take, in milliseconds: the client starts slowly on a loaded machine."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """The home of the client."""
    if CHROMIUM is None or not (FOLDER / "index.html").is_file():
        pytest.skip("Chromium or the built page is missing")
    try:
        return Home(tmp_path / "home", NEW)
    except Unavailable as reason:
        pytest.skip(f"the real client cannot be run here: {reason}")


@pytest.fixture
def daemon(home: Home, tmp_path: Path) -> Iterator[RunningDaemon]:
    """A daemon that has the environment of the client, with a scripted model, and a tmux server of its own."""
    root, sockets = tmp_path / "headspace", Path("/tmp") / f"hs-tmux-{uuid.uuid4().hex[:8]}"
    sockets.mkdir(mode=0o700)
    with ScriptedModel(SCRIPT) as model:
        scratch = environment(root, config_dirs=str(home.config_dir))
        env = {**scratch, **home.environment(model.url), "TMUX_TMPDIR": str(sockets)}
        with running_daemon_in(root, env) as running:
            options = (f"--client-version={NEW}", f"--config-dir={home.config_dir}")
            install = [sys.executable, "-m", "claude_headspace", "install", "--yes", *options]
            subprocess.run(install, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)
            try:
                yield running
            finally:
                subprocess.run(["tmux", "-f", "/dev/null", "kill-server"], env=env, capture_output=True, check=False)
                (sockets / f"tmux-{sockets.stat().st_uid}" / "default").unlink(missing_ok=True)


def test_the_real_client_is_started_watched_and_removed(daemon: RunningDaemon, home: Home) -> None:
    """A dialog that only the terminal shows is visible on the page; uncommitted work keeps the worktree."""
    shop = Repository(home.project)
    path = home.project.parent / "shop-worktrees" / "login"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        page.set_default_timeout(SECONDS)
        expect.set_options(timeout=SECONDS)
        page.goto(daemon.url + daemon.send("POST", "/api/admin/signin", {}, scope="admin").json()["path"])
        page.wait_for_selector("[data-connection=live]", state="attached")
        page.goto(daemon.url + "/new")
        page.get_by_label("Project").fill(str(home.project))
        page.get_by_label("Project").blur()
        expect(page.get_by_text(f"{home.project}, branch main")).to_be_visible()
        page.get_by_label("First prompt").fill("Fix the login")
        page.get_by_label("Permission mode").select_option("default")
        page.get_by_label("In a git worktree").check()
        page.get_by_role("textbox", name="Branch").fill("login")
        page.get_by_role("button", name="Start agent").click()
        expect(page.get_by_role("heading", name="login")).to_be_visible()

        page.get_by_role("link", name="Terminal").click()
        screen = page.get_by_role("region", name="Screen of login")
        expect(screen).to_contain_text("Do you want to proceed?")
        wait_until(lambda: daemon.agent("login")["state"] == "waiting", "the permission dialog")
        actions = page.get_by_role("group", name="Actions")
        expect(actions.get_by_role("button", name="Archive")).to_be_disabled()
        actions.get_by_role("button", name="Stop").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("what it asks is not answered")
        dialog.get_by_role("button", name="Stop").click()
        expect(actions.get_by_role("button", name="Resume")).to_be_visible()
        assert not (path / "login.txt").exists()

        (path / "draft.txt").write_text("later\n")
        actions.get_by_role("button", name="Worktree").click()
        expect(dialog).to_contain_text("not committed: draft.txt")
        (path / "draft.txt").unlink()
        dialog.get_by_role("button", name="Remove", exact=True).click()
        expect(dialog).to_contain_text("Branch: login, whose commits are all in main")
        dialog.get_by_role("group", name="Confirm").get_by_role("button", name="Remove").click()
        expect(dialog.get_by_role("status")).to_contain_text("and the branch login.")
        browser.close()
    assert not path.exists()
    assert shop.git("branch", "--list", "login") == ""
