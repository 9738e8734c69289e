"""Waits that a client holds open are answered on the page."""

import json
import re
from pathlib import Path

from playwright.sync_api import expect

from tests.support import RunningDaemon
from tests.web.conftest import Pages
from tests.web.held_waits import HeldHook, decision, hold, settle, started


def test_allow_a_permission_request(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The client receives the decision; the wait records that it was answered on the web page."""
    hook = hold(daemon, tmp_path, tool_name="Bash", tool_input={"command": "make deploy"})
    page = pages.open(daemon, "/waits")
    page.get_by_role("button", name="Allow", exact=True).click()
    hook.join(30)
    assert hook.reply["hookSpecificOutput"]["decision"]["behavior"] == "allow"
    [wait] = daemon.get("/api/waits?all=true").json()
    assert (wait["answered"]["words"], wait["answered"]["via"]) == ("allowed", "web")


def test_answer_a_question(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Options are buttons. The answer can be sent when every question has one."""
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    questions = [{"question": "Which colour?", "header": "Colour", "options": options}]
    hook = hold(daemon, tmp_path, tool_name="AskUserQuestion", tool_input={"questions": questions})
    page = pages.open(daemon, "/waits")
    expect(page.get_by_role("button", name="Answer", exact=True)).to_be_disabled()
    page.get_by_role("button", name="Blue").click()
    page.get_by_role("button", name="Answer", exact=True).click()
    hook.join(30)
    assert "Blue" in str(hook.reply)


def test_deny_a_permission_request_with_a_reason(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The text of the message field is sent with the denial."""
    hook = hold(daemon, tmp_path, tool_name="Bash", tool_input={"command": "make deploy"})
    page = pages.open(daemon, "/waits")
    page.get_by_label("If denied: reason or instructions").fill("use the test machine")
    page.get_by_role("button", name="Deny").click()
    assert decision(hook) == {"behavior": "deny", "message": "use the test machine"}


def test_allow_with_edited_input(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The tool's input can be edited. Invalid JSON is not sent."""
    hook = hold(daemon, tmp_path, tool_name="Bash", tool_input={"command": "make deploy"})
    page = pages.open(daemon, "/waits")
    page.get_by_role("button", name="Edit…").click()
    edited = page.get_by_label("Tool input")
    expect(edited).to_have_value(re.compile("make deploy"))
    edited.fill("{")
    page.get_by_role("button", name="Allow with this input").click()
    expect(page.locator("article.wait").get_by_role("status")).to_contain_text("not valid JSON")
    edited.fill('{"command": "make test"}')
    page.get_by_role("button", name="Allow with this input").click()
    assert decision(hook) == {"behavior": "allow", "updatedInput": {"command": "make test"}}


def test_each_wait_edits_the_input_of_its_own_call(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Two edits of one file look the same in one line, but the editor has the input of the right one."""
    file = tmp_path / "app.py"
    file.write_text("one\ntwo\n")
    common = {"session_id": "one", "cwd": str(tmp_path), "tool_name": "Edit"}
    daemon.post("user-prompt-submit", {**common, "prompt": "Go"})
    inputs = [{"file_path": str(file), "old_string": word, "new_string": word.upper()} for word in ("one", "two")]
    calls = [{**common, "tool_input": each, "tool_use_id": each["new_string"]} for each in inputs]
    for call in calls:
        daemon.post("pre-tool-use", call)
    hooks = [started(HeldHook(daemon, call), daemon) for call in calls]
    page = pages.open(daemon, "/waits")
    settle(page)
    for shown, hook, expected in zip(page.locator("article.wait").all(), hooks, inputs, strict=True):
        shown.get_by_role("button", name="Edit…").click()
        settle(page)
        assert json.loads(shown.get_by_label("Tool input").input_value()) == expected
        shown.get_by_role("button", name="Allow with this input").click()
        assert decision(hook) == {"behavior": "allow", "updatedInput": expected}


def test_an_input_with_a_redacted_part_is_not_edited(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The card says why; no editor with another input is offered."""
    secret = "ghp_" + "a1B2c3D4e5" * 4
    hold(daemon, tmp_path, tool_name="Bash", tool_input={"command": f"curl -H 'Authorization: Bearer {secret}' x"})
    page = pages.open(daemon, "/waits")
    settle(page)
    page.get_by_role("button", name="Edit…").click()
    expect(page.locator("article.wait .status")).to_contain_text("redacted")
    expect(page.get_by_label("Tool input")).to_have_count(0)


def test_keys_answer_the_focused_wait(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """`y` allows, except in a text field."""
    hook = hold(daemon, tmp_path, tool_name="Bash", tool_input={"command": "make deploy"})
    page = pages.open(daemon, "/waits")
    page.get_by_label("If denied: reason or instructions").press("y")
    expect(page.get_by_label("If denied: reason or instructions")).to_have_value("y")
    page.locator("article.wait").focus()
    settle(page)
    page.keyboard.press("y")
    assert decision(hook) == {"behavior": "allow"}


def test_answer_questions_with_typed_text(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """A typed answer is added to the selected options if several are allowed; otherwise it replaces the option."""
    options = [{"label": "Red"}, {"label": "Blue"}]
    colour = {"question": "Which colour?", "header": "Colour", "options": options}
    rooms = {"question": "Which rooms?", "header": "Rooms", "options": [{"label": "Hall"}], "multiSelect": True}
    hook = hold(daemon, tmp_path, tool_name="AskUserQuestion", tool_input={"questions": [colour, rooms]})
    page = pages.open(daemon, "/waits")
    page.get_by_label("Other answer: Which colour?").fill("grey")
    page.get_by_role("button", name="Hall").click()
    page.get_by_label("Other answer: Which rooms?").fill("cellar")
    page.get_by_role("button", name="Answer", exact=True).click()
    assert decision(hook)["updatedInput"]["answers"] == {"Which colour?": "grey", "Which rooms?": "Hall, cellar"}


def test_fill_in_the_form_of_an_mcp_server(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Each field has an input for its type. The browser requires the required fields."""
    session = {"session_id": "one", "cwd": str(tmp_path)}
    schema = {
        "required": ["board"],
        "properties": {
            "board": {"type": "integer", "title": "Board"},
            "mail": {"type": "string", "title": "Mail", "minLength": 3},
            "urgent": {"type": "boolean", "title": "Urgent"},
            "size": {"type": "string", "title": "Size", "enum": ["S", "L"]},
        },
    }
    daemon.post("user-prompt-submit", {**session, "prompt": "Go"})
    request = {**session, "mcp_server_name": "boards", "message": "Which board?", "requested_schema": schema}
    hook = started(HeldHook(daemon, request, "elicitation"), daemon)
    page = pages.open(daemon, "/waits")
    page.get_by_role("button", name="Accept").click()
    assert page.get_by_role("spinbutton", name="Board").evaluate("input => input.validity.valueMissing")
    page.get_by_role("spinbutton", name="Board").fill("7")
    page.get_by_label("Urgent").check()
    page.get_by_label("Size").select_option("L")
    page.get_by_role("button", name="Accept").click()
    hook.join(30)
    output = hook.reply["hookSpecificOutput"]
    assert (output["action"], output["content"]) == ("accept", {"board": 7, "urgent": True, "size": "L"})


def test_a_form_is_sent_with_the_exact_names(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Hidden characters of a field are shown as marks, but its name is sent as it is. The question is shown once."""
    common = {"session_id": "one", "cwd": str(tmp_path)}
    daemon.post("user-prompt-submit", {**common, "prompt": "Go"})
    schema = {"type": "object", "properties": {"na\u200bme": {"type": "string"}}}
    form = {"mcp_server_name": "tickets", "message": "Which ticket?", "mode": "form", "requested_schema": schema}
    hook = started(HeldHook(daemon, {**common, **form}, "elicitation"), daemon)
    page = pages.open(daemon, "/waits")
    page.get_by_label("na⟦U+200B⟧me").fill("hello")
    expect(page.locator("article.wait").get_by_text("Which ticket?")).to_have_count(1)
    settle(page)
    page.get_by_role("button", name="Accept").click()
    hook.join(30)
    assert hook.reply["hookSpecificOutput"]["content"] == {"na\u200bme": "hello"}


def test_the_reason_of_a_plan_is_for_more_planning(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The field names its own button."""
    hold(daemon, tmp_path, tool_name="ExitPlanMode", tool_input={"plan": "1. Read"})
    page = pages.open(daemon, "/waits")
    expect(page.get_by_placeholder("If you keep planning: reason or instructions")).to_be_visible()
