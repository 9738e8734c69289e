"""Text of agents, prompts, tools and files is untrusted: it must not run scripts or break the layout."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from claude_headspace.kernel.hidden_characters import RANGES
from tests.support import RunningDaemon
from tests.web.conftest import LAPTOP, Pages
from tests.web.held_waits import HeldHook, hold, settle, started

HOSTILE = (
    "<script>window.broken=1</script><img src=x onerror=window.broken=1><svg onload=window.broken=1>"
    "[click](javascript:window.broken=1) <a href='javascript:window.broken=1'>x</a> "
    "</style><style>*{display:none}</style>"
    "{{constructor}} ${7*7} \u202e\u0000\u001b[31m \u200b\u2066\ufeff\u009b\U000e0041 "
)
HIDDEN = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in RANGES) + "]")
SHOWN_TEXT = """() => {
    const attributes = ["title", "aria-label", "placeholder", "alt"];
    const ofElement = (element) => attributes.map((name) => element.getAttribute(name) ?? "");
    const labels = [...document.querySelectorAll("*")].flatMap(ofElement);
    return [document.title, document.body.textContent, ...labels].join(" ");
}"""
"""Everything that a person can read, and what a screen reader says."""
LONG = "x" * 5_000
HOSTILE_AND_LONG = HOSTILE + LONG


def hostile_agent(daemon: RunningDaemon, folder: Path) -> str:
    """An agent with hostile text in every field."""
    cwd = folder / "<img src=x onerror=window.broken=1>"
    (cwd / ".git").mkdir(parents=True)
    (cwd / ".git/HEAD").write_text("ref: refs/heads/<script>window.broken=1</script>\n")
    common = {
        "session_id": "evil <b>",
        "cwd": str(cwd),
        "permission_mode": HOSTILE,
        "tmux_session": "<b>s",
        "tmux_pane": "<i>",
    }

    def post(event: str, **payload: object) -> str:
        reply = daemon.post(event, {**common, **payload})
        assert reply.status == 200, reply.body
        agent: str = reply.json()["agent_id"]
        return agent

    post("session-start", source=HOSTILE, model=HOSTILE_AND_LONG)
    post("user-prompt-submit", prompt=HOSTILE_AND_LONG, prompt_id="p")
    post("task-created", task_id="1", task_subject=HOSTILE_AND_LONG)
    call = {
        "tool_name": HOSTILE[:80],
        "tool_input": {"command": HOSTILE_AND_LONG, "description": HOSTILE},
        "tool_use_id": "t1",
    }
    post("pre-tool-use", **call)
    post("post-tool-use", **call, tool_response={"stdout": HOSTILE_AND_LONG})
    post("pre-tool-use", **{**call, "tool_use_id": "t2"})
    post("post-tool-use-failure", **{**call, "tool_use_id": "t2"}, error=HOSTILE_AND_LONG)
    post("subagent-start", agent_id="<b>sub", agent_type=HOSTILE_AND_LONG)
    post(
        "pre-tool-use",
        agent_id="<b>sub",
        agent_type=HOSTILE,
        tool_name="Read",
        tool_input={"file_path": HOSTILE_AND_LONG},
    )
    post("made-up-event", nonsense={"deep": [HOSTILE] * 3})
    questions = [
        {
            "question": HOSTILE_AND_LONG,
            "header": HOSTILE,
            "options": [{"label": HOSTILE_AND_LONG, "description": HOSTILE_AND_LONG}],
        }
    ]
    return post("pre-tool-use", tool_name="AskUserQuestion", tool_input={"questions": questions}, tool_use_id="t3")


def assert_harmless(page: Page) -> None:
    """No script ran, no foreign element exists, nothing is wider than the window."""
    page.wait_for_timeout(300)
    assert page.evaluate("window.broken") is None
    assert page.locator("main script, main style, main svg[onload], main img[src=x]").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= LAPTOP["width"]
    assert page.locator("main").is_visible()
    assert HIDDEN.findall(page.evaluate(SHOWN_TEXT)) == []


def test_hostile_text_is_harmless_in_every_view(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """With all details open, it is only text."""
    agent = hostile_agent(daemon, tmp_path)
    page = pages.open(daemon)
    expect(page.locator(".card")).to_have_count(1)
    box = page.locator(".card").bounding_box()
    assert box is not None
    assert box["height"] < 200
    page.keyboard.press("j")
    expect(page.get_by_role("complementary", name="Selected agent")).to_be_visible()
    assert_harmless(page)
    for key in "23":
        page.keyboard.press(key)
        assert_harmless(page)
    for path in (
        f"/agents/{agent}",
        "/waits",
        "/activity",
        f"/replay/{agent}",
        "/logging",
        "/search?q=<script>",
        "/settings",
    ):
        page.goto(daemon.url + path)
        page.wait_for_selector("[data-connection=live]", state="attached")
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        assert_harmless(page)
    page.goto(daemon.url + "/logging")
    page.locator(".line").first.click()
    assert_harmless(page)


FIELD = {"type": "string", "title": HOSTILE, "description": HOSTILE, "enum": [HOSTILE]}
OPTION = {"label": HOSTILE, "description": HOSTILE}
HOSTILE_WAITS = {
    "command": ("Bash", {"command": HOSTILE_AND_LONG, HOSTILE: HOSTILE}),
    "edit": ("Edit", {"file_path": f"/{HOSTILE[:60]}", "old_string": HOSTILE, "new_string": HOSTILE_AND_LONG}),
    "arguments": (HOSTILE[:60], {HOSTILE: [HOSTILE, {HOSTILE: HOSTILE}]}),
    "plan": ("ExitPlanMode", {"plan": HOSTILE_AND_LONG}),
    "question": ("AskUserQuestion", {"questions": [{"question": HOSTILE, "header": HOSTILE, "options": [OPTION]}]}),
}
"""A tool and its input for each way to show a request."""
RULE = {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": HOSTILE}], "behavior": "allow"}


def test_texts_of_both_directions_keep_their_order(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The name of a tmux session in another script does not move the pane before it."""
    place = {"session_id": "one", "cwd": str(tmp_path), "tmux_session": "שלום 1", "tmux_pane": "%1"}
    daemon.post("session-start", place)
    page = pages.open(daemon, f"/agents/{daemon.agents()[0]['id']}")
    parts = page.locator("dt:has-text('Terminal') + dd bdi")
    expect(parts).to_have_text(["שלום 1", "%1"])
    left, right = parts.first.bounding_box(), parts.last.bounding_box()
    assert left is not None
    assert right is not None
    assert left["x"] + left["width"] < right["x"]


