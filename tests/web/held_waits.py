"""Waits that a client holds open, for tests that answer them."""

import contextlib
import json
import threading
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.support import RunningDaemon, wait_until

RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "make:*"}],
    "behavior": "allow",
    "destination": "session",
}
MODE = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
"""Permissions that the client suggests with a dialog."""


class HeldHook(threading.Thread):
    """A hook that waits for its reply, as the hook script sends it."""

    def __init__(self, daemon: RunningDaemon, payload: dict[str, Any], event: str = "permission-request") -> None:
        super().__init__(daemon=True)
        self._daemon = daemon
        self._event = event
        self._payload = payload
        self.reply: dict[str, Any] = {}

    def run(self) -> None:
        """Send the hook and store the reply. A daemon that stops ends the request without one."""
        headers = {**self._daemon.credentials("ingest"), "X-Headspace-Reply": "hook"}
        with contextlib.suppress(OSError, json.JSONDecodeError):
            self.reply = self._daemon.post(self._event, self._payload, headers).json()


def hold(daemon: RunningDaemon, folder: Path, *, session: str = "one", **call: Any) -> HeldHook:
    """A session whose client holds a tool call open."""
    common = {"session_id": session, "cwd": str(folder)}
    daemon.post("user-prompt-submit", {**common, "prompt": "Go"})
    payload = {key: value for key, value in call.items() if key != "permission_suggestions"}
    daemon.post("pre-tool-use", {**common, **payload, "tool_use_id": session})
    return started(HeldHook(daemon, {**common, **call}), daemon)


def started(hook: HeldHook, daemon: RunningDaemon) -> HeldHook:
    """Start the hook and wait until it is held."""
    before = held(daemon)
    hook.start()
    wait_until(lambda: held(daemon) > before, "a wait that is held")
    return hook


def held(daemon: RunningDaemon) -> int:
    """How many waits can be answered."""
    return sum(wait["held_until"] is not None for wait in daemon.get("/api/waits").json())


def decision(hook: HeldHook) -> dict[str, Any]:
    """The decision that the client received."""
    hook.join(30)
    found: dict[str, Any] = hook.reply["hookSpecificOutput"]["decision"]
    return found


def answers(daemon: RunningDaemon) -> list[str]:
    """What was answered so far."""
    return [wait["answered"]["words"] for wait in daemon.get("/api/waits?all=true").json() if wait["answered"]]


def read_through(page: Page, card: Locator) -> None:
    """Scroll until all of a card was on the screen, as with a mouse wheel."""
    card.locator(".request").hover(position={"x": 5, "y": 5})
    for _ in range(400):
        box = card.locator(".answer").bounding_box()
        size = page.viewport_size
        assert box is not None
        assert size is not None
        if box["y"] < size["height"] - 120:
            break
        page.mouse.wheel(0, 400)
        page.wait_for_timeout(250)
    settle(page)


def settle(page: Page) -> None:
    """Wait until nothing has changed for half a second, so that answers count."""
    expect(page.locator("article.wait[data-settled=true]").first).to_be_attached()
    expect(page.locator("article.wait[data-settled=false]")).to_have_count(0)
