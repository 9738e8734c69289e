"""A real Chromium with the page, signed in."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bench import processes
from bench.report import BenchError
from tests.web.chromium import CHROMIUM, FLAGS

if TYPE_CHECKING:
    from playwright.sync_api import ViewportSize

VIEWPORT: "ViewportSize" = {"width": 1440, "height": 900}


@contextmanager
def signed_in_page(home: processes.Scratch) -> Iterator[Any]:
    """The board of the daemon in this home."""
    try:
        import playwright.sync_api as playwright_api
    except ImportError as error:
        raise BenchError("playwright is not installed") from error
    if CHROMIUM is None:
        raise BenchError("Chromium is not installed (Debian: apt install chromium)")
    command = [sys.executable, "-m", "claude_headspace", "open", "--json"]
    link = json.loads(processes.run(command, home.env))["url"]
    with playwright_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            page = browser.new_page(viewport=VIEWPORT)
            page.goto(link)
            page.wait_for_selector("[data-connection=live]", state="attached")
            yield page
        finally:
            browser.close()
