"""Changes: the time until a real Chromium has painted the changes of an agent, and how smoothly they scroll.

200 files with 20,000 lines. The reply is generated, because only the page is measured. The time starts when the body of
the reply has arrived and includes parsing it. Scrolling moves the list by the same distance in every frame and records
the time between frames.
"""

import http.client
import json
import statistics
from typing import Any

from bench import processes
from bench.browser import signed_in_page
from bench.daemon import daemon
from bench.load import percentile
from bench.options import Options
from bench.report import Row, at_most
from tests.web.sample_changes import generated_changes

FILES = 200
LINES = 20_000
ROUNDS = 7
FRAMES = 240
PIXELS_PER_FRAME = 300

WATCH = """
window.painted = new Promise((resolve) => {
  let received = 0;
  const text = Response.prototype.text;
  Response.prototype.text = async function () {
    const body = await text.call(this);
    if (this.url.includes("/changes")) received = performance.now();
    return body;
  };
  const observer = new MutationObserver(() => {
    if (received === 0 || document.querySelector("main .row") === null) return;
    observer.disconnect();
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => resolve(performance.now() - received);
      channel.port2.postMessage(null);
    });
  });
  observer.observe(document, { subtree: true, childList: true });
});
"""
"""Runs before the page. A task after the next frame's callback is after its paint."""

SCROLL = """
([frames, pixels]) => new Promise((resolve) => {
  const list = document.querySelector("main [aria-label='Changed lines']");
  const times = [];
  const step = (time) => {
    times.push(time);
    list.scrollTop += pixels;
    if (times.length <= frames) requestAnimationFrame(step);
    else resolve(times.slice(1).map((each, index) => each - times[index]));
  };
  requestAnimationFrame(step);
})
"""


def run(options: Options) -> list[Row]:
    """Measure and return the rows."""
    reply = generated_changes(FILES, LINES)
    with processes.scratch() as home, daemon(home) as server, signed_in_page(home) as page:
        address = f"http://127.0.0.1:{server.port}/agents/{_create_agent(server.port)}?tab=changes"
        page.route("**/api/agents/*/changes*", lambda route: route.fulfill(json=reply))
        page.add_init_script(WATCH)
        painted = [_time_to_paint(page, address, options, number) for number in range(ROUNDS)]
        rows = page.locator("main .row").count()
        options.progress("changes: scrolling")
        frames: list[float] = page.evaluate(SCROLL, [FRAMES, PIXELS_PER_FRAME])
    return _rows(painted, frames, rows)


def _time_to_paint(page: Any, address: str, options: Options, number: int) -> float:
    options.progress(f"changes: opening {FILES} files, {number + 1} of {ROUNDS}")
    page.goto(address)
    milliseconds: float = page.evaluate("window.painted")
    return milliseconds


def _create_agent(port: int) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    body = json.dumps({"session_id": "changes", "cwd": "/home/dev/shop", "prompt": "Rename everything"})
    connection.request("POST", "/hook/user-prompt-submit", body, {"Content-Type": "application/json"})
    with connection.getresponse() as response:
        agent: str = json.load(response)["agent_id"]
    connection.close()
    return agent


def _rows(painted: list[float], frames: list[float], rows: int) -> list[Row]:
    what = f"{FILES} files, {LINES:,} lines"
    note = f"slowest of {len(painted)}; {rows} rows rendered"
    moved = f"{PIXELS_PER_FRAME} pixels per frame, longest frame {max(frames):.0f} ms"
    return [
        Row(f"changes, data to paint, {what}", max(painted), "ms", at_most(300), note),
        Row("changes, data to paint, median", statistics.median(painted), "ms"),
        Row(
            "changes, scrolling, p95 between frames",
            percentile([each / 1000 for each in frames], 95),
            "ms",
            None,
            moved,
        ),
    ]
