"""Every view beside the board shows what there is, from real hooks to what people read."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.support import RunningDaemon
from tests.support_rpc import call
from tests.web.conftest import Stage, Visits


def test_an_agents_page_tells_everything(visits: Visits, stage: Stage) -> None:
    """Conversation with Markdown, calls with input and result, states with evidence, context, reasons."""
    page = visits.open(stage.daemon, "/agents/snug-plover")
    expect(page.locator("h1")).to_have_text("snug-plover")
    talk = page.get_by_role("region", name="Conversation")
    expect(talk).to_contain_text("The login page returns 500")
    expect(talk.locator("pre code").first).to_contain_text("scrypt")
    failed = talk.locator("details", has_text="Bash: pytest tests/auth -q").first
    failed.locator("summary").click()
    expect(failed).to_contain_text("UnicodeEncodeError")
    ribbon = page.get_by_role("img", name="States from")
    ribbon.hover(position={"x": 5, "y": 10})
    expect(page.locator("figcaption").first).to_contain_text("confidence")
    expect(page.get_by_role("img", name="Context now")).to_be_visible()
    curve = page.get_by_role("img", name="Context now")
    curve.hover(position={"x": 2, "y": 10})
    expect(page.locator("figcaption").last).to_contain_text("tokens")
    page.get_by_text("How it came here").click()
    expect(page.locator(".chain li").first).to_contain_text("working")
    page.get_by_text("The same state in other words").click()
    expect(page.locator("details dl").last).to_contain_text("PROCESSING")


def test_an_agents_errors_lead_to_their_place(visits: Visits, stage: Stage) -> None:
    """What failed is listed with its reason; a click unfolds it in the conversation."""
    page = visits.open(stage.daemon, "/agents/snug-plover")
    errors = page.get_by_role("region", name="Errors")
    expect(errors).to_contain_text("UnicodeEncodeError")
    errors.get_by_role("button", name="failed: Bash: pytest tests/auth -q").click()
    opened = page.get_by_role("region", name="Conversation").locator("details[open]", has_text="UnicodeEncodeError")
    expect(opened.last).to_be_in_viewport()
    page.goto(stage.daemon.url + "/agents/olive-bee")
    expect(page.get_by_role("region", name="Errors")).to_contain_text("the turn was stopped")


def test_sub_agents_are_a_tree(visits: Visits, stage: Stage) -> None:
    """Each sub-agent has what it does and its calls; agents that it started stand there too, with theirs."""
    page = visits.open(stage.daemon, "/agents/quiet-lynx")
    tree = page.get_by_role("region", name="Sub-agents")
    expect(tree.locator("details")).to_have_count(4)
    reading = tree.locator("details", has_text="explorer, reading main.tf").first
    reading.locator("summary").first.click()
    expect(reading).to_contain_text("reading main.tf")


def test_an_agents_page_follows(visits: Visits, daemon: RunningDaemon, tmp_path: Path) -> None:
    """What is said and done while the page is open appears on it."""
    told = {"session_id": "one", "cwd": str(tmp_path)}
    agent = daemon.post("user-prompt-submit", {**told, "prompt": "Split the settings page"}).json()["agent_id"]
    page = visits.open(daemon, f"/agents/{agent}")
    expect(page.get_by_role("region", name="Conversation")).to_contain_text("Split the settings page")
    daemon.post("stop", {**told, "last_assistant_message": "The **tabs** are there. Shall I commit?"})
    expect(page.get_by_role("region", name="Conversation").locator("strong", has_text="tabs")).to_be_visible()
    expect(page.get_by_role("button", name="Jump to the wait")).to_be_visible()
    daemon.post("user-prompt-submit", {**told, "prompt": "Yes"})
    daemon.post(
        "pre-tool-use", {**told, "tool_name": "Bash", "tool_input": {"command": "git commit"}, "tool_use_id": "c"}
    )
    expect(page.get_by_role("region", name="Conversation")).to_contain_text("Bash: git commit")


def test_an_unknown_agent_says_what_to_do(visits: Visits, stage: Stage) -> None:
    """An address of nobody leads back to the board."""
    page = visits.open(stage.daemon, "/agents/nobody-at-all")
    expect(page.get_by_text("There is no such agent")).to_be_visible()
    page.get_by_role("link", name="Back to the board").click()
    expect(page.locator(".card").first).to_be_visible()


def test_waits_are_an_inbox(visits: Visits, stage: Stage) -> None:
    """Questions with their options, permissions and plans, the oldest first; what no client holds open is disabled,
    with the reason.
    """
    page = visits.open(stage.daemon, "/waits")
    waits = page.locator(".wait")
    expect(waits).to_have_count(3)
    expect(waits.nth(0)).to_contain_text("Tokens instead of sessions")
    expect(waits.nth(1)).to_contain_text("PostgreSQL in a container")
    expect(waits.nth(2)).to_contain_text("docker image prune --all --force")
    expect(waits.nth(1).get_by_role("button").first).to_be_disabled()
    expect(waits.nth(2).get_by_role("button", name="Allow")).to_be_disabled()
    expect(waits.nth(2)).to_contain_text("This can only be answered in tmux session infra")


def test_an_effort_is_found_from_its_agent(visits: Visits, stage: Stage) -> None:
    """The card names it, the agent's page leads to it, and it tells its task, its log and what was handed over."""
    page = visits.open(stage.daemon)
    expect(page.locator(f"[data-agent='{stage.ids['snug-plover']}']")).to_contain_text("fix #1")
    page.goto(f"{stage.daemon.url}/agents/snug-plover")
    page.get_by_role("link", name="fix #1, test").click()
    expect(page.locator("h1")).to_have_text("fix #1")
    expect(page.get_by_role("region", name="Log")).to_contain_text("UTF-8 instead; old hashes stay valid.")
    expect(page.get_by_role("region", name="Sessions")).to_contain_text("handed over")
    expect(page.get_by_text("Next: the page's own tests.").first).to_be_visible()
    expect(page.get_by_role("region", name="Messages")).to_contain_text("Release is on Friday. queued")
    page.get_by_role("link", name="← Efforts").click()
    expect(page.get_by_role("region", name="Emoji in passwords")).to_contain_text("snug-plover")


