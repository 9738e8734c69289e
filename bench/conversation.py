"""Conversation: how fast a real Chromium shows the newest and a linked turn of 20,000, and how smoothly it scrolls.

The turns are in a real journal, with tool calls, edits and code, and the requests go to a real daemon. The time starts
with the navigation to the address, with a filled cache, and ends when the turn is painted inside the window.
Scrolling moves through many pages, up from the end, by the same distance in every frame.
"""

from collections.abc import Iterator
from itertools import count, islice
from typing import Any

from bench import processes
from bench.browser import signed_in_page
from bench.daemon import daemon
from bench.load import percentile
from bench.options import Options
from bench.report import Row, at_most
from claude_headspace.engine.batch import Batch
from claude_headspace.engine.submission import BatchFunctions, Submission
from claude_headspace.journal.sql import SqlJournal
from claude_headspace.kernel.envelope import SECOND, Envelope
from claude_headspace.testing import hook

TURNS = 20_000
LINKED = TURNS // 4
"""The number of the prompt that is linked: among the older ones."""
START_AT = 1_750_000_000 * SECOND
COMMAND_SECONDS = 60
BATCH = 1_000
ROUNDS = 7
FRAMES = 300
PIXELS_PER_FRAME = 200

CODE = "```python\ndef total(lines):\n    return sum(line.price for line in lines)  # all of them\n```"
REPLY = f"I changed **three** places and ran the tests. The sum is in `cart.py`:\n\n{CODE}\n\n- one\n- two\n- three"

PAINTED = """
(text) => new Promise((resolve) => {
  const isShown = () => [...document.querySelectorAll("main .turn")].some((turn) => {
    const { top, bottom } = turn.getBoundingClientRect();
    return turn.textContent.includes(text) && bottom > 0 && top < innerHeight;
  });
  const look = () => {
    if (!isShown()) return requestAnimationFrame(look);
    const channel = new MessageChannel();
    channel.port1.onmessage = () => resolve(performance.now());
    channel.port2.postMessage(null);
  };
  look();
})
"""
"""Runs in the page. Its clock starts with the navigation."""

SCROLL = """
([frames, pixels]) => new Promise((resolve) => {
  const list = document.querySelector("main [aria-label='Turns and tool calls']");
  const times = [];
  const step = (time) => {
    times.push(time);
    list.scrollTop -= pixels;
    if (times.length <= frames) requestAnimationFrame(step);
    else resolve(times.slice(1).map((each, index) => each - times[index]));
  };
  requestAnimationFrame(step);
})
"""


def run(options: Options) -> list[Row]:
    """Measure and return the rows."""
    with processes.scratch() as home:
        agent, linked = _fill(f"sqlite:///{home.env['HEADSPACE_HOME']}/headspace.db", options)
        with daemon(home) as server, signed_in_page(home) as page:
            address = f"http://127.0.0.1:{server.port}/agents/{agent}"
            newest = [_time_to_paint(page, address, f"prompt {TURNS // 2 - 1} ", options) for _ in range(ROUNDS)]
            options.progress("conversation: scrolling")
            frames: list[float] = page.evaluate(SCROLL, [FRAMES, PIXELS_PER_FRAME])
            link = f"{address}?turn={linked}"
            old = [_time_to_paint(page, link, f"prompt {LINKED} ", options) for _ in range(ROUNDS)]
    return _rows(newest, old, frames)


def _fill(url: str, options: Options) -> tuple[str, str]:
    """Write the conversation into a journal. Returns the agent's id and the id of the linked turn."""
    journal = SqlJournal(url)
    journal.open()
    ids = count()
    try:
        events = _events()
        for number, batch in enumerate(iter(lambda: list(islice(events, BATCH)), [])):
            options.progress(f"conversation: writing {number * BATCH:,} events")
            with journal.transaction() as transaction:
                work = Batch(transaction, BatchFunctions(new_id=lambda: f"turns-{next(ids):012}"))
                work.process([Submission(envelope, None, None) for envelope in batch])  # type: ignore[arg-type]
                transaction.write(work.records)
        [agent] = journal.agents()
        at = START_AT + LINKED * COMMAND_SECONDS * SECOND
        [turn] = journal.turns_between(agent.id, at, None, 1, newest=False)
        return agent.id, turn.id
    finally:
        journal.close()


def _events() -> Iterator[Envelope]:
    """Commands of two turns, each with two tool calls."""
    yield hook("SessionStart", START_AT - 1, source="startup")
    for number in range(TURNS // 2):
        yield from _command(number, START_AT + number * COMMAND_SECONDS * SECOND)


def _command(number: int, start: int) -> Iterator[Envelope]:
    prompt = {"prompt": f"prompt {number} of many: fix the total of the cart", "prompt_id": f"p{number}"}
    yield hook("UserPromptSubmit", start, **prompt)  # type: ignore[arg-type]
    change = {"file_path": "/shop/cart.py", "old_string": "    return 0\n", "new_string": "    return sum(lines)\n"}
    calls: list[tuple[str, Any]] = [("Edit", change), ("Bash", {"command": "pytest -q tests/cart"})]
    for index, (tool, given) in enumerate(calls, 1):
        call: dict[str, Any] = {"tool_name": tool, "tool_input": given, "tool_use_id": f"c{number}-{index}"}
        yield hook("PreToolUse", start + index * SECOND, **call)
        yield hook("PostToolUse", start + (index + 1) * SECOND - 1, tool_response={"stdout": "passed\n" * 20}, **call)
    yield hook("Stop", start + 30 * SECOND, last_assistant_message=REPLY, prompt_id=f"p{number}")


def _time_to_paint(page: Any, address: str, text: str, options: Options) -> float:
    options.progress(f"conversation: opening {text.strip()}")
    page.goto("about:blank")
    page.goto(address, wait_until="commit")
    milliseconds: float = page.evaluate(PAINTED, text)
    return milliseconds


def _rows(newest: list[float], linked: list[float], frames: list[float]) -> list[Row]:
    moved = (
        f"{FRAMES} frames of {PIXELS_PER_FRAME} pixels, p95 {percentile([each / 1000 for each in frames], 95):.0f} ms"
    )
    note = f"slowest of {ROUNDS}, from the navigation to the paint"
    return [
        Row(f"conversation, newest of {TURNS:,} turns", max(newest), "ms", at_most(500), note),
        Row("conversation, linked turn", max(linked), "ms", at_most(500), note),
        Row("conversation, slowest frame while scrolling", max(frames), "ms", at_most(100), moved),
    ]
