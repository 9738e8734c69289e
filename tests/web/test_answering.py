"""What a client holds open is answered from the page, and the client is told."""

import threading
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.support import RunningDaemon, wait_until
from tests.web.conftest import Visits


class HeldHook(threading.Thread):
    """A hook that waits for its answer, as the shim sends it."""

    def __init__(self, daemon: RunningDaemon, told: dict[str, Any]) -> None:
        super().__init__(daemon=True)
        self._daemon = daemon
        self._told = told
        self.answer: dict[str, Any] = {}

    def run(self) -> None:
        """Ask, and keep what comes back."""
        headers = {**self._daemon.credentials("ingest"), "X-Headspace-Reply": "hook"}
        self.answer = self._daemon.post("permission-request", self._told, headers).json()


def hold(daemon: RunningDaemon, folder: Path, **call: Any) -> HeldHook:
    """A session whose client holds a dialog open."""
    told = {"session_id": "one", "cwd": str(folder)}
    daemon.post("user-prompt-submit", {**told, "prompt": "Go"})
    daemon.post("pre-tool-use", {**told, **call, "tool_use_id": "t"})
    hook = HeldHook(daemon, {**told, **call})
    hook.start()
    wait_until(lambda: any(wait["held_until"] for wait in daemon.get("/api/waits").json()), "a wait that is held")
    return hook


def test_a_permission_is_given_from_the_page(visits: Visits, daemon: RunningDaemon, tmp_path: Path) -> None:
    """One click, and the client is told to go on; the journal knows who it was, and that it came from the page."""
    hook = hold(daemon, tmp_path, tool_name="Bash", tool_input={"command": "make deploy"})
    page = visits.open(daemon, "/waits")
    page.get_by_role("button", name="Allow", exact=True).click()
    hook.join(30)
    assert hook.answer["hookSpecificOutput"]["decision"]["behavior"] == "allow"
    [wait] = daemon.get("/api/waits?all=true").json()
    assert (wait["answered"]["words"], wait["answered"]["via"]) == ("allowed", "web")


def test_a_question_is_answered_from_the_page(visits: Visits, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The options are buttons; the answer goes out when every question has one."""
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    questions = [{"question": "Which colour?", "header": "Colour", "options": options}]
    hook = hold(daemon, tmp_path, tool_name="AskUserQuestion", tool_input={"questions": questions})
    page = visits.open(daemon, "/waits")
    expect(page.get_by_role("button", name="Answer")).to_be_disabled()
    page.get_by_role("button", name="Blue").click()
    page.get_by_role("button", name="Answer").click()
    hook.join(30)
    assert "Blue" in str(hook.answer)