def test_efforts_come_and_go_on_the_page(visits: Visits, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Nothing says how to begin; what begins appears, and what is finished is shown when it is wanted."""
    page = visits.open(daemon, "/efforts")
    expect(page.get_by_text("headspace effort start")).to_be_visible()
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    effort = call(daemon, "effort.start", {"skill": "fix", "cwd": str(tmp_path / "shop")})["id"]
    expect(page.get_by_role("region", name="shop")).to_contain_text("0/10 calls")
    call(daemon, "effort.finish", {"effort": effort})
    expect(page.get_by_text("No effort is under way")).to_be_visible()
    page.get_by_label("also what is finished").check()
    expect(page.get_by_role("region", name="shop")).to_contain_text("finished")


def test_activity_sums_a_day_up(visits: Visits, stage: Stage) -> None:
    """Projects with their time, tools, and how quick hooks arrived; a day without anything says so."""
    page = visits.open(stage.daemon, "/activity")
    expect(page.get_by_role("table")).to_contain_text("shop")
    expect(page.get_by_text("Hook latency")).to_be_visible()
    expect(page.locator(".tools")).to_contain_text("Bash")
    page.get_by_label("Day", exact=True).fill("2020-01-01")
    expect(page.get_by_text("Nothing happened on this day")).to_be_visible()


def test_replay_shows_any_moment(visits: Visits, stage: Stage) -> None:
    """At the beginning only the first prompt was said; at the end all of it."""
    page = visits.open(stage.daemon, f"/replay/{stage.ids['calm-otter']}")
    slider = page.get_by_role("slider", name="Moment")
    expect(page.locator(".talk")).to_contain_text("Rounding happens once per invoice")
    slider.press("Home")
    expect(page.get_by_text("Rounding happens once per invoice")).to_have_count(0)
    expect(page.locator(".control b")).to_have_text("idle")
    slider.press("End")
    expect(page.locator(".talk")).to_contain_text("Rounding happens once per invoice")


def test_logging_shows_the_receiver_and_the_raw_events(visits: Visits, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Enabled, last event, mode; the events as they arrived, filtered, opened, live."""
    told = {"session_id": "one", "cwd": str(tmp_path)}
    call = {"tool_name": "Bash", "tool_input": {"command": "docker image prune --all --force"}, "tool_use_id": "t"}
    daemon.post("session-start", told)
    daemon.post("pre-tool-use", {**told, **call})
    daemon.post("post-tool-use", {**told, **call})
    page = visits.open(daemon, "/logging")
    expect(page.get_by_test_id("enabled")).to_have_text("enabled")
    expect(page.get_by_test_id("last-event")).to_contain_text(re.compile("ago|just now"))
    expect(page.get_by_test_id("mode")).to_have_text("hooks active")
    events = page.get_by_role("region", name="Raw events")
    page.get_by_label("Told by").select_option("hook")
    page.get_by_label("Filter events").fill("docker image prune")
    expect(events.locator(".line")).to_have_count(2)
    events.locator(".line").first.click()
    expect(page.locator(".detail pre")).to_contain_text('"docker image prune --all --force"')
    page.get_by_label("Filter events").fill("brand-new-pattern")
    expect(page.get_by_text("No event fits the filter")).to_be_visible()
    daemon.post("user-prompt-submit", {**told, "prompt": "Look for brand-new-pattern"})
    expect(events.locator(".line").first).to_contain_text("UserPromptSubmit")


def test_the_doctor_is_asked_from_the_page(visits: Visits, daemon: RunningDaemon) -> None:
    """Its findings stand on the page, each with what to do."""
    page = visits.open(daemon, "/logging")
    page.get_by_role("button", name="Look at everything").click()
    expect(page.get_by_role("region", name="Doctor")).to_contain_text("daemon")
    expect(page.get_by_role("region", name="Doctor")).to_contain_text("headspace install")


def test_settings_are_read_and_explained(visits: Visits, daemon: RunningDaemon) -> None:
    """Every setting with its value, where it comes from and what it is for."""
    page = visits.open(daemon, "/settings")
    row = page.locator("li", has_text="heartbeat_seconds")
    expect(row).to_contain_text("from environment, default 15")
    expect(row).to_contain_text("Pause between heartbeat comments")


def test_nowhere_leads_back(visits: Visits, stage: Stage) -> None:
    """The browser's own buttons work between views."""
    page = visits.open(stage.daemon)
    page.get_by_role("link", name="Waits").click()
    page.get_by_role("link", name="Logging").click()
    page.go_back()
    expect(page.locator("h1")).to_have_text("Waits")
    page.go_forward()
    expect(page.locator("h1")).to_have_text("Logging")
