"""The client of an agent on the page: the mark on cards, the filter, the details, and what a client cannot do."""

import json
import re
from pathlib import Path

from playwright.sync_api import Page, Route, expect

from tests.support import RunningDaemon
from tests.web.conftest import PHONE, Pages
from tests.web.held_waits import hold, settle

TITLES = {"claude-code": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI"}


def register(daemon: RunningDaemon, client: str) -> str:
    """An agent of a client; its id."""
    wanted = {
        "headspace_id": f"run-{client}",
        "cwd": f"/projects/{client}",
        "client": client,
        "name": f"one-{client}",
        "tmux_pane": "%1",
    }
    found: str = daemon.send("POST", "/api/agents", wanted, scope="act").json()["id"]
    return found


def limit(page: Page, client: str, **limits: str) -> None:
    """Answer as a daemon whose client has these limits."""

    def answer(route: Route) -> None:
        found = route.fetch().json()
        for each in (c for view in found if view["name"] == client for c in view["capabilities"]):
            if each["name"] in limits:
                each.update(supported=False, text=limits[each["name"]])
        route.fulfill(json=found)

    page.route("**/api/clients", answer)
    page.reload()
    page.wait_for_selector("[data-connection=live]", state="attached")


def test_one_client_is_not_worth_a_mark(pages: Pages, daemon: RunningDaemon) -> None:
    """Neither a mark nor a filter while all agents use the same client; the details name it."""
    register(daemon, "codex")
    page = pages.open(daemon)
    expect(page.locator(".card")).to_have_count(1)
    expect(page.locator(".card .client")).to_have_count(0)
    expect(page.get_by_role("region", name="Clients")).to_have_count(0)
    page.locator(".card").click()
    expect(page.get_by_label("Selected agent").locator("dt:text-is('Client') + dd")).to_have_text("Codex")


def test_filter_by_client(pages: Pages, daemon: RunningDaemon) -> None:
    """Cards have a quiet mark, the filter stands beside the others, and "Show all" resets it."""
    for client in TITLES:
        register(daemon, client)
    page = pages.open(daemon)
    expect(page.locator(".card")).to_have_count(3)
    for mark in ("claude", "codex", "gemini"):
        expect(page.locator(".card .client", has_text=mark)).to_have_count(1)
    region = page.get_by_role("region", name="Clients")
    expect(region.get_by_role("button")).to_contain_text(["Claude", "Codex", "Gemini"])
    region.get_by_role("button", name="Codex").click()
    expect(page.locator(".card .name")).to_have_text(["one-codex"])
    expect(page.locator(".count")).to_have_text("1 of 3 agents")
    page.get_by_role("button", name="Show all").click()
    expect(page.locator(".card")).to_have_count(3)
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Filter agents")).to_be_focused()
    page.keyboard.type("gemini")
    expect(page.locator(".card .name")).to_have_text(["one-gemini"])


def test_filter_by_client_on_a_phone(pages: Pages, daemon: RunningDaemon) -> None:
    """A list beside those of states and projects; nothing is wider than the screen."""
    for client in TITLES:
        register(daemon, client)
    page = pages.open(daemon, viewport=PHONE)
    page.get_by_role("combobox", name="Client").select_option("gemini")
    expect(page.locator(".card .name")).to_have_text(["one-gemini"])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_search_and_log_are_filtered_by_client(pages: Pages, daemon: RunningDaemon) -> None:
    """The address keeps the filter of a search. The log counts what was not understood by client."""
    session = {"session_id": "s", "cwd": "/projects/a"}
    daemon.post("user-prompt-submit", {**session, "prompt": "Find the needle."})
    daemon.post("brain-transplant", session)
    page = pages.open(daemon, "/search?q=needle")
    expect(page.locator(".hit")).to_have_count(1)
    page.get_by_role("combobox", name="Client").select_option("codex")
    expect(page.get_by_text("No results")).to_be_visible()
    expect(page).to_have_url(re.compile("client=codex"))
    page.goto(f"{daemon.url}/logging")
    expect(page.get_by_test_id("anomalies")).to_have_text("1 Claude Code 1")
    page.get_by_role("combobox", name="Client").select_option("codex")
    expect(page.get_by_text("No event matches the filter")).to_be_visible()


def test_terminal_controls_say_what_the_client_cannot_do(pages: Pages, daemon: RunningDaemon) -> None:
    """Disabled, with the sentence of the client, which is also among its details."""
    agent = register(daemon, "gemini")
    page = pages.open(daemon, f"/agents/{agent}")
    expect(page.get_by_label("Prompt for one-gemini")).to_be_enabled()
    limit(page, "gemini", send="Gemini takes no prompt.", interrupt="Gemini cannot be stopped.")
    expect(page.get_by_label("Prompt for one-gemini")).to_be_disabled()
    expect(page.get_by_role("button", name="Interrupt")).to_be_disabled()
    expect(page.get_by_text("Gemini takes no prompt.").first).to_be_visible()
    expect(page.get_by_text("Gemini cannot be stopped.").first).to_be_visible()
    page.get_by_text("What Gemini CLI cannot do").click()
    expect(page.locator(".limits li")).to_contain_text(["Gemini takes no prompt.", "Gemini cannot be stopped."])


def test_answers_say_what_the_client_cannot_do(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """A button that the client does not support explains itself and sends nothing."""
    hook = hold(daemon, tmp_path, tool_name="Bash", tool_input={"command": "make"})
    page = pages.open(daemon, "/waits")
    expect(page.get_by_role("button", name="Edit…")).to_have_attribute("aria-disabled", "false")
    limit(page, "claude-code", edit_input="It runs a call as it is.", grant="It asks every time.")
    settle(page)
    page.get_by_role("button", name="Edit…").click(force=True)
    expect(page.locator(".explanation")).to_have_text("It runs a call as it is.")
    page.get_by_role("button", name="Always allow…").click(force=True)
    expect(page.locator(".explanation")).to_have_text("It asks every time.")
    assert hook.reply == {}


def test_a_wait_that_the_client_keeps_to_itself(pages: Pages, daemon: RunningDaemon) -> None:
    """The card says why it is answered in the terminal."""
    call = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t"}
    daemon.post("permission-request", {"session_id": "s", "cwd": "/projects/a", **call})
    page = pages.open(daemon, "/waits")
    expect(page.locator(".wait .status")).to_contain_text("Headspace cannot answer this dialog")
    limit(page, "claude-code", answer_permission="Only its own dialog can.")
    expect(page.locator(".wait .status")).to_contain_text("Answer this in its terminal: Only its own dialog can.")
    assert json.loads(page.evaluate("JSON.stringify(document.querySelectorAll('.wait .primary').length)")) == 0
