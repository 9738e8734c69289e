"""Tool calls in a conversation: edits are diffs, long results are collapsed, hidden characters are marks."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, expect

from tests.support import RunningDaemon
from tests.web.conftest import Pages

PATCH = {
    "oldStart": 41,
    "oldLines": 3,
    "newStart": 41,
    "newLines": 3,
    "lines": [" def total(lines):", '-    return "a\\"b"', "+    return sum(lines)", " "],
}


def converse(daemon: RunningDaemon, folder: Path, *calls: dict[str, Any]) -> str:
    """An agent that made some tool calls. Returns its id."""
    session = {"session_id": "one", "cwd": str(folder)}
    agent: str = daemon.post("user-prompt-submit", {**session, "prompt": "Fix the sum"}).json()["agent_id"]
    for number, call in enumerate(calls):
        daemon.post("post-tool-use", {**session, **call, "tool_use_id": f"t{number}"})
    return agent


def edit(path: str, **result: Any) -> dict[str, Any]:
    """An edit of one line."""
    tool_input = {"file_path": path, "old_string": '    return "a\\"b"', "new_string": "    return sum(lines)"}
    return {"tool_name": "Edit", "tool_input": tool_input, "tool_response": {"filePath": path, **result}}


def rows(diff: Locator) -> list[str]:
    """The rows of a diff as text: numbers, sign, code."""
    return [" ".join(row.split()) for row in diff.locator(".row").all_inner_texts()]


def test_an_edit_is_a_diff(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """A small edit is open, with the line numbers and the colours of its language. Its result is collapsed."""
    agent = converse(daemon, tmp_path, edit("/home/dev/shop/cart.py", structuredPatch=[PATCH]))
    page = pages.open(daemon, f"/agents/{agent}")
    diff = page.get_by_role("region", name="Edit of /home/dev/shop/cart.py")
    expect(diff).to_be_visible()
    assert rows(diff) == [
        "@@ -41,3 +41,3 @@",
        "41 41 def total(lines):",
        '42 − return "a\\"b"',
        "42 + return sum(lines)",
        "43 43",
    ]
    expect(diff.locator(".keyword", has_text="def")).to_be_visible()
    conversation = page.get_by_role("region", name="Conversation")
    expect(conversation.locator("summary .counts")).to_have_text("+1 −1")
    result = conversation.locator("details.result")
    expect(result.locator("pre")).to_be_hidden()
    result.locator("summary").click()
    expect(result.locator("pre")).to_contain_text("structuredPatch")


def test_a_long_edit_and_a_long_result_are_collapsed(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Both say how long they are, and open with a click. A long diff starts with its first lines."""
    content = "".join(f"line {number}\n" for number in range(1, 501))
    write = {"tool_name": "Write", "tool_input": {"file_path": "/x.txt", "content": content}, "tool_response": {}}
    run = {"tool_name": "Bash", "tool_input": {"command": "seq 500"}, "tool_response": {"stdout": content}}
    agent = converse(daemon, tmp_path, write, run)
    page = pages.open(daemon, f"/agents/{agent}")
    lines = page.get_by_role("region", name="Conversation").locator(".row")
    expect(page.get_by_text("+500")).to_be_visible()
    expect(lines).to_have_count(0)
    page.locator("summary", has_text="x.txt").click()
    expect(lines).to_have_count(100)
    page.get_by_role("button", name="Show all 500 lines").click()
    expect(lines).to_have_count(500)
    page.locator("summary", has_text="seq 500").click()
    result = page.locator("details.result", has_text="result, 501 lines")
    expect(result.locator("pre")).to_be_hidden()


def test_hidden_characters_are_marks(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """In the line of a call, in diffs, in inputs and in results."""
    evil = "safe\u202e\u200b\u001b[31m"
    call = {
        "tool_name": "Bash",
        "tool_input": {"command": evil, "description": evil},
        "tool_response": {"stdout": evil},
    }
    write = {"tool_name": "Write", "tool_input": {"file_path": f"/{evil}.txt", "content": evil}, "tool_response": {}}
    agent = converse(daemon, tmp_path, call, write)
    page = pages.open(daemon, f"/agents/{agent}")
    conversation = page.get_by_role("region", name="Conversation")
    conversation.locator("summary", has_text="Bash").click()
    expect(conversation.locator("pre").first).to_contain_text("safe⟦U+202E⟧⟦U+200B⟧⟦U+001B⟧[31m")
    expect(conversation.locator(".code .mark").first).to_have_text("⟦U+202E⟧")
    text = conversation.inner_text()
    assert [character for character in "\u202e\u200b\u001b" if character in text] == []
