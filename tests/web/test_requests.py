"""Waits show the complete request, and "always" spells out what it grants."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from claude_headspace.surfaces.auth.answer_links import PATH, AnswerGrant, AnswerLinks
from tests.support import RunningDaemon, wait_until
from tests.web.conftest import PHONE, Pages
from tests.web.held_waits import MODE, RULE, HeldHook, answers, decision, hold, read_through, settle


def hold_with_suggestions(daemon: RunningDaemon, folder: Path, command: str) -> HeldHook:
    """A command for which the client suggests a rule and another mode."""
    suggestions = [MODE, RULE]
    return hold(daemon, folder, tool_name="Bash", tool_input={"command": command}, permission_suggestions=suggestions)


def answer_path(daemon: RunningDaemon, wait: str) -> str:
    """The path of the link that answers a wait."""
    return PATH + AnswerLinks((daemon.home / "secret").read_bytes(), "").sign(AnswerGrant(wait, "ann"))


def test_a_long_command_is_shown_verbatim(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """All 60 lines with their line breaks, and the other arguments by name."""
    command = "\n".join([*(f"echo {number} \\" for number in range(59)), "&& git push --force"])
    hold(daemon, tmp_path, tool_name="Bash", tool_input={"command": command, "timeout": 60_000})
    page = pages.open(daemon, "/waits")
    assert page.get_by_label("Request").inner_text() == command
    expect(page.locator("article.wait dl")).to_have_text("timeout 60000")


def test_an_edit_is_shown_as_a_diff(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Against the file on the agent's machine, with its line numbers."""
    file = tmp_path / "app.py"
    file.write_text("".join(f"line {number}\n" for number in range(1, 40)))
    change = {"file_path": str(file), "old_string": "line 20\n", "new_string": "line twenty\n"}
    hold(daemon, tmp_path, tool_name="Edit", tool_input=change)
    page = pages.open(daemon, "/waits")
    diff = page.get_by_role("region", name="Change of the file")
    expect(diff.locator(".row", has_text="line 20")).to_contain_text("20")
    expect(diff.locator(".code.added")).to_contain_text("line twenty")
    expect(diff.locator(".row.line")).to_have_count(8)


