"""Starting and controlling agents from the page, with a client in a real terminal."""

import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.inputs.repository.repositories import Repository
from tests.support import RunningDaemon, environment, running_daemon_in, wait_until
from tests.terminals import Terminal, needs_tmux, terminal
from tests.web.conftest import PHONE, Pages
from tests.web.test_accessibility import axe_violations

pytestmark = needs_tmux


@dataclass(frozen=True)
class Machine:
    """A daemon that can start a client, the tmux server in which it does so, and a repository."""

    daemon: RunningDaemon
    tmux: Terminal
    shop: Repository


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """Shared by all tests. Each has its own agents."""
    folder = tmp_path_factory.mktemp("control")
    home, sockets = folder / "home", Path("/tmp") / f"hs-tmux-{uuid.uuid4().hex[:8]}"
    sockets.mkdir(mode=0o700)
    env = {
        **environment(home),
        "PATH": f"{folder / 'terminal/bin'}:{os.environ['PATH']}",
        "TMUX_TMPDIR": str(sockets),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "FAKE_CLIENT_LOG": str(folder / "terminal/client.jsonl"),
    }
    with running_daemon_in(home, env) as daemon, terminal(folder / "terminal", daemon) as tmux:
        tmux.end()
        tmux.sockets = sockets  # the server that the daemon starts
        shop = Repository(folder / "shop")
        yield Machine(daemon, tmux, shop)


def start(machine: Machine, name: str, **more: str) -> str:
    """An agent that the daemon started, once it is idle; its id."""
    wanted = {"directory": str(machine.shop.root), "name": name, **more}
    made = machine.daemon.send("POST", "/api/agents/start", wanted, scope="act")
    assert made.status == 200, made.body
    wait_until(lambda: machine.daemon.agent(name)["state"] == "idle", "the new agent")
    found: str = made.json()["id"]
    return found


def act(page: Page, name: str) -> None:
    """Press a button of the actions."""
    page.get_by_role("group", name="Actions").get_by_role("button", name=name, exact=True).click()


def expect_accessible(page: Page, axe: str) -> None:
    """axe finds no serious violation in either theme."""
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert axe_violations(page, axe, scheme) == []


def test_an_agent_is_started_in_a_worktree_and_its_work_removed(pages: Pages, machine: Machine, axe: str) -> None:
    """The form checks the directory, the page shows the terminal, and each step asks before it acts."""
    page = pages.open(machine.daemon, "/new")
    project = page.get_by_label("Project")
    project.fill(f"{machine.shop.root}s")
    project.blur()
    expect(page.get_by_role("alert")).to_contain_text(f"There is no directory {machine.shop.root}s. Did you mean shop?")
    project.fill(str(machine.shop.root))
    project.blur()
    expect(page.get_by_text(f"{machine.shop.root}, branch main")).to_be_visible()
    expect(page.get_by_role("radio", name="Codex")).to_be_disabled()
    expect(page.get_by_text("The program codex was not found.")).to_be_visible()
    page.get_by_label("First prompt").fill("Fix the login")
    page.get_by_label("Permission mode").select_option("acceptEdits")
    page.get_by_label("In a git worktree").check()
    page.get_by_role("textbox", name="Branch").fill("login-fix")
    page.get_by_role("button", name="Start agent").click()
    expect(page.get_by_role("heading", name="login-fix")).to_be_visible()
    agent = machine.daemon.agent("login-fix")
    assert page.url.endswith(agent["id"])
    assert agent["worktree"]["root"].endswith("shop-worktrees/login-fix")
    started = [note["start"] for note in machine.tmux.notes() if "start" in note]
    assert ["--permission-mode", "acceptEdits", "--", "Fix the login"] in started

    page.get_by_role("link", name="Terminal").click()
    expect(page.get_by_role("region", name="Screen of login-fix")).to_contain_text("❯")
    expect_accessible(page, axe)
    expect(page.get_by_role("button", name="Archive")).to_be_disabled()
    act(page, "Stop")
    expect(page.get_by_role("dialog")).to_contain_text("own exit command")
    page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    expect(page.get_by_text("login-fix has ended.").first).to_be_visible()
    assert machine.tmux.prompts()[-1] == "/exit"

    act(page, "Worktree")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("no commits since main")
    expect_accessible(page, axe)
    dialog.get_by_role("button", name="Remove", exact=True).click()
    expect(dialog).to_contain_text("Branch: login-fix, whose commits are all in main")
    dialog.get_by_role("group", name="Confirm").get_by_role("button", name="Remove").click()
    expect(dialog.get_by_role("status")).to_contain_text("and the branch login-fix.")
    assert not Path(agent["worktree"]["root"]).exists()


