"""Board: how long after a hook is sent its change is painted in a real Chromium, with 500 agents on the page.

100 hooks a second over all agents, evenly spaced; every second one begins a tool whose command holds the moment at
which it was sent. The page watches its own cards: when that command appears on one, the moment after the next paint is
taken. Only cards in sight exist, so only their changes are painted, and only those are counted.
"""

import http.client
import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, cycle
from typing import Any

from bench import processes
from bench.daemon import daemon
from bench.load import percentile
from bench.options import Options
from bench.report import BenchError, Row, at_most
from tests.web.chromium import CHROMIUM, FLAGS

AGENTS = 500
IN_SIGHT = 20
RATE = 100
SECONDS = 15.0
WARM_UP_SECONDS = 2.0
VIEWPORT = {"width": 1440, "height": 900}

WATCH = r"""
() => {
  window.painted = [];
  const painted = (sent) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => window.painted.push(performance.timeOrigin + performance.now() - sent);
    channel.port2.postMessage(null);
  });
  new MutationObserver((changes) => {
    const seen = new Set(changes.map((change) => (change.target.textContent || "").match(/sent (\d+\.\d+)/)?.[1]));
    for (const moment of seen) if (moment) painted(Number(moment));
  }).observe(document.querySelector("main"), { subtree: true, characterData: true });
}
"""
"""Runs in the page. A task after the next frame's callback is after its paint."""


class Sender(threading.Thread):
    """Sends hooks at a pace, on one connection."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        self._over = threading.Event()
        self.sent = 0
        self.errors = 0

    def post(self, event: str, told: dict[str, Any]) -> None:
        """One hook."""
        body = json.dumps(told)
        self._connection.request("POST", f"/hook/{event}", body, {"Content-Type": "application/json"})
        with self._connection.getresponse() as response:
            response.read()
            self.errors += response.status != 200

    def introduce(self) -> None:
        """Every agent, in the middle of a turn."""
        for number in range(AGENTS):
            self.post("session-start", _told(number))
            self.post("user-prompt-submit", {**_told(number), "prompt": f"Task {number}", "prompt_id": f"p{number}"})

    def run(self) -> None:
        """Begin and end tools, one agent after the other, until told to stop."""
        began, hooks = time.perf_counter(), _hooks()
        for number in count():
            if self._over.is_set():
                return
            early = began + number / RATE - time.perf_counter()
            if early > 0:
                time.sleep(early)
            self.post(*next(hooks))
            self.sent += 1

    def stop(self) -> None:
        """Send no more."""
        self._over.set()
        self.join()
        self._connection.close()


def _told(number: int) -> dict[str, Any]:
    return {"session_id": f"board-{number}", "cwd": f"/home/dev/project-{number}"}


def _hooks() -> Iterator[tuple[str, dict[str, Any]]]:
    """The oldest agents stand first on the board: every second call is of one of them, so that there is much to see."""
    turns = (number for pair in zip(cycle(range(IN_SIGHT)), cycle(range(AGENTS))) for number in pair)
    for step, number in enumerate(turns):
        call = {**_told(number), "tool_name": "Bash", "tool_use_id": f"t{step}"}
        tool_input = {"command": f"sent {time.time() * 1000:.3f}"}
        yield "pre-tool-use", {**call, "tool_input": tool_input}
        yield "post-tool-use", {**call, "tool_input": tool_input}


def run(options: Options) -> list[Row]:
    """Measure, and answer the rows."""
    try:
        import playwright.sync_api as playwright_api
    except ImportError as error:
        raise BenchError("playwright is not installed") from error
    with processes.scratch() as home, daemon(home) as server, _page(playwright_api, home) as page:
        sender = Sender(server.port)
        options.say(f"board: starting {AGENTS} agents")
        sender.introduce()
        page.wait_for_selector(".card")
        options.say(f"board: {RATE} hooks a second")
        sender.start()
        page.wait_for_timeout(WARM_UP_SECONDS * 1000)
        page.evaluate(WATCH)
        page.wait_for_timeout((options.seconds or SECONDS) * 1000)
        painted: list[float] = page.evaluate("window.painted")
        cards: int = page.locator(".card").count()
        sender.stop()
    return _rows([each / 1000 for each in painted], cards, sender)


@contextmanager
def _page(playwright_api: Any, home: processes.Scratch) -> Iterator[Any]:
    """The board in a browser, signed in."""
    if CHROMIUM is None:
        raise BenchError("there is no Chromium (Debian: apt install chromium)")
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


def _rows(painted: list[float], cards: int, sender: Sender) -> list[Row]:
    note = f"{len(painted):,} changes in sight of {sender.sent:,} hooks, {cards} cards made for {AGENTS} agents"
    return [
        Row(f"board, hook to paint, p95 at {RATE} hooks/s", percentile(painted, 95), "ms", at_most(50), note),
        Row("board, hook to paint, p50", percentile(painted, 50), "ms"),
        Row("board, errors", sender.errors, "", at_most(0), "replies other than 200"),
    ]
