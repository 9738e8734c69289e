"""Search: hits, filters, keyboard, and the address that holds the query."""

import json
import re

from playwright.sync_api import expect

from tests.support import RunningDaemon
from tests.web.conftest import Pages, Sample


def test_hits_appear_while_typing(pages: Pages, sample: Sample) -> None:
    """With marked matches and the name of the agent."""
    page = pages.open(sample.daemon, "/search")
    expect(page.get_by_text("Search all conversations")).to_be_visible()
    page.get_by_label("Search for").fill("emoji")
    expect(page.locator(".hit mark").first).to_be_visible()
    expect(page.locator(".hit").first).to_contain_text("snug-plover")


def test_keyboard_and_back_button(pages: Pages, sample: Sample) -> None:
    """Arrow down focuses the first hit, Enter opens it, and going back restores query and filters."""
    page = pages.open(sample.daemon, "/search?q=emoji")
    page.get_by_label("Author").select_option("USER")
    expect(page).to_have_url(re.compile(r"/search\?q=emoji&actor=USER$"))
    expect(page.locator(".hit").first).to_contain_text("prompt")
    page.get_by_label("Search for").press("ArrowDown")
    expect(page.locator(".hit").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("snug-plover")
    page.go_back()
    expect(page.get_by_label("Author")).to_have_value("USER")
    expect(page.get_by_label("Search for")).to_have_value("emoji")
    expect(page.locator(".hit").first).to_contain_text("prompt")


def test_the_sidebar_link_clears_the_search(pages: Pages, sample: Sample) -> None:
    """Address and field always match."""
    page = pages.open(sample.daemon, "/search?q=emoji")
    expect(page.locator(".hit").first).to_be_visible()
    page.get_by_role("link", name="Search").click()
    expect(page.get_by_label("Search for")).to_have_value("")
    expect(page.get_by_text("Search all conversations")).to_be_visible()
    page.get_by_label("Search for").fill("emoji")
    expect(page).to_have_url(re.compile(r"/search\?q=emoji$"))
    page.get_by_label("Search for").fill("")
    expect(page).to_have_url(re.compile(r"/search$"))


def test_no_results(pages: Pages, sample: Sample) -> None:
    """The daemon's hint is shown. A button removes the filters."""
    page = pages.open(sample.daemon, "/search?q=emoji&tool=Nothing")
    expect(page.get_by_text("There are hits without the filters")).to_be_visible()
    page.get_by_role("button", name="Remove the filters").click()
    expect(page.locator(".hit").first).to_be_visible()
    expect(page.get_by_label("Tool")).to_have_value("")
    page.get_by_label("Search for").fill("zzz")
    expect(page.get_by_text("No word starts with “zzz”.")).to_be_visible()
    expect(page.get_by_role("button", name="Remove the filters")).to_have_count(0)


def test_two_tool_calls_of_one_message_are_two_hits(pages: Pages, daemon: RunningDaemon) -> None:
    """A line of a transcript may contain several tool calls."""
    calls = [{"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": f"make {n}"}} for n in (1, 2)]
    line = {
        "type": "assistant",
        "uuid": "u1",
        "sessionId": "past",
        "cwd": "/projects/shop",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "message": {"role": "assistant", "content": calls},
    }
    path = daemon.home / ".claude/projects/-projects-shop/past.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert daemon.send("POST", "/api/admin/import", {"path": str(path)}, scope="admin").status == 200
    page = pages.open(daemon, "/search?q=make")
    expect(page.locator(".hit")).to_have_count(2)
