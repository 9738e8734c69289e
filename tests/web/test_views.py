"""Every view except the board shows the data that hooks reported."""

import re
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Route, expect

from tests.support import RunningDaemon
from tests.support_rpc import call
from tests.web.conftest import Pages, Sample
from tests.web.held_waits import HeldHook, started

QUESTION = {
    "questions": [{"question": "Which colour?", "header": "Colour", "options": [{"label": "Red"}, {"label": "Blue"}]}]
}


def test_the_page_of_an_agent(pages: Pages, sample: Sample) -> None:
    """Conversation with Markdown, tool calls with input and result, states with evidence, context."""
    page = pages.open(sample.daemon, "/agents/snug-plover")
    expect(page.locator("h1")).to_have_text("snug-plover")
    conversation = page.get_by_role("region", name="Conversation")
    expect(conversation).to_contain_text("The login page returns 500")
    expect(conversation.locator("pre code").first).to_contain_text("scrypt")
    failed = conversation.locator("details", has_text="Bash: pytest tests/auth -q").first
    failed.locator("summary").click()
    expect(failed).to_contain_text("UnicodeEncodeError")
    timeline = page.get_by_role("img", name="states since")
    timeline.hover(position={"x": 5, "y": 10})
    expect(page.locator("figcaption").first).to_contain_text("confidence")
    expect(page.get_by_role("img", name="Context now")).to_be_visible()
    chart = page.get_by_role("img", name="Context now")
    chart.hover(position={"x": 2, "y": 10})
    expect(page.locator("figcaption").last).to_contain_text("tokens")
    page.get_by_text("Previous states").click()
    expect(page.locator(".states li").first).to_contain_text("working")
    page.get_by_text("State names in other tools").click()
    expect(page.locator("details dl").last).to_contain_text("PROCESSING")


def test_errors_link_to_the_conversation(pages: Pages, sample: Sample) -> None:
    """Errors are listed with their reason. A click opens the tool call in the conversation."""
    page = pages.open(sample.daemon, "/agents/snug-plover")
    errors = page.get_by_role("region", name="Errors")
    expect(errors).to_contain_text("UnicodeEncodeError")
    errors.get_by_role("button", name="failed: Bash: pytest tests/auth -q").click()
    opened = page.get_by_role("region", name="Conversation").locator("details[open]", has_text="UnicodeEncodeError")
    expect(opened.last).to_be_in_viewport()
    page.goto(sample.daemon.url + "/agents/olive-bee")
    expect(page.get_by_role("region", name="Errors")).to_contain_text("turn stopped")


def test_the_tree_of_sub_agents(pages: Pages, sample: Sample) -> None:
    """Each sub-agent shows its activity and tool calls."""
    page = pages.open(sample.daemon, "/agents/quiet-lynx")
    tree = page.get_by_role("region", name="Sub-agents")
    expect(tree.locator("details")).to_have_count(4)
    reading = tree.locator("details", has_text="explorer, reading main.tf").first
    reading.locator("summary").first.click()
    expect(reading).to_contain_text("reading main.tf")