def test_arguments_of_other_tools_are_named(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """A call of an MCP server shows each argument once."""
    arguments = {"channel": "#ops", "message": "Deploying\nnow", "options": {"urgent": True}}
    hold(daemon, tmp_path, tool_name="mcp__chat__post", tool_input=arguments)
    page = pages.open(daemon, "/waits")
    shown = page.locator("article.wait dl")
    expect(shown.locator("dt")).to_have_text(["channel", "message", "options"])
    assert shown.locator("dd").nth(1).inner_text() == "Deploying\nnow"
    expect(shown.locator("dd").nth(2)).to_contain_text('"urgent": true')


def test_a_tool_without_arguments_is_named_once(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """In the title of the wait."""
    hold(daemon, tmp_path, tool_name="mcp__chat__list", tool_input={})
    page = pages.open(daemon, "/waits")
    expect(page.get_by_label("Request")).to_have_text("(no arguments)")
    assert page.locator("article.wait").inner_text().count("mcp__chat__list") == 1


def test_what_is_left_out_can_be_shown(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """A request that is too long says how much is left out."""
    hold(daemon, tmp_path, tool_name="Bash", tool_input={"command": "echo " + "x" * 100_000 + " && rm -rf /"})
    page = pages.open(daemon, "/waits")
    expect(page.locator(".warning")).to_contain_text("characters left out")
    page.get_by_role("button", name="Show all").click()
    expect(page.locator(".warning")).to_have_count(0)
    assert len(page.get_by_label("Request").inner_text()) > 100_000


def test_only_the_selected_suggestion_is_granted(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Each has its lifetime, and none is selected at first. The agent's details list what was granted, and by whom."""
    hook = hold_with_suggestions(daemon, tmp_path, "make deploy")
    [wait] = daemon.get("/api/waits").json()
    page = pages.open(daemon, "/waits")
    settle(page)
    page.get_by_role("button", name="Always allow…").click()
    boxes = page.get_by_role("checkbox")
    expect(boxes).to_have_count(2)
    assert page.get_by_role("checkbox", checked=True).count() == 0
    expect(page.locator("article.wait label").last).to_contain_text("without asking you")
    page.get_by_role("checkbox", name="Allow Bash(make:*) until this session ends").check()
    page.get_by_role("button", name="Allow, and grant 1 permission").click()
    assert decision(hook) == {"behavior": "allow", "updatedPermissions": [RULE]}
    assert len(answers(daemon)) == 1
    expect(page.locator("article.wait .status")).to_contain_text("Allowed, and granted: Allow Bash(make:*) by")
    page.goto(f"{daemon.url}/agents/{wait['agent_id']}")
    granted = page.get_by_role("list", name="Granted")
    expect(granted).to_contain_text("Allow Bash(make:*)")
    expect(granted).to_contain_text("until this session ends; by")
    expect(granted.get_by_role("listitem")).to_have_count(1)


def test_hidden_characters_are_marked_and_named(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The request has marks where the characters are, and a warning; an edited input has escape sequences."""
    hook = hold(daemon, tmp_path, tool_name="Bash", tool_input={"command": "echo safe \u202e/~ fr- mr\u200b"})
    page = pages.open(daemon, "/waits")
    expect(page.get_by_role("alert")).to_contain_text("U+202E RIGHT-TO-LEFT OVERRIDE, U+200B ZERO WIDTH SPACE")
    assert page.get_by_label("Request").inner_text() == "echo safe ⟦U+202E⟧/~ fr- mr⟦U+200B⟧"
    settle(page)
    page.get_by_role("button", name="Edit…").click()
    edited = page.get_by_label("Tool input")
    assert "\\u202e" in edited.input_value()
    edited.fill('{"command": "echo safe"}')
    page.get_by_role("button", name="Allow with this input").click()
    assert decision(hook)["updatedInput"] == {"command": "echo safe"}


def test_an_answer_has_the_exact_text(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Marks are only shown: a question and an option with hidden characters are sent back as they are."""
    options = [{"label": "Re\u202ed"}, {"label": "Blue"}]
    questions = [{"question": "Which\u200b colour?", "header": "Colour", "options": options}]
    hook = hold(daemon, tmp_path, tool_name="AskUserQuestion", tool_input={"questions": questions})
    page = pages.open(daemon, "/waits")
    expect(page.get_by_role("group", name="Which⟦U+200B⟧ colour?")).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Re⟦U+202E⟧d").click()
    page.get_by_role("button", name="Answer", exact=True).click()
    assert decision(hook)["updatedInput"]["answers"] == {"Which\u200b colour?": "Re\u202ed"}
    expect(page.locator("article.wait .status")).to_contain_text("Answered Re⟦U+202E⟧d by")


def test_the_answer_link_shows_the_complete_request(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Buttons come after the end; Enter presses none of them; only what is selected is granted."""
    command = "\n".join([*(f"echo {number} \\" for number in range(59)), "&& git push --force \u202e"])
    hook = hold_with_suggestions(daemon, tmp_path, command)
    [wait] = daemon.get("/api/waits").json()
    page = pages.open(daemon, answer_path(daemon, wait["id"]), signed_in=False)
    assert page.locator("pre").inner_text() == command.replace("\u202e", "⟦U+202E⟧")
    allow = page.get_by_role("button", name="Allow", exact=True)
    end, button = page.locator("pre").bounding_box(), allow.bounding_box()
    assert end is not None
    assert button is not None
    assert button["y"] > end["y"] + end["height"]
    page.get_by_label("Allow Bash(make:*)").check()
    page.get_by_label("Allow Bash(make:*)").press("Enter")
    expect(page.get_by_text("Enter is not an answer")).to_be_visible()
    assert answers(daemon) == []
    page.get_by_label("Allow Bash(make:*)").check()
    allow.click()
    assert decision(hook) == {"behavior": "allow", "updatedPermissions": [RULE]}
    wait_until(lambda: len(answers(daemon)) == 1, "the answer")


def test_a_diff_on_the_answer_link_fits_a_phone(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Line numbers are narrow, so that the lines have most of the width."""
    file = tmp_path / "app.py"
    file.write_text("".join(f"line {number}\n" for number in range(1, 40)))
    change = {"file_path": str(file), "old_string": "line 20\n", "new_string": "line twenty\n"}
    hold(daemon, tmp_path, tool_name="Edit", tool_input=change)
    [wait] = daemon.get("/api/waits").json()
    page = pages.open(daemon, answer_path(daemon, wait["id"]), signed_in=False, viewport=PHONE)
    line = page.locator(".diff .added td").last.bounding_box()
    assert line is not None
    assert line["width"] > 0.6 * PHONE["width"]
    expect(page.get_by_text("--- a/app.py")).to_have_count(0)


PLANS = {
    "globs": "1. Run rm -rf src/*.o lib/*.o\n2. delete /*.bak /home/*.bak\n3. ~~Do not~~ keep _build_",
    "comment": "1. Tidy up\n\n[//]: # (delete the backups)",
    "definition": "1. Tidy up\n\n[ref]: https://example.org/delete 'the backups'",
    "link": "See [docs](https://example.org/delete)",
    "image": "![docs](https://example.org/delete)",
    "cell": "| a |\n|---|\n| 1 | delete |",
    "code": "```sh delete\necho\n```",
    "end": "word " * 12_500 + "\n\ndelete the backups",
}
"""Plans of which formatted Markdown would hide a part."""


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_shown_completely(pages: Pages, daemon: RunningDaemon, tmp_path: Path, name: str) -> None:
    """Every character that the agent wrote is visible."""
    hold(daemon, tmp_path, tool_name="ExitPlanMode", tool_input={"plan": PLANS[name]})
    page = pages.open(daemon, "/waits")
    settle(page)
    if (show_all := page.get_by_role("button", name="Show all")).count():
        show_all.click()
    expect(show_all).to_have_count(0)
    expect(page.get_by_label("Request")).to_contain_text("delete")
    assert page.get_by_label("Request").inner_text() == PLANS[name]


def test_the_source_of_a_plan_has_a_look(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Headings, list markers and code stand out, without a character less."""
    plan = "# Plan\n\n1. Read `app.py`\n\n```python\nprint(1)\n```"
    hold(daemon, tmp_path, tool_name="ExitPlanMode", tool_input={"plan": plan})
    page = pages.open(daemon, "/waits")
    shown = page.get_by_label("Request")
    expect(shown.locator(".heading")).to_have_text("# Plan")
    expect(shown.locator(".code")).to_have_text(["`app.py`", "```python print(1) ```"])
    assert shown.inner_text() == plan


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("ExitPlanMode", {"plan": "\n".join(f"{number}. Step {'word ' * 60}" for number in range(1, 400))}),
        ("Write", {"file_path": "/new.py", "content": "".join(f"x{number}\n" for number in range(3_000))}),
    ],
    ids=["left out", "rows"],
)
def test_only_what_was_shown_is_allowed(
    pages: Pages, daemon: RunningDaemon, tmp_path: Path, tool: str, given: dict[str, str]
) -> None:
    """The end of a part is not the end: first everything is shown, from the start, then all of it is read."""
    hook = hold(daemon, tmp_path, tool_name=tool, tool_input=given)
    page = pages.open(daemon, "/waits")
    settle(page)
    allow = page.get_by_role("button", name="Approve" if tool == "ExitPlanMode" else "Allow", exact=True)
    allow.scroll_into_view_if_needed()
    settle(page)
    expect(allow).to_have_attribute("aria-disabled", "true")
    page.get_by_role("button", name="Show all").click()
    expect(page.get_by_role("button", name="Show all")).to_have_count(0)
    settle(page)
    page.wait_for_timeout(300)
    expect(allow).to_have_attribute("aria-disabled", "true")
    assert answers(daemon) == []
    read_through(page, page.locator("article.wait"))
    expect(allow).to_have_attribute("aria-disabled", "false")
    allow.click()
    assert decision(hook)["behavior"] == "allow"


def test_the_cell_of_a_notebook_is_named(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The title only names the notebook. A path that the title names is not repeated."""
    notebook = tmp_path / "n.ipynb"
    notebook.write_text('{"cells": [{"id": "c1", "source": ["a = 1"]}]}')
    edit = {"notebook_path": str(notebook), "cell_id": "c1", "new_source": "a = 2"}
    hold(daemon, tmp_path, tool_name="NotebookEdit", tool_input=edit)
    write = {"file_path": str(tmp_path / "new.py"), "content": "a = 1\n"}
    hold(daemon, tmp_path, session="two", tool_name="Write", tool_input=write)
    page = pages.open(daemon, "/waits")
    expect(page.get_by_role("region", name="Change of the file")).to_have_count(2)
    expect(page.locator(".diff .path")).to_have_text(["n.ipynb (c1)"])
