"""Long conversations: they open at the newest turn, load pages on scroll, and links lead to any turn."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support import RunningDaemon
from tests.web.conftest import LAPTOP, PHONE, Pages

COMMANDS = 120
SESSION = {"session_id": "long"}

SCROLL_TO_BEGINNING = """
(list) => {
  const isLoaded = () => list.textContent.includes("The conversation begins here");
  const step = () => {
    list.scrollTop -= 300;
    if (!isLoaded() || list.scrollTop > 0) requestAnimationFrame(step);
  };
  step();
}
"""


def talk(daemon: RunningDaemon, folder: Path) -> str:
    """An agent with many turns, some with code. Returns its id."""
    session = {**SESSION, "cwd": str(folder), "tmux_pane": "%1"}
    with daemon.client() as client:
        for number in range(COMMANDS):
            client.post("user-prompt-submit", {**session, "prompt": f"Prompt {number}.", "prompt_id": f"p{number}"})
            client.post(
                "stop", {**session, "last_assistant_message": f"Reply {number}.\n\n```python\nreturn {number}\n```"}
            )
    agent: str = daemon.agents()[0]["id"]
    return agent


def turn_with(page: Page, text: str) -> Locator:
    """The turn with a text."""
    return page.locator(".turn").filter(has_text=text)


def turns_of(page: Page) -> Locator:
    """The list of turns."""
    return page.get_by_role("region", name="Turns and tool calls")


@pytest.mark.parametrize("viewport", [LAPTOP, PHONE])
def test_it_opens_at_the_newest_turn(
    pages: Pages, daemon: RunningDaemon, tmp_path: Path, viewport: dict[str, int]
) -> None:
    """Only few turns are rendered, and the prompt box is at the end. Keys lead to the beginning and back."""
    agent = talk(daemon, tmp_path)
    page = pages.open(daemon, f"/agents/{agent}", viewport=viewport)
    expect(turn_with(page, f"Reply {COMMANDS - 1}.")).to_be_in_viewport()
    assert page.locator(".turn").count() < COMMANDS // 2
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("Home")
    expect(turn_with(page, "Prompt 0.")).to_be_in_viewport()
    expect(page.get_by_text("The conversation begins here")).to_be_visible()
    page.keyboard.press("End")
    expect(turn_with(page, f"Reply {COMMANDS - 1}.")).to_be_in_viewport()


def test_older_turns_are_loaded_on_scroll(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Up to the first one."""
    agent = talk(daemon, tmp_path)
    page = pages.open(daemon, f"/agents/{agent}")
    expect(turn_with(page, f"Reply {COMMANDS - 1}.")).to_be_in_viewport()
    turns_of(page).evaluate(SCROLL_TO_BEGINNING)
    expect(turn_with(page, "Prompt 0.")).to_be_in_viewport()


def test_a_link_leads_to_an_old_turn(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """It is highlighted and has the focus. A link to an unknown turn says so, and offers the newest ones."""
    agent = talk(daemon, tmp_path)
    path = f"/api/agents/{agent}/turns?limit=1000"
    found = [turn for turn in daemon.send("GET", path, scope="read").json() if turn["text"] == "Prompt 7."]
    page = pages.open(daemon, f"/agents/{agent}?turn={found[0]['turn_id']}")
    turn = turn_with(page, "Prompt 7.")
    expect(turn).to_be_in_viewport()
    expect(page.locator(".turn.target")).to_contain_text("Prompt 7.")
    expect(turn).to_be_focused()
    page.goto(f"{daemon.url}/agents/{agent}?turn=missing")
    page.get_by_role("button", name="Show the newest turns").click()
    expect(turn_with(page, f"Reply {COMMANDS - 1}.")).to_be_in_viewport()


def test_new_turns_do_not_move_a_reader(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The number of new turns is shown; a click leads to the end, which then follows new turns."""
    agent = talk(daemon, tmp_path)
    page = pages.open(daemon, f"/agents/{agent}")
    expect(turn_with(page, f"Reply {COMMANDS - 1}.")).to_be_in_viewport()
    turns_of(page).evaluate("(list) => { list.scrollTop -= 900; }")
    expect(page.get_by_role("button", name="show the end of the conversation")).to_be_visible()
    read = page.evaluate_handle(
        """() => [...document.querySelectorAll("main .turn")].find((turn) => turn.getBoundingClientRect().top > 250)"""
    ).as_element()
    assert read is not None
    before = read.evaluate("(turn) => [turn.id, turn.getBoundingClientRect().top]")
    session: dict[str, Any] = {**SESSION, "cwd": str(tmp_path), "tmux_pane": "%1"}
    daemon.post("user-prompt-submit", {**session, "prompt": "Something new.", "prompt_id": "new"})
    expect(page.get_by_role("button", name="1 new turn")).to_be_visible()
    page.wait_for_function(
        "([id, top]) => Math.abs(document.getElementById(id).getBoundingClientRect().top - top) < 1", arg=before
    )
    page.get_by_role("button", name="1 new turn").click()
    expect(turn_with(page, "Something new.")).to_be_in_viewport()
    daemon.post("stop", {**session, "last_assistant_message": "The newest reply."})
    expect(turn_with(page, "The newest reply.")).to_be_in_viewport()


def test_code_is_highlighted_and_can_be_copied(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Hidden characters stay marked, also in what is copied."""
    session = {**SESSION, "cwd": str(tmp_path)}
    agent = daemon.post("user-prompt-submit", {**session, "prompt": "Write it"}).json()["agent_id"]
    code = "```python\ndef total():\n    return 'a\u202eb' # <b>\n```"
    daemon.post("stop", {**session, "last_assistant_message": code})
    page = pages.open(daemon, f"/agents/{agent}", permissions=["clipboard-read", "clipboard-write"])
    block = page.locator(".code-block")
    expect(block.locator(".code-keyword").first).to_have_text("def")
    expect(block.locator(".code-mark")).to_have_text("⟦U+202E⟧")
    assert block.locator("b").count() == 0
    block.hover()
    block.get_by_role("button", name="Copy code").click()
    expect(block.get_by_role("status")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines() == ["def total():", "    return 'a⟦U+202E⟧b' # <b>"]


def test_a_draft_survives_navigation(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """An ended agent, or one without a terminal, says why nothing can be typed."""
    folder = str(tmp_path)
    agent = daemon.post("session-start", {"session_id": "a", "cwd": folder, "tmux_pane": "%1"}).json()["agent_id"]
    other = daemon.post("session-start", {"session_id": "b", "cwd": folder}).json()["agent_id"]
    page = pages.open(daemon, f"/agents/{agent}")
    page.get_by_role("textbox", name="Prompt for").fill("Later")
    page.goto(f"{daemon.url}/agents/{other}")
    expect(page.get_by_role("textbox", name="Prompt for")).to_be_disabled()
    expect(page.get_by_text("does not run in tmux")).to_be_visible()
    page.goto(f"{daemon.url}/agents/{agent}")
    expect(page.get_by_role("textbox", name="Prompt for")).to_have_value("Later")