def test_finished_sub_agents_keep_their_description(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Sub-agents of one type are distinguished by what they were started for."""
    session = {"session_id": "one", "cwd": str(tmp_path)}
    for number in range(3):
        sub = {"agent_id": f"sub-{number}", "agent_type": "explorer"}
        call = {"tool_name": "Read", "tool_input": {"file_path": "/a.py"}, "tool_use_id": f"t{number}"}
        task = {"id": f"sub-{number}", "type": "subagent", "status": "running", "description": f"find part {number}"}
        agent = daemon.post("user-prompt-submit", {**session, "prompt": "Look around"}).json()["agent_id"]
        daemon.post("subagent-start", {**session, **sub})
        daemon.post("pre-tool-use", {**session, **sub, **call})
        daemon.post("post-tool-use", {**session, **sub, **call})
        daemon.post("stop", {**session, "last_assistant_message": "It runs.", "background_tasks": [task]})
        daemon.post("subagent-stop", {**session, **sub})
    page = pages.open(daemon, f"/agents/{agent}")
    tree = page.get_by_role("region", name="Sub-agents").locator("ul").first
    rows = tree.locator(":scope > li > details > summary > .truncate")
    expect(rows).to_have_text([f"explorer, find part {number}" for number in (2, 1, 0)])


def test_the_page_of_an_agent_is_live(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Turns and tool calls appear while the page is open."""
    session = {"session_id": "one", "cwd": str(tmp_path)}
    agent = daemon.post("user-prompt-submit", {**session, "prompt": "Split the settings page"}).json()["agent_id"]
    page = pages.open(daemon, f"/agents/{agent}")
    expect(page.get_by_role("region", name="Conversation")).to_contain_text("Split the settings page")
    daemon.post("stop", {**session, "last_assistant_message": "The **tabs** are there. Shall I commit?"})
    expect(page.get_by_role("region", name="Conversation").locator("strong", has_text="tabs")).to_be_visible()
    expect(page.get_by_role("button", name="Go to wait")).to_be_visible()
    daemon.post("user-prompt-submit", {**session, "prompt": "Yes"})
    daemon.post(
        "pre-tool-use", {**session, "tool_name": "Bash", "tool_input": {"command": "git commit"}, "tool_use_id": "c"}
    )
    expect(page.get_by_role("region", name="Conversation")).to_contain_text("Bash: git commit")


def test_an_unknown_agent(pages: Pages, sample: Sample) -> None:
    """The page links back to the board."""
    page = pages.open(sample.daemon, "/agents/nobody-at-all")
    expect(page.get_by_text("Agent not found")).to_be_visible()
    page.get_by_role("link", name="Back to the board").click()
    expect(page.locator(".card").first).to_be_visible()


def test_waits(pages: Pages, sample: Sample) -> None:
    """Questions, permission requests and plans, longest first. Disabled controls have a reason."""
    page = pages.open(sample.daemon, "/waits")
    waits = page.locator(".wait")
    expect(waits).to_have_count(3)
    expect(waits.nth(0)).to_contain_text("Tokens instead of sessions")
    expect(waits.nth(1)).to_contain_text("PostgreSQL in a container")
    expect(waits.nth(2)).to_contain_text("docker image prune --all --force")
    expect(waits.nth(1).get_by_role("button").first).to_be_disabled()
    expect(waits.nth(2).get_by_role("button", name="Allow")).to_be_disabled()
    expect(waits.nth(2)).to_contain_text("Answer this in tmux session infra")


def test_board_and_waits_agree(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Both measure a wait from the same time and sort by it, also if a later hook opens the request again."""
    for minutes, name in ((50, "early"), (30, "late")):
        session = {"session_id": name, "cwd": str(tmp_path)}
        call = {"tool_name": "AskUserQuestion", "tool_input": QUESTION, "tool_use_id": name}
        asked, began = ({"X-Headspace-Fired-At": f"{time.time() - minutes * 60 - seconds:.6f}"} for seconds in (5, 9))
        agent = daemon.post("user-prompt-submit", {**session, "prompt": "Go"}, began).json()["agent_id"]
        daemon.send("POST", f"/api/agents/{agent}/rename", {"name": f"{name}-bird"}, scope="act")
        daemon.post("pre-tool-use", {**session, **call}, asked)
    dialog = {"session_id": "early", "cwd": str(tmp_path), "tool_name": "AskUserQuestion", "tool_input": QUESTION}
    started(HeldHook(daemon, dialog), daemon)
    page = pages.open(daemon)
    expect(page.locator(".card .name")).to_have_text(["early-bird", "late-bird"])
    expect(page.locator(".card .since")).to_have_text(["50 min", "30 min"])
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Waits").click()
    expect(page.locator(".agent .name")).to_have_text(["early-bird", "late-bird"])
    expect(page.locator(".agent .when")).to_have_text(["waiting for 50 min", "waiting for 30 min"])


def test_an_effort_is_linked_from_its_agent(pages: Pages, sample: Sample) -> None:
    """The card shows it, the agent's page links to it, and it shows task, log, sessions and messages."""
    page = pages.open(sample.daemon)
    expect(page.locator(f"[data-agent='{sample.ids['snug-plover']}']")).to_contain_text("fix #1")
    page.goto(f"{sample.daemon.url}/agents/snug-plover")
    page.get_by_role("link", name="fix #1, test").click()
    expect(page.locator("h1")).to_have_text("fix #1")
    expect(page.get_by_role("region", name="Log")).to_contain_text("UTF-8 instead; old hashes stay valid.")
    expect(page.get_by_role("region", name="Log").get_by_role("heading")).to_have_text("Log 2 entries")
    expect(page.get_by_role("region", name="Sessions")).to_contain_text("handover stored")
    expect(page.get_by_text("Next: the page's own tests.").first).to_be_visible()
    expect(page.get_by_role("region", name="Messages")).to_contain_text("Release is on Friday. queued")
    page.get_by_role("link", name="← Efforts").click()
    expect(page.get_by_role("region", name="Emoji in passwords")).to_contain_text("snug-plover")


def test_efforts_are_live(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """A new effort appears, a finished one disappears unless finished efforts are shown."""
    page = pages.open(daemon, "/efforts")
    expect(page.get_by_text("headspace effort start")).to_be_visible()
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    effort = call(daemon, "effort.start", {"skill": "fix", "cwd": str(tmp_path / "shop")})["id"]
    expect(page.get_by_role("region", name="shop")).to_contain_text("0/10 calls")
    call(daemon, "effort.log", {"effort": effort, "text": "Begun."})
    page.get_by_role("link", name="fix #1").click()
    expect(page.get_by_role("region", name="Log").get_by_role("heading")).to_have_text("Log 1 entry")
    page.get_by_role("link", name="← Efforts").click()
    call(daemon, "effort.finish", {"effort": effort})
    expect(page.get_by_text("No active efforts")).to_be_visible()
    page.get_by_label("show finished").check()
    expect(page.get_by_role("region", name="shop")).to_contain_text("finished")


def many_commands(route: Route) -> None:
    """Reply with a day on which one project had many commands."""
    counts = {"agents": 1, "commands": 1_206, "outcomes": {}, "working_seconds": 60, "waiting_seconds": 0}
    project = {"id": "p", "name": "shop", "root": "/shop"}
    day: dict[str, Any] = {"hours": [], "tools": {}, "latency_ms": None, "projects": [{"project": project, **counts}]}
    route.fulfill(json=day)


def test_activity_of_a_day(pages: Pages, sample: Sample) -> None:
    """Projects, tools and hook latency; a day without activity shows a message."""
    page = pages.open(sample.daemon, "/activity")
    expect(page.get_by_role("table")).to_contain_text("shop")
    expect(page.get_by_text("Hook latency")).to_be_visible()
    expect(page.locator(".tools")).to_contain_text("Bash")
    page.get_by_label("Day", exact=True).fill("2020-01-01")
    expect(page.get_by_text("No activity on this day")).to_be_visible()


def test_large_numbers_of_a_day(pages: Pages, sample: Sample) -> None:
    """All numbers have the same format."""
    page = pages.open(sample.daemon)
    page.route("**/api/activity*", many_commands)
    page.goto(sample.daemon.url + "/activity")
    expect(page.locator(".totals")).to_contain_text("1,206")
    expect(page.get_by_role("table")).to_contain_text("1,206")


def test_replay(pages: Pages, sample: Sample) -> None:
    """At the start of the timeline there is no answer yet; at the end there is."""
    page = pages.open(sample.daemon, f"/replay/{sample.ids['calm-otter']}")
    slider = page.get_by_role("slider", name="Time")
    expect(page.locator(".conversation")).to_contain_text("Rounding happens once per invoice")
    slider.press("Home")
    expect(page.get_by_text("Rounding happens once per invoice")).to_have_count(0)
    expect(page.locator(".controls b")).to_have_text("idle")
    slider.press("End")
    expect(page.locator(".conversation")).to_contain_text("Rounding happens once per invoice")


def test_logging(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Status of the receiver, and raw events with filters, details and live updates."""
    session = {"session_id": "one", "cwd": str(tmp_path)}
    call = {"tool_name": "Bash", "tool_input": {"command": "docker image prune --all --force"}, "tool_use_id": "t"}
    daemon.post("session-start", session)
    daemon.post("pre-tool-use", {**session, **call})
    daemon.post("post-tool-use", {**session, **call})
    page = pages.open(daemon, "/logging")
    expect(page.get_by_test_id("enabled")).to_have_text("enabled")
    expect(page.get_by_test_id("hooks")).to_contain_text(daemon.status["hooks"]["summary"])
    expect(page.get_by_test_id("last-event")).to_contain_text(re.compile("ago|just now"))
    expect(page.get_by_test_id("mode")).to_have_text("hooks active")
    events = page.get_by_role("region", name="Raw events")
    page.get_by_label("Source").select_option("hook")
    page.get_by_label("Filter events").fill("docker image prune")
    expect(events.locator(".line")).to_have_count(2)
    events.locator(".line").first.click()
    expect(page.locator(".detail pre")).to_contain_text('"docker image prune --all --force"')
    page.get_by_label("Filter events").fill("brand-new-pattern")
    expect(page.get_by_text("No event matches the filter")).to_be_visible()
    daemon.post("user-prompt-submit", {**session, "prompt": "Look for brand-new-pattern"})
    expect(events.locator(".line").first).to_contain_text("UserPromptSubmit")


def test_the_filter_of_logging_finds_old_events(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """It searches the whole log, not only the events that were loaded first."""
    session = {"session_id": "one", "cwd": str(tmp_path)}
    agent = daemon.post("user-prompt-submit", {**session, "prompt": "Look for the needle"}).json()["agent_id"]
    with daemon.client() as client:
        for number in range(300):
            client.post("notification", {**session, "message": f"Hay {number}"})
    page = pages.open(daemon, "/logging")
    lines = page.get_by_role("region", name="Raw events").locator(".line")
    expect(lines.first).to_be_visible()
    page.get_by_label("Filter events").fill("NEEDLE")
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text("UserPromptSubmit")
    page.get_by_label("Filter events").fill(f"needle {daemon.agent(agent)['name']}")
    expect(lines).to_have_count(1)
    page.get_by_label("Filter events").fill("needle nothing")
    expect(page.get_by_text("No event matches the filter")).to_be_visible()


def test_logging_without_hooks(pages: Pages, daemon: RunningDaemon) -> None:
    """A home that never received a hook is polled, and says so."""
    page = pages.open(daemon, "/logging")
    expect(page.get_by_test_id("last-event")).to_have_text("none yet")
    receiver = page.get_by_role("region", name="Receiver")
    expect(receiver).to_contain_text("Not yet processed")
    expect(receiver).not_to_contain_text(re.compile("spool|odd|looks", re.IGNORECASE))
    expect(page.get_by_test_id("mode")).to_have_text("polling")


def test_run_the_doctor(pages: Pages, daemon: RunningDaemon) -> None:
    """The results are shown with hints."""
    page = pages.open(daemon, "/logging")
    page.get_by_role("button", name="Run checks").click()
    expect(page.get_by_role("region", name="Doctor")).to_contain_text("daemon")
    expect(page.get_by_role("region", name="Doctor")).to_contain_text("headspace install")


def test_settings(pages: Pages, daemon: RunningDaemon) -> None:
    """Every setting has a value, an origin and a description."""
    page = pages.open(daemon, "/settings")
    row = page.locator("li", has_text="heartbeat_seconds")
    expect(row).to_contain_text("from environment, default 15")
    expect(row).to_contain_text("Seconds between heartbeat comments")


def test_the_back_and_forward_buttons(pages: Pages, sample: Sample) -> None:
    """They change the view."""
    page = pages.open(sample.daemon)
    page.get_by_role("link", name="Waits").click()
    page.get_by_role("link", name="Logging").click()
    page.go_back()
    expect(page.locator("h1")).to_have_text("Waits")
    page.go_forward()
    expect(page.locator("h1")).to_have_text("Logging")
