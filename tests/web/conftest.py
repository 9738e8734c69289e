"""A real Chromium and a real daemon. Without Chromium, all tests are skipped.

An error in the console of a page, or an uncaught exception, fails the test that opened the page.
"""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: bin/test installs it")

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright  # noqa: E402  # after the check above

from claude_headspace.surfaces.page.static import FOLDER  # noqa: E402
from tests.support import RunningDaemon, running_daemon  # noqa: E402
from tests.support_rpc import call  # noqa: E402
from tests.web.chromium import CHROMIUM, FLAGS  # noqa: E402
from tests.web.sample_agents import SampleAgents  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "web/node_modules/axe-core/axe.min.js"
PICTURES = Path(__file__).with_name("pictures")
LAPTOP = {"width": 1440, "height": 900}
TABLET = {"width": 1024, "height": 768}
PHONE = {"width": 390, "height": 844}
SIZES = {"laptop": LAPTOP, "tablet": TABLET, "phone": PHONE}
NETWORK_ERRORS = ("net::ERR_", "Failed to load resource")
"""Logged by the browser while the daemon is not running. The page shows its own message."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (Debian: apt install chromium)")
    if not (FOLDER / "index.html").is_file():
        pytest.skip("the page is not built: run bin/page")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core. Building the page does not install it, so it is installed here if it is missing."""
    if not AXE.is_file():
        command = [sys.executable, str(ROOT / "web/check.py"), "packages"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not AXE.is_file():
            last = (done.stdout + done.stderr).strip().splitlines()[-1:]
            pytest.skip(f"axe-core is not installed, and npm could not install it: {' '.join(last)}")
    return AXE.read_text(encoding="utf-8")


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    """A daemon without agents."""
    with running_daemon(tmp_path / "home", heartbeat_seconds=2) as running:
        yield running


@dataclass(frozen=True)
class Sample:
    """A daemon with a dozen agents, their ids by name, and the effort of one of them."""

    daemon: RunningDaemon
    ids: dict[str, str]
    effort: str


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sample]:
    """Shared by all tests that only read."""
    folder = tmp_path_factory.mktemp("sample")
    with running_daemon(folder / "home", heartbeat_seconds=2) as running:
        ids = SampleAgents(running, folder / "code").create()
        yield Sample(running, ids, start_effort(running, ids["snug-plover"]))


def start_effort(daemon: RunningDaemon, agent: str) -> str:
    """An effort with log entries, a handover and a message. Returns its id."""
    here = {"cwd": daemon.agent(agent)["cwd"]}
    who = {"CLAUDE_CODE_SESSION_ID": daemon.agent(agent)["session_id"]}
    task = {"title": "Emoji in passwords", "keywords": ["login", "encoding"], "phase": "test"}
    effort: str = call(daemon, "effort.start", {"skill": "fix", **task, **here}, who)["id"]
    for entry in ("The hash is made from latin-1.", "UTF-8 instead; old hashes stay valid."):
        call(daemon, "effort.log", {"text": entry, **here}, who)
    call(daemon, "effort.dehydrate", {"text": "Next: the page's own tests.", **here}, who)
    call(daemon, "effort.inject", {"text": "Release is on Friday.", **here}, who)
    return effort


def sign_in_link(daemon: RunningDaemon) -> str:
    """A sign-in link, as `headspace open` creates it."""
    path: str = daemon.send("POST", "/api/admin/signin", {}, scope="admin").json()["path"]
    return daemon.url + path


class Pages:
    """Opens pages and collects their errors."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.errors: list[str] = []

    def open(
        self,
        daemon: RunningDaemon,
        path: str = "/",
        *,
        viewport: dict[str, int] = LAPTOP,
        signed_in: bool = True,
        context: BrowserContext | None = None,
        **options: Any,
    ) -> Page:
        """Open a path. Unless `signed_in` is false, sign in and wait until the page is live.

        There is no service worker unless `service_workers="allow"`: tests could not replace what it loads.
        """
        if context is None:
            options.setdefault("service_workers", "block")
            context = self._browser.new_context(viewport=viewport, **options)  # type: ignore[arg-type]  # a dict with these keys
            self._contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: self._collect(message.type == "error", message.text))
        page.on("pageerror", lambda error: self._collect(True, str(error)))
        if signed_in:
            if not context.cookies():
                page.goto(sign_in_link(daemon))
            if path != "/" or page.url == "about:blank":
                page.goto(daemon.url + path)
            page.wait_for_selector("[data-connection=live]", state="attached")
        else:
            page.goto(daemon.url + path)
        return page

    def _collect(self, is_error: bool, text: str) -> None:
        if is_error and not any(word in text for word in NETWORK_ERRORS):
            self.errors.append(text)

    def close(self) -> None:
        """Close all pages."""
        for context in self._contexts:
            context.close()


@pytest.fixture
def pages(browser: Browser) -> Iterator[Pages]:
    """Pages that must not have errors."""
    pages = Pages(browser)
    yield pages
    pages.close()
    assert pages.errors == []
