"""Answers: the time until a question can be answered on an open page, and from the click until the client continues.

Hooks: the installed hook script asks, run as Claude Code runs it, with the inbox open in a real Chromium. The first
time is from the start of the script until the complete request and its button are painted. The button becomes active
half a second later, so that no answer is given by accident. The second time is from the click until the end of the
script, which is when the client has its answer.

Real client: it asks before every command, and each command records its start. Here the second time is from the click
until that start, so it includes the client's own time.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.load import percentile
from bench.options import Options
from bench.report import BenchError, Row, at_most, failed
from tests.real_client.model import bash, reply, text
from tests.real_client.program import NEW, Unavailable, find_client
from tests.real_client.workspace import Workspace, open_workspace
from tests.stories.asking_client import AskingClient
from tests.support import RunningDaemon, running_daemon, wait_until
from tests.web.chromium import CHROMIUM, FLAGS

ROUNDS, SHORT = 40, 5
CALLS = 15
ASKING = ("--permission-mode", "default")
BUTTON_MS, START_MS = 100, 300

WATCH = """
() => {
  window.held = {};
  const look = () => {
    for (const wait of document.querySelectorAll("article.wait")) {
      if (wait.id in window.held || !wait.querySelector(".request") || !wait.querySelector("button.primary")) continue;
      window.held[wait.id] = null;
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => (window.held[wait.id] = performance.timeOrigin + performance.now());
        channel.port2.postMessage(null);
      });
    }
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
  look();
}
"""
"""Runs in the page. A task after the next frame's callback is after its paint."""

ACTIVE = """
(id) => {
  const wait = document.getElementById(id);
  wait.scrollIntoView({ block: "nearest", behavior: "instant" });
  return wait.querySelector("button.primary").getAttribute("aria-disabled") === "false";
}
"""

CLICK = """
(id) => {
  const clicked = performance.timeOrigin + performance.now();
  document.getElementById(id).querySelector("button.primary").click();
  return clicked;
}
"""


def run(options: Options) -> list[Row]:
    """Measure and return the rows."""
    try:
        with tempfile.TemporaryDirectory(prefix="hs-bench-", ignore_cleanup_errors=True) as root:
            return [*_hooks(options, Path(root) / "hooks"), *_client(options, Path(root) / "client")]
    except AssertionError as error:
        raise BenchError(str(error).splitlines()[0]) from None


@contextmanager
def _inbox(daemon: RunningDaemon) -> Iterator[Any]:
    """The inbox in a signed-in browser. It records when a wait can be answered."""
    try:
        import playwright.sync_api as playwright_api
    except ImportError as error:
        raise BenchError("playwright is not installed") from error
    if CHROMIUM is None:
        raise BenchError("Chromium is not installed (Debian: apt install chromium)")
    with playwright_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            page = browser.new_page()
            page.goto(daemon.url + daemon.send("POST", "/api/admin/signin", {}, scope="admin").json()["path"])
            page.goto(daemon.url + "/waits")
            page.wait_for_selector("[data-connection=live]", state="attached")
            page.evaluate(WATCH)
            yield page
        finally:
            browser.close()


@contextmanager
def _client_process() -> Iterator[int]:
    """A process that represents the client. The browser must not be one of its descendants."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"]) as process:
        try:
            yield process.pid
        finally:
            process.kill()


def _shown(page: Any, known: set[str]) -> tuple[str, float]:
    """The next wait that can be answered on the page, and the time at which its button was painted."""
    found = page.wait_for_function(
        "(known) => Object.entries(window.held).find(([id, at]) => at !== null && !known.includes(id))", arg=[*known]
    ).json_value()
    known.add(found[0])
    return found[0], found[1] / 1000


def _click(page: Any, wait: str) -> float:
    """Allow the request as soon as its button is active. The time of the click."""
    page.wait_for_function(ACTIVE, arg=wait)
    clicked: float = page.evaluate(CLICK, wait) / 1000
    return clicked


# --- hooks ------------------------------------------------------------------------------------------------------------


def _hooks(options: Options, root: Path) -> list[Row]:
    """The script asks one question after the other. A click answers each."""
    appeared, answered, known = [], [], set[str]()
    root.mkdir()
    with running_daemon(root) as daemon, _inbox(daemon) as page, _client_process() as pid:
        asking = AskingClient(root, daemon, pid)
        rounds = SHORT if options.seconds else ROUNDS
        options.progress(f"answers: {rounds} questions through the hook script")
        for number in range(rounds):
            call = {"tool_name": "Bash", "tool_input": {"command": f"make {number}"}}
            asking.hook("PreToolUse", tool_use_id=f"t{number}", **call)
            began = time.time()
            hook = asking.fire("PermissionRequest", **call)
            wait, painted = _shown(page, known)
            appeared.append(painted - began)
            clicked = _click(page, wait)
            hook.communicate()
            answered.append(time.time() - clicked)
            asking.hook("PostToolUse", tool_use_id=f"t{number}", tool_response={}, **call)
    note = f"{len(appeared)} questions, including the start of the script"
    return [
        Row("answers, hook to a button on the page, p95", percentile(appeared, 95), "ms", at_most(BUTTON_MS), note),
        Row("answers, hook to a button on the page, p50", percentile(appeared, 50), "ms"),
        Row("answers, click to the end of the hook, p95", percentile(answered, 95), "ms"),
    ]


# --- the real client --------------------------------------------------------------------------------------------------


def _client(options: Options, root: Path) -> list[Row]:
    """One command after the other. Each records its start."""
    what = "answers, click to the start of the command, p95"
    try:
        find_client(NEW)
    except Unavailable as reason:
        return [failed(what, str(reason))]
    calls = SHORT if options.seconds else CALLS
    options.progress(f"answers: {calls} permissions of the real client")
    commands = [reply(bash(f"date +%s.%N >began{number}")) for number in range(calls)]
    with (
        open_workspace(root, {"Note it": [*commands, reply(text("Noted."))]}) as workspace,
        _inbox(workspace.daemon) as page,
    ):
        client = workspace.client(*ASKING)
        client.write("Note it")
        client.send()
        known: set[str] = set()
        durations = [_answered(workspace, page, known, number) for number in range(calls)]
    note = f"{calls} permissions, until the allowed command starts"
    return [
        Row(what, percentile(durations, 95), "ms", at_most(START_MS), note),
        Row("answers, click to the start of the command, p50", percentile(durations, 50), "ms"),
    ]


def _answered(workspace: Workspace, page: Any, known: set[str], number: int) -> float:
    """The time from the click to the start of the command."""
    wait, _painted = _shown(page, known)
    clicked = _click(page, wait)
    file = workspace.home.project / f"began{number}"
    wait_until(lambda: file.exists() and file.stat().st_size > 0, "the command")
    return float(file.read_text()) - clicked
