"""The changes of an agent: files, lines, commits, both views, keys, and every state of the view."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support import RunningDaemon
from tests.web.conftest import PHONE, Pages
from tests.web.sample_changes import changed_file, changes, generated_changes
from tests.web.test_accessibility import axe_violations, screenshot

TOTALS = """--- a/src/cart/totals.py
+++ b/src/cart/totals.py
@@ -10,5 +10,6 @@ class Cart:
     def total(self) -> int:
-        return sum(line.price for line in self.lines)
+        lines = (line.price for line in self.lines)
+        return round(sum(lines))
     # append only
     def add(self, line: Line) -> None:
         self.lines.append(line)
"""
NOTES = "--- /dev/null\n+++ b/docs/notes.md\n@@ -0,0 +1,2 @@\n+# Notes\n+Rounded once.\n"
IMAGE = "diff --git a/logo.png b/logo.png\nBinary files a/logo.png and b/logo.png differ\n"
SMALL = changes(
    changed_file("src/cart/totals.py", TOTALS),
    changed_file("docs/notes.md", NOTES, status="added"),
    changed_file("logo.png", IMAGE, source="git"),
    commits=[{"id": "0123456789abcdef", "subject": "Round once per invoice", "at": "2026-01-01T12:00:00+00:00"}],
)


def working_agent(daemon: RunningDaemon, folder: Path) -> str:
    """An agent with one command. Returns its id."""
    session = {"session_id": "one", "cwd": str(folder)}
    agent: str = daemon.post("user-prompt-submit", {**session, "prompt": "Round once"}).json()["agent_id"]
    return agent


def open_changes(pages: Pages, daemon: RunningDaemon, folder: Path, reply: dict[str, Any], **options: Any) -> Page:
    """The tab of an agent with these changes."""
    agent = working_agent(daemon, folder)
    page = pages.open(daemon, **options)
    page.route("**/api/agents/*/changes*", lambda route: route.fulfill(json=reply))
    page.goto(f"{daemon.url}/agents/{agent}?tab=changes")
    page.get_by_role("region", name="Changes", exact=True).wait_for()
    page.wait_for_selector("[data-connection=live]", state="attached")
    return page


def shown_rows(page: Page) -> list[str]:
    """The rendered rows as text: numbers, sign, code."""
    return [" ".join(row.split()) for row in page.locator(".row").all_inner_texts()]


def test_files_lines_and_commits(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Each file with its status, its counts and its lines; totals; commits since the session started."""
    page = open_changes(pages, daemon, tmp_path, SMALL)
    files = page.get_by_role("region", name="Changed files").get_by_role("button")
    expect(files).to_have_count(3)
    expect(files.nth(0)).to_contain_text("totals.py src/cart/ +2 −1")
    expect(files.nth(1)).to_contain_text("added")
    expect(page.get_by_text("3 files")).to_be_visible()
    assert shown_rows(page)[:4] == [
        "@@ -10,5 +10,6 @@ class Cart:",
        "10 10 def total(self) -> int:",
        "11 − return sum(line.price for line in self.lines)",
        "11 + lines = (line.price for line in self.lines)",
    ]
    expect(page.get_by_text("Binary files a/logo.png and b/logo.png differ")).to_be_visible()
    expect(page.locator(".keyword", has_text="def").first).to_be_visible()
    page.get_by_text("1 commit since the session started").click()
    expect(page.get_by_text("Round once per invoice")).to_be_visible()