@pytest.mark.parametrize("kind", HOSTILE_WAITS)
def test_hostile_requests_are_harmless(pages: Pages, daemon: RunningDaemon, tmp_path: Path, kind: str) -> None:
    """Every part of a request is text with visible marks: on the page, in the panel, and in the result."""
    tool, given = HOSTILE_WAITS[kind]
    suggestions = [{**RULE, "destination": "session"}]
    hold(daemon, tmp_path, tool_name=tool, tool_input=given, permission_suggestions=suggestions)
    [wait] = daemon.get("/api/waits").json()
    page = pages.open(daemon, "/waits")
    settle(page)
    expect(page.get_by_role("alert")).to_contain_text("RIGHT-TO-LEFT OVERRIDE")
    if kind in ("command", "edit", "arguments"):
        page.get_by_role("button", name="Always allow…").click()
        expect(page.get_by_role("checkbox")).to_have_count(1)
    assert_harmless(page)
    daemon.send("POST", f"/api/waits/{wait['id']}/answer", {"decision": "deny", "message": HOSTILE}, scope="act")
    expect(page.locator("article.wait.closed")).to_be_visible()
    assert_harmless(page)


def test_hostile_forms_are_harmless(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The fields of an MCP server's form."""
    session = {"session_id": "one", "cwd": str(tmp_path)}
    daemon.post("user-prompt-submit", {**session, "prompt": "Go"})
    schema = {"properties": {"plain": FIELD, HOSTILE[:40]: {"type": "string", "title": HOSTILE}}}
    request = {**session, "mcp_server_name": HOSTILE[:60], "message": HOSTILE_AND_LONG, "requested_schema": schema}
    started(HeldHook(daemon, request, "elicitation"), daemon)
    page = pages.open(daemon, "/waits")
    settle(page)
    assert_harmless(page)


def test_markdown_is_sanitized(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Formatting is kept, images are not loaded, links open in a new tab."""
    cwd = str(tmp_path)
    session = {"session_id": "one", "cwd": cwd}
    agent = daemon.post("session-start", session).json()["agent_id"]
    daemon.post("user-prompt-submit", {**session, "prompt": "go"})
    harmless = "**Bold** ![spy](https://evil.example/x.png) [safe](https://example.org) `code`\n\n- [ ] task"
    text = f"{harmless}\n\n{HOSTILE}\n\n<iframe src=/></iframe>"
    daemon.post("stop", {**session, "last_assistant_message": text})
    page = pages.open(daemon, f"/agents/{agent}")
    expect(page.locator(".prose strong")).to_have_text("Bold")
    safe = page.locator(".prose a", has_text="safe")
    expect(safe).to_have_attribute("rel", "noopener noreferrer")
    expect(safe).to_have_attribute("target", "_blank")
    assert page.locator(".prose img, .prose iframe").count() == 0
    assert_harmless(page)


def test_entities_are_marked(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """An entity in Markdown that means a hidden character is shown as its mark; other ones stay characters."""
    session = {"session_id": "one", "cwd": str(tmp_path)}
    agent = daemon.post("user-prompt-submit", {**session, "prompt": "go"}).json()["agent_id"]
    text = '&#x202E;a &ZeroWidthSpace;b &lt;c [d&#8203;](https://example.org "e&lrm;")'
    daemon.post("stop", {**session, "last_assistant_message": text})
    page = pages.open(daemon, f"/agents/{agent}")
    expect(page.locator(".prose").last).to_have_text("⟦U+202E⟧a ⟦U+200B⟧b <c d⟦U+200B⟧")
    assert_harmless(page)


def test_the_page_knows_the_same_hidden_characters() -> None:
    """The table of the page equals that of the daemon."""
    source = (Path(__file__).parents[2] / "web/src/lib/hidden-characters.ts").read_text(encoding="utf-8")
    pairs = re.findall(r"\[0x([0-9a-f]+), 0x([0-9a-f]+)\]", source)
    assert tuple((int(first, 16), int(last, 16)) for first, last in pairs) == RANGES
