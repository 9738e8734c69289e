"""The page shows events immediately, in every tab, and loses none when the connection breaks."""

import time
from pathlib import Path

from playwright.sync_api import Page, expect

from claude_headspace.surfaces.auth.tokens import read_secret
from tests.support import RunningDaemon, running_daemon
from tests.web.conftest import Pages, Sample


def start_session(daemon: RunningDaemon, session: str, cwd: str) -> str:
    """Start a session. Returns the id of its agent."""
    answer: str = daemon.post("session-start", {"session_id": session, "cwd": cwd, "source": "startup"}).json()[
        "agent_id"
    ]
    return answer


def prompt(daemon: RunningDaemon, session: str, cwd: str, text: str) -> None:
    """Submit a prompt."""
    daemon.post("user-prompt-submit", {"session_id": session, "cwd": cwd, "prompt": text})


def card(page: Page, agent: str) -> str:
    """The selector of the agent's card."""
    return f"[data-agent='{agent}']"


def test_events_appear_without_a_reload(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Card and title change after start, prompt, tool call, permission request, stop and end."""
    page = pages.open(daemon)
    cwd = str(tmp_path)
    agent = start_session(daemon, "one", cwd)
    expect(page.locator(card(page, agent))).to_contain_text("idle")
    prompt(daemon, "one", cwd, "Fix the parser")
    expect(page.locator(card(page, agent))).to_contain_text("working: Fix the parser")
    call = {"session_id": "one", "cwd": cwd, "tool_name": "Bash", "tool_input": {"command": "rm x"}, "tool_use_id": "t"}
    daemon.post("pre-tool-use", call)
    expect(page.locator(card(page, agent))).to_contain_text("Bash: rm x")
    daemon.post("permission-request", call)
    expect(page.locator(card(page, agent))).to_contain_text("wants to run: rm x")
    expect(page).to_have_title("(1) Board · Headspace")
    daemon.post("post-tool-use", call)
    expect(page).to_have_title("Board · Headspace")
    daemon.post("stop", {"session_id": "one", "cwd": cwd, "last_assistant_message": "It is fixed."})
    expect(page.locator(card(page, agent))).to_contain_text("done just now")
    daemon.post("session-end", {"session_id": "one", "cwd": cwd, "reason": "prompt_input_exit"})
    expect(page.locator(card(page, agent))).to_contain_text("ended")


def test_a_restart_of_the_daemon_loses_nothing(pages: Pages, tmp_path: Path) -> None:
    """The page is offline, then shows what it missed, without a reload."""
    home, cwd = tmp_path / "home", str(tmp_path)
    with running_daemon(home, heartbeat_seconds=1) as first:
        port = first.port
        page = pages.open(first)
        agent = start_session(first, "one", cwd)
        prompt(first, "one", cwd, "Begin")
        expect(page.locator(card(page, agent))).to_contain_text("working: Begin")
        page.evaluate("window.sameDocument = true")
    expect(page.locator("[data-connection=offline]").first).to_be_attached()
    with running_daemon(home, heartbeat_seconds=1, port=port) as second:
        second.post("stop", {"session_id": "one", "cwd": cwd, "last_assistant_message": "Shall I go on?"})
        other = start_session(second, "two", str(tmp_path / "home"))
        expect(page.locator("[data-connection=live]").first).to_be_attached()
        expect(page.locator(card(page, agent))).to_contain_text("asks: Shall I go on?")
        expect(page.locator(card(page, other))).to_be_visible()
        assert page.evaluate("window.sameDocument") is True


def test_another_database_is_loaded(pages: Pages, tmp_path: Path) -> None:
    """The daemon does not know the page's position and sends a gap: the page reloads the board."""
    cwd = str(tmp_path)
    with running_daemon(tmp_path / "first", heartbeat_seconds=1) as first:
        page = pages.open(first)
        port, gone = first.port, start_session(first, "one", cwd)
        for number in range(20):
            prompt(first, "one", cwd, f"Step {number}")
        expect(page.locator(card(page, gone))).to_be_visible()
        secret = read_secret(first.home / "secret")
    (tmp_path / "second").mkdir()
    (tmp_path / "second/secret").write_bytes(secret)
    (tmp_path / "second/secret").chmod(0o600)
    with running_daemon(tmp_path / "second", heartbeat_seconds=1, port=port) as second:
        agent = start_session(second, "other", cwd)
        expect(page.locator(card(page, agent))).to_be_visible()
        expect(page.locator(card(page, gone))).to_have_count(0)


def test_two_tabs_show_the_same(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Two tabs with different views receive the same events."""
    page = pages.open(daemon)
    cwd = str(tmp_path)
    agent = start_session(daemon, "one", cwd)
    other = pages.open(daemon, "/waits", context=page.context)
    prompt(daemon, "one", cwd, "Begin")
    daemon.post("stop", {"session_id": "one", "cwd": cwd, "last_assistant_message": "Which of the two?"})
    expect(page.locator(card(page, agent))).to_contain_text("asks: Which of the two?")
    expect(other.get_by_role("main")).to_contain_text("Which of the two?")
    prompt(daemon, "one", cwd, "The first")
    expect(page.locator(card(page, agent))).to_contain_text("working")
    expect(other.get_by_role("main")).to_contain_text("Closed")
    other.get_by_role("button", name="Dismiss").click()
    expect(other.get_by_text("No agent is waiting for you")).to_be_visible()


def test_times_tick(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The text of "last active" changes without events."""
    page = pages.open(daemon)
    fired = {"X-Headspace-Fired-At": f"{time.time() - 30:.3f}"}
    reply = daemon.post("session-start", {"session_id": "one", "cwd": str(tmp_path)}, fired)
    active = page.locator(card(page, reply.json()["agent_id"])).locator(".active time")
    before = active.inner_text()
    assert before.endswith("s ago")
    expect(active).not_to_have_text(before)


def test_there_is_no_polling(pages: Pages, sample: Sample) -> None:
    """Without events the page sends no requests."""
    page = pages.open(sample.daemon)
    page.locator(".card").first.wait_for()
    page.wait_for_timeout(500)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.wait_for_timeout(3_000)
    assert requests == []
