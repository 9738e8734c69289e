"""A real Chromium in front of a real daemon. Where there is none the whole tier is skipped, with the reason.

Every page listens for trouble: an error in the console, or one that nobody caught, fails the test that opened it.
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
from tests.web.cast import Cast  # noqa: E402
from tests.web.chromium import CHROMIUM, FLAGS  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "web/node_modules/axe-core/axe.min.js"
PICTURES = Path(__file__).with_name("pictures")
LAPTOP = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
OFFLINE = ("net::ERR_", "Failed to load resource")
"""What the browser itself says when the daemon is away; the page shows that in its own words."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: install one (Debian: apt install chromium)")
    if not (FOLDER / "index.html").is_file():
        pytest.skip("the page is not built: run bin/page")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core. A build of the page installs no tools for tests, so it is fetched when it is missing."""
    if not AXE.is_file():
        command = [sys.executable, str(ROOT / "web/check.py"), "packages"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not AXE.is_file():
            last = (done.stdout + done.stderr).strip().splitlines()[-1:]
            pytest.skip(f"axe-core is not there, and npm could not install it: {' '.join(last)}")
    return AXE.read_text(encoding="utf-8")


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    """A daemon that has heard of nobody."""
    with running_daemon(tmp_path / "home", heartbeat_seconds=2) as running:
        yield running


@dataclass(frozen=True)
class Stage:
    """A daemon with a dozen agents, their ids by name, and an effort that one of them works on."""

    daemon: RunningDaemon
    ids: dict[str, str]
    effort: str


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One for all tests that only look."""
    place = tmp_path_factory.mktemp("stage")
    with running_daemon(place / "home", heartbeat_seconds=2) as running:
        ids = Cast(running, place / "code").play()
        yield Stage(running, ids, begin_effort(running, ids["snug-plover"]))


def begin_effort(daemon: RunningDaemon, agent: str) -> str:
    """An agent works on an effort, and has written down what it did; the effort's id."""
    here = {"cwd": daemon.agent(agent)["cwd"]}
    who = {"CLAUDE_CODE_SESSION_ID": daemon.agent(agent)["session_id"]}
    task = {"title": "Emoji in passwords", "keywords": ["login", "encoding"], "phase": "test"}
    effort: str = call(daemon, "effort.start", {"skill": "fix", **task, **here}, who)["id"]
    for entry in ("The hash is made from latin-1.", "UTF-8 instead; old hashes stay valid."):
        call(daemon, "effort.log", {"text": entry, **here}, who)
    call(daemon, "effort.dehydrate", {"text": "Next: the page's own tests.", **here}, who)
    call(daemon, "effort.inject", {"text": "Release is on Friday.", **here}, who)
    return effort


def link(daemon: RunningDaemon) -> str:
    """A link that signs in, as `headspace open` gets it."""
    path: str = daemon.send("POST", "/api/admin/signin", {}, scope="admin").json()["path"]
    return daemon.url + path


class Visits:
    """Opens pages, and remembers what went wrong on each."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.troubles: list[str] = []

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
        """A page at a path, signed in, that is live."""
        if context is None:
            context = self._browser.new_context(viewport=viewport, **options)  # type: ignore[arg-type]  # a dict with these keys
            self._contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: self._note(message.type == "error", message.text))
        page.on("pageerror", lambda error: self._note(True, str(error)))
        if signed_in:
            if not context.cookies():
                page.goto(link(daemon))
            if path != "/" or page.url == "about:blank":
                page.goto(daemon.url + path)
            page.wait_for_selector("[data-link=live]", state="attached")
        else:
            page.goto(daemon.url + path)
        return page

    def _note(self, is_trouble: bool, text: str) -> None:
        if is_trouble and not any(word in text for word in OFFLINE):
            self.troubles.append(text)

    def close(self) -> None:
        """Close all pages."""
        for context in self._contexts:
            context.close()


@pytest.fixture
def visits(browser: Browser) -> Iterator[Visits]:
    """Pages that must not complain."""
    visits = Visits(browser)
    yield visits
    visits.close()
    assert visits.troubles == []
