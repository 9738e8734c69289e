"""Search on the page: words lead to hits, hits to their place, and the address remembers what was looked for."""

import json
import re

from playwright.sync_api import expect

from tests.support import RunningDaemon
from tests.web.conftest import Stage, Visits


def test_words_lead_to_hits(visits: Visits, stage: Stage) -> None:
    """As they are typed, with the matches marked, and who it was."""
    page = visits.open(stage.daemon, "/search")
    expect(page.get_by_text("Search everything that was said and done")).to_be_visible()
    page.get_by_label("Search for").fill("emoji")
    expect(page.locator(".hit mark").first).to_be_visible()
    expect(page.locator(".hit").first).to_contain_text("snug-plover")


def test_arrows_lead_into_the_hits_and_back_to_what_was_looked_for(visits: Visits, stage: Stage) -> None:
    """Without a mouse: down from the field, Enter opens the place, and going back brings the filters back too."""
    page = visits.open(stage.daemon, "/search?q=emoji")
    page.get_by_label("Who").select_option("USER")
    expect(page).to_have_url(re.compile(r"/search\?q=emoji&actor=USER$"))
    expect(page.locator(".hit").first).to_contain_text("you said")
    page.get_by_label("Search for").press("ArrowDown")
    expect(page.locator(".hit").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("snug-plover")
    page.go_back()
    expect(page.get_by_label("Who")).to_have_value("USER")
    expect(page.get_by_label("Search for")).to_have_value("emoji")
    expect(page.locator(".hit").first).to_contain_text("you said")


def test_search_begins_anew_where_its_link_is_followed(visits: Visits, stage: Stage) -> None:
    """The address and the field never say different things."""
    page = visits.open(stage.daemon, "/search?q=emoji")
    expect(page.locator(".hit").first).to_be_visible()
    page.get_by_role("link", name="Search").click()
    expect(page.get_by_label("Search for")).to_have_value("")
    expect(page.get_by_text("Search everything that was said and done")).to_be_visible()
    page.get_by_label("Search for").fill("emoji")
    expect(page).to_have_url(re.compile(r"/search\?q=emoji$"))
    page.get_by_label("Search for").fill("")
    expect(page).to_have_url(re.compile(r"/search$"))


def test_nothing_found_says_what_to_try(visits: Visits, stage: Stage) -> None:
    """In the daemon's words; filters that leave nothing are left out with one click."""
    page = visits.open(stage.daemon, "/search?q=emoji&tool=Nothing")
    expect(page.get_by_text("Without the filters there are finds")).to_be_visible()
    page.get_by_role("button", name="Leave out the filters").click()
    expect(page.locator(".hit").first).to_be_visible()
    expect(page.get_by_label("Tool")).to_have_value("")
    page.get_by_label("Search for").fill("zzz")
    expect(page.get_by_text("No word starts with “zzz”.")).to_be_visible()
    expect(page.get_by_role("button", name="Leave out the filters")).to_have_count(0)


def test_two_calls_of_one_message_are_two_hits(visits: Visits, daemon: RunningDaemon) -> None:
    """A line of a transcript may tell of several."""
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
    page = visits.open(daemon, "/search?q=make")
    expect(page.locator(".hit")).to_have_count(2)
