"""Typing a prompt into the terminal of an agent from its page."""

import json
from pathlib import Path

from playwright.sync_api import Route, expect

from tests.support import RunningDaemon
from tests.web.conftest import Pages

DRAFT = {"code": "draft", "message": "otter has a draft in its input box: “half”.", "hint": "Use --keep-draft."}


def test_a_draft_can_be_kept(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The page quotes the draft and offers to restore it, in place of an option of the command line."""
    daemon.post("session-start", {"session_id": "one", "cwd": str(tmp_path), "tmux_pane": "%1"})
    page = pages.open(daemon, f"/agents/{daemon.agents()[0]['id']}")
    sent = []

    def reply(route: Route) -> None:
        sent.append(json.loads(route.request.post_data or ""))
        if sent[-1]["keep_draft"]:
            route.fulfill(json={"status": "confirmed"})
        else:
            route.fulfill(status=409, json={"error": DRAFT})

    page.route("**/api/agents/*/send", reply)
    page.get_by_role("textbox", name="Prompt for").fill("Go on")
    page.get_by_role("button", name="Send", exact=True).click()
    refusal = page.get_by_role("alert")
    expect(refusal).to_contain_text("“half”")
    expect(refusal).not_to_contain_text("--keep-draft")
    page.get_by_role("button", name="Send, and restore the draft afterwards").click()
    expect(page.get_by_text("The agent received the prompt.")).to_be_visible()
    assert [(each["text"], each["keep_draft"]) for each in sent] == [("Go on", False), ("Go on", True)]
