"""What a client holds open is answered from the page, and the client is told."""

import re
import threading
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.support import RunningDaemon, wait_until
from tests.web.conftest import Visits


class HeldHook(threading.Thread):
    """A hook that waits for its answer, as the shim sends it."""

    def __init__(self, daemon: RunningDaemon, told: dict[str, Any], event: str = "permission-request") -> None:
        super().__init__(daemon=True)
        self._daemon = daemon
        self._event = event
        self._told = told
        self.answer: dict[str, Any] = {}

    def run(self) -> None:
        """Ask, and keep what comes back."""
        headers = {**self._daemon.credentials("ingest"), "X-Headspace-Reply": "hook"}
        self.answer = self._daemon.post(self._event, self._told, headers).json()


def hold(daemon: RunningDaemon, folder: Path, **call: Any) -> HeldHook:
    """A session whose client holds a dialog open."""
    told = {"session_id": "one", "cwd": str(folder)}
    daemon.post("user-prompt-submit", {**told, "prompt": "Go"})
    daemon.post("pre-tool-use", {**told, **call, "tool_use_id": "t"})
    return begun(HeldHook(daemon, {**told, **call}), daemon)


def begun(hook: HeldHook, daemon: RunningDaemon) -> HeldHook:
    """The hook, once it is held."""
    hook.start()
    wait_until(lambda: any(wait["held_until"] for wait in daemon.get("/api/waits").json()), "a wait that is held")
    return hook


def decision(hook: HeldHook) -> dict[str, Any]:
    """What the client was told, once it was."""
    hook.join(30)
    found: dict[str, Any] = hook.answer["hookSpecificOutput"]["decision"]
    return found


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
    expect(page.get_by_role("button", name="Answer", exact=True)).to_be_disabled()
    page.get_by_role("button", name="Blue").click()
    page.get_by_role("button", name="Answer", exact=True).click()
    hook.join(30)
    assert "Blue" in str(hook.answer)


def test_a_permission_is_denied_with_a_reason(visits: Visits, daemon: RunningDaemon, tmp_path: Path) -> None:
    """What stands in the line below the buttons goes along with the no."""
    hook = hold(daemon, tmp_path, tool_name="Bash", tool_input={"command": "make deploy"})
    page = visits.open(daemon, "/waits")
    page.get_by_label("If not: why, or what instead").fill("use the test machine")
    page.get_by_role("button", name="Deny").click()
    assert decision(hook) == {"behavior": "deny", "message": "use the test machine"}


def test_a_permission_is_given_for_another_input(visits: Visits, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The call's own input is there to be changed; what is no JSON is not sent."""
    hook = hold(daemon, tmp_path, tool_name="Bash", tool_input={"command": "make deploy"})
    page = visits.open(daemon, "/waits")
    page.get_by_role("button", name="Edit…").click()
    edited = page.get_by_label("What the tool gets instead")
    expect(edited).to_have_value(re.compile("make deploy"))
    edited.fill("{")
    page.get_by_role("button", name="Allow this").click()
    expect(page.get_by_role("alert")).to_contain_text("not JSON")
    edited.fill('{"command": "make test"}')
    page.get_by_role("button", name="Allow this").click()
    assert decision(hook) == {"behavior": "allow", "updatedInput": {"command": "make test"}}


def test_a_key_answers_where_the_wait_has_the_focus(visits: Visits, daemon: RunningDaemon, tmp_path: Path) -> None:
    """`y` is Allow; while one writes it is a letter."""
    hook = hold(daemon, tmp_path, tool_name="Bash", tool_input={"command": "make deploy"})
    page = visits.open(daemon, "/waits")
    page.get_by_label("If not: why, or what instead").press("y")
    expect(page.get_by_label("If not: why, or what instead")).to_have_value("y")
    page.locator("article.wait").focus()
    page.keyboard.press("y")
    assert decision(hook) == {"behavior": "allow"}


def test_questions_are_answered_in_own_words(visits: Visits, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Words of one's own stand beside what was chosen where several may be, and instead of it where one may."""
    options = [{"label": "Red"}, {"label": "Blue"}]
    colour = {"question": "Which colour?", "header": "Colour", "options": options}
    rooms = {"question": "Which rooms?", "header": "Rooms", "options": [{"label": "Hall"}], "multiSelect": True}
    hook = hold(daemon, tmp_path, tool_name="AskUserQuestion", tool_input={"questions": [colour, rooms]})
    page = visits.open(daemon, "/waits")
    page.get_by_label("In your own words: Which colour?").fill("grey")
    page.get_by_role("button", name="Hall").click()
    page.get_by_label("In your own words: Which rooms?").fill("cellar")
    page.get_by_role("button", name="Answer", exact=True).click()
    assert decision(hook)["updatedInput"]["answers"] == {"Which colour?": "grey", "Which rooms?": "Hall, cellar"}


def test_a_form_of_a_server_is_filled_in(visits: Visits, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Each field has its input; the browser holds back what is missing, the daemon what is wrong."""
    told = {"session_id": "one", "cwd": str(tmp_path)}
    schema = {
        "required": ["board"],
        "properties": {
            "board": {"type": "integer", "title": "Board"},
            "mail": {"type": "string", "title": "Mail", "minLength": 3},
            "urgent": {"type": "boolean", "title": "Urgent"},
            "size": {"type": "string", "title": "Size", "enum": ["S", "L"]},
        },
    }
    daemon.post("user-prompt-submit", {**told, "prompt": "Go"})
    asked = {**told, "mcp_server_name": "boards", "message": "Which board?", "requested_schema": schema}
    hook = begun(HeldHook(daemon, asked, "elicitation"), daemon)
    page = visits.open(daemon, "/waits")
    page.get_by_role("button", name="Accept").click()
    assert page.get_by_role("spinbutton", name="Board").evaluate("input => input.validity.valueMissing")
    page.get_by_role("spinbutton", name="Board").fill("7")
    page.get_by_label("Urgent").check()
    page.get_by_label("Size").select_option("L")
    page.get_by_role("button", name="Accept").click()
    hook.join(30)
    output = hook.answer["hookSpecificOutput"]
    assert (output["action"], output["content"]) == ("accept", {"board": 7, "urgent": True, "size": "L"})
