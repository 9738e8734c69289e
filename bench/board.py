"""Board: the time from a hook until a real Chromium paints its change, with 500 agents on the page.

100 hooks per second over all agents, evenly spaced. Every second hook starts a tool whose command contains the time at
which it was sent. A script in the page observes the cards: when that command appears, it records the time after the
next paint. Only visible cards exist, so only their changes are painted and counted.
"""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from itertools import count, cycle
from typing import Any

from bench import processes
from bench.browser import signed_in_page
from bench.daemon import daemon
from bench.load import percentile
from bench.options import Options
from bench.report import Row, at_most

AGENTS = 500
VISIBLE = 20
RATE = 100
SECONDS = 15.0
WARM_UP_SECONDS = 2.0

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
    """Sends hooks at a constant rate, on one connection."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        self._stopped = threading.Event()
        self.sent = 0
        self.errors = 0

    def post(self, event: str, payload: dict[str, Any]) -> None:
        """Send one hook."""
        body = json.dumps(payload)
        self._connection.request("POST", f"/hook/{event}", body, {"Content-Type": "application/json"})
        with self._connection.getresponse() as response:
            response.read()
            self.errors += response.status != 200

    def create_agents(self) -> None:
        """Create all agents, each in the middle of a turn."""
        for number in range(AGENTS):
            self.post("session-start", _payload(number))
            self.post("user-prompt-submit", {**_payload(number), "prompt": f"Task {number}", "prompt_id": f"p{number}"})

    def run(self) -> None:
        """Start and finish tools, one agent after the other, until stopped."""
        began, hooks = time.perf_counter(), _hooks()
        for number in count():
            if self._stopped.is_set():
                return
            early = began + number / RATE - time.perf_counter()
            if early > 0:
                time.sleep(early)
            self.post(*next(hooks))
            self.sent += 1

    def stop(self) -> None:
        """Stop sending."""
        self._stopped.set()
        self.join()
        self._connection.close()


def _payload(number: int) -> dict[str, Any]:
    return {"session_id": f"board-{number}", "cwd": f"/home/dev/project-{number}"}


def _hooks() -> Iterator[tuple[str, dict[str, Any]]]:
    """The oldest agents come first on the board. Every second call is of one of them, so many changes are visible."""
    turns = (number for pair in zip(cycle(range(VISIBLE)), cycle(range(AGENTS))) for number in pair)
    for step, number in enumerate(turns):
        call = {**_payload(number), "tool_name": "Bash", "tool_use_id": f"t{step}"}
        tool_input = {"command": f"sent {time.time() * 1000:.3f}"}
        yield "pre-tool-use", {**call, "tool_input": tool_input}
        yield "post-tool-use", {**call, "tool_input": tool_input}


def run(options: Options) -> list[Row]:
    """Measure and return the rows."""
    with processes.scratch() as home, daemon(home) as server, signed_in_page(home) as page:
        sender = Sender(server.port)
        options.progress(f"board: starting {AGENTS} agents")
        sender.create_agents()
        page.wait_for_selector(".card")
        options.progress(f"board: {RATE} hooks per second")
        sender.start()
        page.wait_for_timeout(WARM_UP_SECONDS * 1000)
        page.evaluate(WATCH)
        page.wait_for_timeout((options.seconds or SECONDS) * 1000)
        painted: list[float] = page.evaluate("window.painted")
        cards: int = page.locator(".card").count()
        sender.stop()
    return _rows([each / 1000 for each in painted], cards, sender)


def _rows(painted: list[float], cards: int, sender: Sender) -> list[Row]:
    note = f"{len(painted):,} visible changes of {sender.sent:,} hooks, {cards} cards rendered for {AGENTS} agents"
    return [
        Row(f"board, hook to paint, p95 at {RATE} hooks/s", percentile(painted, 95), "ms", at_most(50), note),
        Row("board, hook to paint, p50", percentile(painted, 50), "ms"),
        Row("board, errors", sender.errors, "", at_most(0), "replies other than 200"),
    ]