def test_a_renamed_file_names_both_paths(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """As two words."""
    renamed = changed_file("renamed.txt", TOTALS, status="renamed", old_path="old.txt")
    page = open_changes(pages, daemon, tmp_path, changes(renamed))
    expect(page.locator(".heading .path")).to_have_text("renamed.txt from old.txt")


def test_side_by_side(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Removed lines are beside the added ones. The key v changes the view, and the browser keeps it."""
    page = open_changes(pages, daemon, tmp_path, SMALL)
    page.locator(".row").first.wait_for()
    page.keyboard.press("v")
    expect(page.locator(".row.pair").nth(1)).to_contain_text("return sum(line.price for line in self.lines)")
    expect(page.locator(".row.pair").nth(1)).to_contain_text("lines = (line.price for line in self.lines)")
    page.reload()
    expect(page.locator(".row.pair").first).to_be_visible()
    page.get_by_role("button", name="Unified").click()
    expect(page.locator(".row.pair")).to_have_count(0)


def test_a_huge_change_renders_only_what_is_visible(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """j and k go from file to file, from the one that is shown. Scrolling reaches the last line."""
    page = open_changes(pages, daemon, tmp_path, generated_changes(200, 20_000))
    page.locator(".row").first.wait_for()
    assert page.locator(".row").count() < 120
    current = page.get_by_role("region", name="Changed files").locator("[aria-current]")
    expect(current).to_contain_text("module_000.py")
    for wanted in ("001", "002"):
        page.keyboard.press("j")
        expect(current).to_contain_text(f"module_{wanted}.py")
    page.keyboard.press("k")
    expect(current).to_contain_text("module_001.py")
    lines = page.get_by_role("region", name="Changed lines")
    lines.evaluate("(list) => (list.scrollTop = list.scrollHeight)")
    expect(current).to_contain_text("module_199.py")
    expect(current).to_be_in_viewport()
    expect(page.locator(".row").last).to_be_in_viewport()
    assert page.locator(".row").count() < 120
    page.keyboard.press("k")
    expect(current).to_contain_text("module_198.py")


def test_the_last_file_can_be_selected(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """It is the current file although it does not reach the top of the list."""
    page = open_changes(pages, daemon, tmp_path, SMALL)
    page.get_by_role("region", name="Changed files").get_by_role("button", name="logo.png").click()
    expect(page.get_by_role("region", name="Changed files").locator("[aria-current]")).to_contain_text("logo.png")


def test_a_file_can_be_folded(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Its heading stays."""
    page = open_changes(pages, daemon, tmp_path, SMALL)
    heading = page.get_by_role("region", name="Changed lines").get_by_role("button", name="totals.py")
    heading.click()
    expect(page.get_by_text("def total")).to_have_count(0)
    expect(heading).to_have_attribute("aria-expanded", "false")
    heading.click()
    expect(page.get_by_text("def total")).to_be_visible()


def test_truncated_changes_say_so(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """A truncated file can be loaded completely; a long line, too."""
    line = "x" * 5_000
    long = changed_file("long.txt", f"--- a/long.txt\n+++ b/long.txt\n@@ -1 +1 @@\n-a\n+{line}\n")
    cut = changed_file("src/cart/totals.py", TOTALS[:120], complete=False, left_out=340)
    page = open_changes(pages, daemon, tmp_path, changes(cut, long))
    expect(page.locator("main .notice")).to_contain_text("340 characters left out")
    complete = changes(changed_file("src/cart/totals.py", TOTALS))
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(json=complete)

    page.route("**/api/agents/*/changes*", answer)
    page.get_by_role("button", name="Load all of it").click()
    expect(page.get_by_text("self.lines.append(line)")).to_be_visible()
    expect(page.locator("main .notice")).to_have_count(0)
    assert "files=src%2Fcart%2Ftotals.py" in asked[0]
    expect(page.get_by_text("… 3,000 more characters")).to_have_count(1)
    page.get_by_role("button", name="Show lines of more than 2,000 characters completely").click()
    expect(page.get_by_text("more characters")).to_have_count(0)


def test_hostile_text_in_changes_is_harmless(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Hidden characters are marks, markup is text, and nothing turns around."""
    evil = "<img src=x onerror=window.broken=1>\u202e\u200b\u001b[31m"
    file = changed_file(f"{evil}.html", f"--- a/x\n+++ b/x\n@@ -1 +1 @@ {evil}\n-{evil}\n+{evil}</script>\n")
    commit = {"id": "01234", "subject": evil, "at": "2026-01-01T12:00:00+00:00"}
    page = open_changes(pages, daemon, tmp_path, changes(file, commits=[commit]))
    page.get_by_text("1 commit").click()
    expect(page.locator(".name").first).to_be_visible()
    expect(page.locator(".code.added")).to_contain_text("onerror=window.broken=1>⟦U+202E⟧⟦U+200B⟧⟦U+001B⟧[31m</script>")
    text = page.locator("main").inner_text()
    assert [character for character in "\u202e\u200b\u001b" if character in text] == []
    assert page.evaluate("window.broken") is None
    assert page.locator("main img").count() == 0


def test_an_agent_without_changes(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The view says that there are none."""
    page = open_changes(pages, daemon, tmp_path, changes())
    expect(page.get_by_text("This agent has not changed a file.")).to_be_visible()


def test_changes_that_cannot_be_loaded(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The view shows the error and its hint."""
    agent = working_agent(daemon, tmp_path)
    page = pages.open(daemon)
    error = {"error": {"code": "broken", "message": "The disk is full.", "hint": "Free some space."}}
    page.route("**/api/agents/*/changes*", lambda route: route.fulfill(status=503, json=error))
    page.goto(f"{daemon.url}/agents/{agent}?tab=changes")
    expect(page.get_by_role("alert")).to_contain_text("The disk is full. Free some space.")


def test_new_changes_are_shown_on_request(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """While the agent works, nothing moves under the reader."""
    page = open_changes(pages, daemon, tmp_path, changes(changed_file("docs/notes.md", NOTES)))
    expect(page.get_by_text("1 file")).to_be_visible()
    page.route("**/api/agents/*/changes*", lambda route: route.fulfill(json=SMALL))
    daemon.post("post-tool-use", {"session_id": "one", "cwd": str(tmp_path), "tool_name": "Edit", "tool_use_id": "t"})
    button = page.get_by_role("button", name="Show new changes")
    expect(button).to_be_visible(timeout=15_000)
    expect(page.get_by_text("1 file")).to_be_visible()
    button.click()
    expect(page.get_by_text("3 files")).to_be_visible()
    expect(button).to_have_count(0)


def test_the_tabs_of_an_agent(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """c changes the tab. A prompt links to the changes of its command, which is then selected."""
    page = open_changes(pages, daemon, tmp_path, SMALL)
    page.locator(".row").first.wait_for()
    page.keyboard.press("c")
    conversation = page.get_by_role("region", name="Conversation")
    conversation.get_by_role("link", name="Changes").click()
    command = page.get_by_role("combobox", name="Command")
    expect(command.locator("option:checked")).to_contain_text("Round once")
    expect(page).to_have_url(re.compile("command="))
    command.select_option("")
    expect(page).not_to_have_url(re.compile("command="))
    page.get_by_role("link", name="Conversation").click()
    expect(conversation).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_changes_are_accessible(pages: Pages, daemon: RunningDaemon, tmp_path: Path, axe: str, scheme: str) -> None:
    """axe finds no serious violation in either view."""
    page = open_changes(pages, daemon, tmp_path, SMALL, color_scheme=scheme, reduced_motion="reduce")
    page.locator(".keyword").first.wait_for()
    screenshot(page, f"changes {scheme}")
    assert axe_violations(page, axe, scheme) == []
    page.keyboard.press("v")
    page.locator(".pair").first.wait_for()
    screenshot(page, f"changes side by side {scheme}")
    assert axe_violations(page, axe, scheme) == []


def test_changes_on_a_phone(pages: Pages, daemon: RunningDaemon, tmp_path: Path, axe: str) -> None:
    """One column, only the unified view, and nothing is wider than the screen."""
    page = open_changes(pages, daemon, tmp_path, SMALL, viewport=PHONE)
    page.locator(".keyword").first.wait_for()
    screenshot(page, "changes phone")
    expect(page.get_by_role("button", name="Side by side")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert axe_violations(page, axe, "light") == []


def test_what_tools_changed(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """From the hooks of real tool calls to the page, for the agent and for one command."""
    session = {"session_id": "one", "cwd": str(tmp_path)}
    agent = daemon.post("user-prompt-submit", {**session, "prompt": "Round once"}).json()["agent_id"]
    patch = {"oldStart": 10, "oldLines": 2, "newStart": 10, "newLines": 2, "lines": [" a", "-b", "+c"]}
    edit = {"file_path": f"{tmp_path}/cart.py", "old_string": "b", "new_string": "c"}
    call = {"tool_name": "Edit", "tool_input": edit, "tool_use_id": "t1", "tool_response": {"structuredPatch": [patch]}}
    daemon.post("post-tool-use", {**session, **call})
    daemon.post("stop", {**session, "last_assistant_message": "Done."})
    daemon.post("user-prompt-submit", {**session, "prompt": "Write a note"})
    note = {"file_path": f"{tmp_path}/note.md", "content": "# Note\n"}
    written: dict[str, Any] = {"type": "create", "content": "# Note\n", "structuredPatch": [], "originalFile": None}
    daemon.post(
        "post-tool-use",
        {**session, "tool_name": "Write", "tool_input": note, "tool_use_id": "t2", "tool_response": written},
    )
    page = pages.open(daemon, f"/agents/{agent}?tab=changes")
    files = page.get_by_role("region", name="Changed files").get_by_role("button")
    expect(files).to_have_count(2)
    assert "10 10 a" in shown_rows(page)
    assert "11 +c" in shown_rows(page)
    page.get_by_role("combobox", name="Command").select_option(index=1)
    expect(files).to_have_count(1)
    expect(files).to_contain_text("note.md +1")


def test_a_repository_that_cannot_be_read(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The reason is shown above the edits by tools."""
    page = open_changes(pages, daemon, tmp_path, {**SMALL, "git_problem": "git took too long."})
    expect(page.locator("main .notice")).to_contain_text("git took too long.")
    expect(page.get_by_text("def total")).to_be_visible()


def test_the_wait_of_an_agent_is_one_key_away(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """w goes from the changes to the wait in the conversation."""
    page = open_changes(pages, daemon, tmp_path, SMALL)
    daemon.post("stop", {"session_id": "one", "cwd": str(tmp_path), "last_assistant_message": "Shall I commit?"})
    page.get_by_role("button", name="Go to wait").wait_for()
    page.keyboard.press("w")
    expect(page.get_by_role("region", name="Conversation")).to_be_visible()
    expect(page.locator(".wait")).to_be_focused()
