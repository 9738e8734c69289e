"""The page is live: what happens is seen at once, in every tab, and nothing is lost when the connection is."""

import time
from pathlib import Path

from playwright.sync_api import Page, expect

from claude_headspace.surfaces.auth.tokens import read_secret
from tests.support import RunningDaemon, running_daemon
from tests.web.conftest import Stage, Visits


def begin(daemon: RunningDaemon, session: str, cwd: str) -> str:
    """A session that starts; its agent."""
    answer: str = daemon.post("session-start", {"session_id": session, "cwd": cwd, "source": "startup"}).json()[
        "agent_id"
    ]
    return answer


def ask(daemon: RunningDaemon, session: str, cwd: str, text: str) -> None:
    """Somebody asks it for something."""
    daemon.post("user-prompt-submit", {"session_id": session, "cwd": cwd, "prompt": text})


def card(page: Page, agent: str) -> str:
    """Where the agent's card is."""
    return f"[data-agent='{agent}']"


def test_a_hook_is_seen_without_a_reload(visits: Visits, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Start, prompt, tool, permission, stop: the card follows each of them, and the title counts."""
    page = visits.open(daemon)
    cwd = str(tmp_path)
    agent = begin(daemon, "one", cwd)
    expect(page.locator(card(page, agent))).to_contain_text("idle")
    ask(daemon, "one", cwd, "Fix the parser")
    expect(page.locator(card(page, agent))).to_contain_text("working: Fix the parser")
    call = {"session_id": "one", "cwd": cwd, "tool_name": "Bash", "tool_input": {"command": "rm x"}, "tool_use_id": "t"}
    daemon.post("pre-tool-use", call)
    expect(page.locator(card(page, agent))).to_contain_text("Bash: rm x")
    daemon.post("permission-request", call)
    expect(page.locator(card(page, agent))).to_contain_text("wants to run: rm x")
    expect(page).to_have_title("(1) Headspace")
    daemon.post("post-tool-use", call)
    expect(page).to_have_title("Headspace")
    daemon.post("stop", {"session_id": "one", "cwd": cwd, "last_assistant_message": "It is fixed."})
    expect(page.locator(card(page, agent))).to_contain_text("done just now")
    daemon.post("session-end", {"session_id": "one", "cwd": cwd, "reason": "prompt_input_exit"})
    expect(page.locator(card(page, agent))).to_contain_text("ended")


def test_a_restart_loses_nothing(visits: Visits, tmp_path: Path) -> None:
    """While the daemon is away the page says so; afterwards it shows what happened meanwhile, without a reload."""
    home, cwd = tmp_path / "home", str(tmp_path)
    with running_daemon(home, heartbeat_seconds=1) as first:
        port = first.port
        page = visits.open(first)
        agent = begin(first, "one", cwd)
        ask(first, "one", cwd, "Begin")
        expect(page.locator(card(page, agent))).to_contain_text("working: Begin")
        page.evaluate("window.sameDocument = true")
    expect(page.locator("[data-link=offline]").first).to_be_attached()
    with running_daemon(home, heartbeat_seconds=1, port=port) as second:
        second.post("stop", {"session_id": "one", "cwd": cwd, "last_assistant_message": "Shall I go on?"})
        other = begin(second, "two", str(tmp_path / "home"))
        expect(page.locator("[data-link=live]").first).to_be_attached()
        expect(page.locator(card(page, agent))).to_contain_text("asks: Shall I go on?")
        expect(page.locator(card(page, other))).to_be_visible()
        assert page.evaluate("window.sameDocument") is True


def test_another_database_is_read_anew(visits: Visits, tmp_path: Path) -> None:
    """A daemon that never gave the number that the page came to answers with a gap: the board is read anew."""
    cwd = str(tmp_path)
    with running_daemon(tmp_path / "first", heartbeat_seconds=1) as first:
        page = visits.open(first)
        port, gone = first.port, begin(first, "one", cwd)
        for number in range(20):
            ask(first, "one", cwd, f"Step {number}")
        expect(page.locator(card(page, gone))).to_be_visible()
        secret = read_secret(first.home / "secret")
    (tmp_path / "second").mkdir()
    (tmp_path / "second/secret").write_bytes(secret)
    with running_daemon(tmp_path / "second", heartbeat_seconds=1, port=port) as second:
        agent = begin(second, "other", cwd)
        expect(page.locator(card(page, agent))).to_be_visible()
        expect(page.locator(card(page, gone))).to_have_count(0)


def test_two_tabs_show_the_same(visits: Visits, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Two tabs of one browser follow the same stream, each on a page of its own."""
    page = visits.open(daemon)
    cwd = str(tmp_path)
    agent = begin(daemon, "one", cwd)
    other = visits.open(daemon, "/waits", context=page.context)
    ask(daemon, "one", cwd, "Begin")
    daemon.post("stop", {"session_id": "one", "cwd": cwd, "last_assistant_message": "Which of the two?"})
    expect(page.locator(card(page, agent))).to_contain_text("asks: Which of the two?")
    expect(other.get_by_role("main")).to_contain_text("Which of the two?")
    ask(daemon, "one", cwd, "The first")
    expect(page.locator(card(page, agent))).to_contain_text("working")
    expect(other.get_by_text("Nobody waits for you")).to_be_visible()


def test_times_tick(visits: Visits, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The words of "last active" change while nothing happens."""
    page = visits.open(daemon)
    fired = {"X-Headspace-Fired-At": f"{time.time() - 30:.3f}"}
    reply = daemon.post("session-start", {"session_id": "one", "cwd": str(tmp_path)}, fired)
    active = page.locator(card(page, reply.json()["agent_id"])).locator(".active time")
    before = active.inner_text()
    assert before.endswith("s ago")
    expect(active).not_to_have_text(before)


def test_nothing_is_asked_by_the_clock(visits: Visits, stage: Stage) -> None:
    """A board on which nothing happens asks the daemon for nothing."""
    page = visits.open(stage.daemon)
    page.locator(".card").first.wait_for()
    page.wait_for_timeout(500)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(3_000)
    assert asked == []