def test_the_terminal_is_live_and_in_colour(pages: Pages, machine: Machine) -> None:
    """Colours of all kinds, wide characters at their columns, and no secret. Hidden, nothing is read."""
    agent = start(machine, "painter")
    pane = machine.daemon.agent(agent)["tmux"]["pane"]
    page = pages.open(machine.daemon, f"/agents/{agent}?tab=terminal")
    screen = page.get_by_role("region", name="Screen of painter")
    expect(screen).to_contain_text("❯")
    tty = machine.tmux.tmux("display-message", "-p", "-t", pane, "#{pane_tty}")
    key = "ghp_" + "a1B2" * 9
    Path(tty).write_text(
        "\r\n\x1b[31mred\x1b[0m \x1b[1;38;5;208mbold\x1b[0m \x1b[48;2;1;2;3mtrue\x1b[0m \x1b[7minverse\x1b[0m"
        f" 日本|\r\n\x1b[32mtoken {key}\x1b[0m\r\n"
    )
    expect(screen.locator(".text-1")).to_have_text("red")
    expect(screen.locator(".bold")).to_have_css("color", "rgb(255, 135, 0)")
    expect(screen.get_by_text("true", exact=True)).to_have_css("background-color", "rgb(1, 2, 3)")
    expect(screen.locator(".inverse")).to_have_text("inverse")
    expect(screen.locator(".wide")).to_have_text(["日", "本"])
    boxes = [screen.locator(".wide").nth(at).bounding_box() for at in (0, 1)]
    cell = screen.locator(".text-1").bounding_box()
    assert boxes[0]
    assert boxes[1]
    assert cell
    assert boxes[1]["x"] - boxes[0]["x"] == pytest.approx(2 * cell["width"] / 3, abs=0.5)
    expect(screen).to_contain_text("token [redacted]")
    expect(screen).not_to_contain_text(key)
    page.get_by_role("link", name="Conversation").click()
    expect(screen).to_have_count(0)


def test_a_stopped_turn_is_retried(pages: Pages, machine: Machine) -> None:
    """The last prompt is sent again: at a time that can be cancelled, or now."""
    agent = start(machine, "limited")
    daemon = machine.daemon
    session = daemon.agent(agent)["session_id"]
    payload = {"session_id": session, "cwd": str(machine.shop.root)}
    held = daemon.credentials("ingest")
    daemon.post("user-prompt-submit", {**payload, "prompt": "Count the stars."}, held)
    daemon.post("stop-failure", {**payload, "error": "rate_limit"}, held)
    wait_until(lambda: daemon.agent(agent)["state"] == "error", "the error")
    page = pages.open(daemon, f"/agents/{agent}")
    box = page.get_by_role("group", name="Error")
    expect(box).to_contain_text("Retry sends the last prompt again.")
    box.get_by_role("button", name="In an hour").click()
    expect(box).to_contain_text("It is tried again at")
    box.get_by_role("button", name="Cancel").click()
    expect(box.get_by_role("status")).to_have_text("The retry was cancelled.")
    box.get_by_role("button", name="Retry now").click()
    wait_until(lambda: "Count the stars." in machine.tmux.prompts(), "the prompt")
    wait_until(lambda: daemon.agent(agent)["state"] == "idle", "the end of the turn")
    expect(box).to_have_count(0)


def test_resume_rename_note_and_fork(pages: Pages, machine: Machine) -> None:
    """What the commands do; the page goes to the fork."""
    agent = start(machine, "many-sided")
    page = pages.open(machine.daemon, f"/agents/{agent}")
    act(page, "Note")
    page.get_by_role("dialog").get_by_label("Note").fill("Waits for review")
    page.get_by_role("dialog").get_by_role("button", name="Note").click()
    expect(page.get_by_text("The note was saved.")).to_be_visible()
    act(page, "Rename")
    page.get_by_role("dialog").get_by_label("Name").fill("Not A Name")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("is not a valid agent name")
    page.get_by_role("dialog").get_by_label("Name").fill("one-sided")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", name="one-sided")).to_be_visible()
    page.goto(f"{machine.daemon.url}/agents/{agent}?do=fork")
    page.get_by_role("dialog").get_by_label("Prompt").fill("Another way")
    page.get_by_role("dialog").get_by_role("button", name="Fork").click()
    page.wait_for_url(lambda url: not url.endswith(agent))
    machine.daemon.send("POST", f"/api/agents/{agent}/stop", {"force": True}, scope="act")
    page.goto(f"{machine.daemon.url}/agents/{agent}")
    act(page, "Restart" if machine.daemon.agent(agent)["crashed"] else "Resume")
    page.get_by_role("dialog").get_by_role("button", name="Resume").or_(
        page.get_by_role("dialog").get_by_role("button", name="Restart")
    ).click()
    expect(page.get_by_text("one-sided runs again.")).to_be_visible()


def test_a_mission_is_started_on_a_phone(pages: Pages, machine: Machine) -> None:
    """A mission needs a goal; its worker gets it and how to report."""
    page = pages.open(machine.daemon, "/", viewport=PHONE)
    page.get_by_role("link", name="New agent").locator("visible=true").click()
    page.get_by_role("button", name="Mission", exact=True).click()
    page.get_by_label("Project").fill(str(machine.shop.root))
    expect(page.get_by_role("button", name="Start mission")).to_be_disabled()
    page.get_by_label("Goal").fill("Count the files.")
    page.get_by_label("Name").fill("counter")
    page.get_by_role("button", name="Start mission").click()
    expect(page.get_by_role("heading", name="counter")).to_be_visible()
    found = wait_until(
        lambda: [each["start"] for each in machine.tmux.notes() if "Count the files." in str(each.get("start"))],
        "the worker",
    )
    assert "headspace report" in found[0][-1]
    assert machine.daemon.agent("counter")["mission"]["goal"] == "Count the files."
