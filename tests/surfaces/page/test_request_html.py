"""The complete request on the answer page: commands, diffs, arguments, what is hidden or left out."""

from typing import Any

from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.wait.views import RequestView, wait_details_view
from claude_headspace.surfaces.page.request_html import diff_rows, request_html

DIFF = "# file not readable: gone\n--- a/x\n+++ b/x\n@@ -7,3 +7,3 @@\n one\n--- two\n+++ two\n three\n"


def shown(kind: str = "permission", *, is_all: bool = False, **request: Any) -> str:
    """The request of a wait as HTML."""
    wait = Wait(id="w1", agent_id="a1", kind=kind, text="", opened_at=1)
    return request_html(wait_details_view(wait, RequestView(**{"text": "", **request}), ()), is_all=is_all)


def test_a_command_is_shown_as_it_is() -> None:
    """With its line breaks to the last one, and its other arguments by name."""
    command = "make deploy && \\\n  git push --force"
    page = shown(text=command, arguments={"command": command, "timeout": 5})
    assert "<bdi>make deploy &amp;&amp; \\\n  git push --force</bdi></pre>" in page
    assert "<dt><bdi>timeout</bdi></dt><dd><bdi>5</bdi></dd>" in page
    assert page.count("git push") == 1


def test_other_tools_show_their_arguments_by_name() -> None:
    """Texts as they are, everything else as JSON."""
    page = shown(text="channel: #ops\nlist: …", arguments={"channel": "#ops", "list": [1]})
    assert "<dd><bdi>#ops</bdi></dd>" in page
    assert "<dd><bdi>[\n  1\n]</bdi></dd>" in page
    assert "<pre>" not in page


def test_a_tool_without_arguments_is_named_once() -> None:
    """Its name is in the title of the page."""
    wait = Wait(id="w1", agent_id="a1", kind="permission", tool="mcp__chat__list", text="", opened_at=1)
    page = request_html(wait_details_view(wait, RequestView(text="mcp__chat__list"), ()), is_all=False)
    assert page == "<p>(no arguments)</p>"


def test_a_diff_has_line_numbers() -> None:
    """Lines are counted, so that a changed line that looks like a header is still a line."""
    rows = list(diff_rows(DIFF.splitlines()))
    assert rows[:4] == [("note", None, None, line) for line in DIFF.splitlines()[:4]]
    assert rows[4:] == [
        ("context", 7, 7, " one"),
        ("removed", 8, None, "--- two"),
        ("added", None, 8, "+++ two"),
        ("context", 9, 9, " three"),
    ]
    page = shown(text="Edit x", diff=DIFF)
    assert '<tr class="removed"><td>8</td><td></td><td><bdi>--- two</bdi></td></tr>' in page


def test_a_diff_does_not_repeat_its_title() -> None:
    """The headers with the file of the title are left out; others, such as those of a new file, are not."""
    page = shown(text="Edit x", diff=DIFF)
    assert "--- a/x" not in page
    assert "+++ b/x" not in page
    assert "<bdi>+++ two</bdi>" in page
    assert "/dev/null" in shown(text="Write x", diff="--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+one\n")
    assert "b/x cell 1" in shown(text="NotebookEdit x", diff=DIFF.replace("b/x", "b/x cell 1"))


def test_hidden_characters_are_marked_and_named() -> None:
    """A warning above the request names them."""
    page = shown(text="echo \u202e\u202e")
    assert "RIGHT-TO-LEFT OVERRIDE (2 times)" in page
    assert page.count("<mark>⟦U+202E⟧</mark>") == 2
    assert "\u202e" not in page


def test_what_is_left_out_can_be_shown() -> None:
    """The size, and a link; without more to show, the place where it is."""
    assert '1,234 characters left out. <a href="?all=true">Show all</a>' in shown(complete=False, left_out=1234)
    assert "terminal" in shown(complete=False, left_out=1234, is_all=True)
    assert "Truncated" not in shown("plan", text="1. Read")
