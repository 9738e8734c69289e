"""The wrong keys at the wrong time answer nothing, and nothing moves under the pointer."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support import RunningDaemon, wait_until
from tests.web.conftest import PHONE, Pages
from tests.web.held_waits import MODE, RULE, HeldHook, answers, decision, hold, read_through, settle, started

IGNORED = "Nothing was sent"


def hold_bash(daemon: RunningDaemon, folder: Path, command: str = "make deploy", **more: Any) -> HeldHook:
    """A permission request for a command."""
    return hold(daemon, folder, tool_name="Bash", tool_input={"command": command}, **more)


def hold_two(daemon: RunningDaemon, folder: Path) -> tuple[HeldHook, HeldHook]:
    """Two agents that ask for permission; the first waits longer."""
    first = hold_bash(daemon, folder, "make first", session="one")
    return first, hold_bash(daemon, folder, "make second", session="two")


def card(page: Page, text: str) -> Locator:
    """The card of the wait with this text in its request."""
    return page.locator("article.wait").filter(has=page.locator("pre", has_text=text))


def allow_button(of: Locator) -> Locator:
    """The button that allows the request."""
    return of.get_by_role("button", name="Allow", exact=True)


def focus(page: Page, target: Locator) -> None:
    """Focus a card and wait until its keys work."""
    target.focus()
    settle(page)


def pause(page: Page) -> None:
    """Longer than the time between two keys that belong together."""
    page.wait_for_timeout(600)


def test_a_chord_opens_its_view_and_answers_nothing(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """`g a` goes to the activity, fast or slow, even with the focus in a wait that has suggestions."""
    hold_bash(daemon, tmp_path, permission_suggestions=[RULE, MODE])
    page = pages.open(daemon, "/waits")
    for between in (0, 700):
        focus(page, page.locator("article.wait"))
        page.keyboard.press("g")
        page.wait_for_timeout(between)
        page.keyboard.press("a")
        expect(page).to_have_url(daemon.url + "/activity")
        page.goto(daemon.url + "/waits")
        expect(page.locator("article.wait")).to_be_visible()
    assert answers(daemon) == []


@pytest.mark.parametrize("key", ["d", "y", "a"])
def test_other_chords_answer_nothing(pages: Pages, daemon: RunningDaemon, tmp_path: Path, key: str) -> None:
    """After `g`, a key of a wait is not an answer, whether it belongs to a view or not."""
    hold_bash(daemon, tmp_path, permission_suggestions=[RULE])
    page = pages.open(daemon, "/waits")
    focus(page, page.locator("article.wait"))
    page.keyboard.press("g")
    page.keyboard.press(key)
    pause(page)
    assert answers(daemon) == []


def test_a_key_right_after_the_focus_answers_nothing(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The card says that nothing was sent. After half a second, the same key answers."""
    hook = hold_bash(daemon, tmp_path)
    page = pages.open(daemon, "/waits")
    settle(page)
    page.locator("article.wait").focus()
    page.keyboard.press("y")
    expect(page.get_by_text(IGNORED)).to_be_visible()
    assert answers(daemon) == []
    settle(page)
    pause(page)
    page.keyboard.press("y")
    assert decision(hook) == {"behavior": "allow"}


def test_a_click_right_after_a_layout_change_answers_nothing(
    pages: Pages, daemon: RunningDaemon, tmp_path: Path
) -> None:
    """Something above the card grows, and a click meets a button that was not there before."""
    hook = hold_bash(daemon, tmp_path)
    page = pages.open(daemon, "/waits")
    settle(page)
    page.evaluate(
        """() => {
            const added = document.createElement("div");
            added.style.height = "90px";
            document.querySelector(".page").prepend(added);
            document.querySelector("article .buttons button").click();
        }"""
    )
    expect(page.get_by_text(IGNORED)).to_be_visible()
    assert answers(daemon) == []
    allow_button(page.locator("article.wait")).click()
    assert decision(hook) == {"behavior": "allow"}


def test_scrolling_is_not_a_layout_change(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """A click after scrolling counts, because the user moved the button."""
    hook = hold_bash(daemon, tmp_path, "\n".join(f"echo {number}" for number in range(120)))
    page = pages.open(daemon, "/waits")
    settle(page)
    read_through(page, page.locator("article.wait"))
    expect(allow_button(page.locator("article.wait"))).to_be_enabled()
    page.evaluate("document.querySelector('main').scrollBy({ top: -40, behavior: 'instant' })")
    page.evaluate("document.querySelector('article .buttons button').click()")
    assert decision(hook) == {"behavior": "allow"}


def test_a_double_click_answers_once(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The answered card stays in place, and the button of the next card does not move."""
    first, _ = hold_two(daemon, tmp_path)
    page = pages.open(daemon, "/waits")
    settle(page)
    before = allow_button(card(page, "make second")).bounding_box()
    allow_button(card(page, "make first")).dblclick()
    assert decision(first) == {"behavior": "allow"}
    expect(card(page, "make first")).to_contain_text("llowed by")
    wait_until(lambda: len(daemon.get("/api/waits").json()) == 1, "the wait to close")
    pause(page)
    assert allow_button(card(page, "make second")).bounding_box() == before
    assert answers(daemon) == ["allowed"]


def test_a_double_press_answers_once(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The second `y` does not answer the next wait."""
    first, _ = hold_two(daemon, tmp_path)
    page = pages.open(daemon, "/waits")
    focus(page, card(page, "make first"))
    page.keyboard.press("y")
    page.keyboard.press("y")
    assert decision(first) == {"behavior": "allow"}
    page.keyboard.press("y")
    pause(page)
    page.keyboard.press("y")
    pause(page)
    assert answers(daemon) == ["allowed"]


def test_enter_on_a_button_follows_the_rules_of_keys(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Twice in a row, held down, or after `g`, it answers nothing; on its own it does."""
    hook = hold_bash(daemon, tmp_path)
    page = pages.open(daemon, "/waits")
    settle(page)
    button = allow_button(page.locator("article.wait"))
    button.focus()
    page.wait_for_timeout(350)
    page.keyboard.press("Enter")
    page.wait_for_timeout(250)
    page.keyboard.press("Enter")
    pause(page)
    assert answers(daemon) == []
    for key in ("Enter", "Space"):
        page.locator("article.wait").focus()
        button.focus()
        hold_down(page, key, 1_000)
    page.keyboard.press("g")
    pause(page)
    page.keyboard.press("Enter")
    expect(page.get_by_text(IGNORED)).to_be_visible()
    assert answers(daemon) == []
    pause(page)
    page.keyboard.press("Enter")
    assert decision(hook) == {"behavior": "allow"}


def test_a_held_enter_answers_one_wait(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The offer of the next wait gets the focus, and the key that is still down does not press it."""
    first, _ = hold_two(daemon, tmp_path)
    page = pages.open(daemon, "/waits")
    settle(page)
    allow_button(card(page, "make first")).focus()
    settle(page)
    hold_down(page, "Enter", 1_500)
    assert decision(first) == {"behavior": "allow"}
    expect(page.get_by_role("button", name="Next:")).to_be_focused()
    assert answers(daemon) == ["allowed"]


def hold_down(page: Page, key: str, milliseconds: int) -> None:
    """Hold a key down, with the repeated presses of a keyboard."""
    for _ in range(milliseconds // 50):
        page.keyboard.down(key)
        page.wait_for_timeout(50)
    page.keyboard.up(key)
    pause(page)


def test_enter_within_typing_does_not_send_a_form(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The user may be typing for something else; Enter on its own sends the form."""
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    call = {"session_id": "one", "cwd": str(tmp_path), "mcp_server_name": "tickets", "message": "Which?"}
    daemon.post("user-prompt-submit", {**call, "prompt": "Go"})
    form = {"mode": "form", "requested_schema": schema}
    hook = started(HeldHook(daemon, {**call, **form}, "elicitation"), daemon)
    page = pages.open(daemon, "/waits")
    page.get_by_label("name").click()
    settle(page)
    page.keyboard.type("12")
    page.keyboard.press("Enter")
    expect(page.get_by_text(IGNORED)).to_be_visible()
    assert answers(daemon) == []
    pause(page)
    page.keyboard.press("Enter")
    hook.join(30)
    assert hook.reply["hookSpecificOutput"]["content"] == {"name": "12"}


def test_pressing_a_twice_grants_nothing(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """`a` only shows what can be granted. Nothing is selected, and more presses change nothing."""
    hold_bash(daemon, tmp_path, permission_suggestions=[RULE, MODE])
    page = pages.open(daemon, "/waits")
    focus(page, page.locator("article.wait"))
    page.keyboard.press("a")
    expect(page.get_by_role("checkbox")).to_have_count(2)
    for key in ("a", "a", "Enter"):
        page.keyboard.press(key)
        pause(page)
    assert page.get_by_role("checkbox", checked=True).count() == 0
    page.get_by_role("button", name="Allow, and grant").click(force=True)
    pause(page)
    assert answers(daemon) == []


def test_the_next_wait_is_offered_and_has_the_focus(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Enter goes there; a key at that moment answers nothing, half a second later it does."""
    first, second = hold_two(daemon, tmp_path)
    page = pages.open(daemon, "/waits")
    focus(page, card(page, "make first"))
    page.keyboard.press("d")
    assert decision(first)["behavior"] == "deny"
    expect(page.get_by_role("button", name="Next:")).to_be_focused()
    page.keyboard.press("Enter")
    expect(card(page, "make second")).to_be_focused()
    page.keyboard.press("y")
    assert answers(daemon) == ["denied"]
    settle(page)
    pause(page)
    page.keyboard.press("y")
    assert decision(second) == {"behavior": "allow"}


def test_a_question_is_declined_with_the_same_key(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """`d` declines it, as it denies a permission, and the result says so."""
    questions = [{"question": "Which?", "header": "Q", "options": [{"label": "Red"}, {"label": "Blue"}]}]
    hook = hold(daemon, tmp_path, tool_name="AskUserQuestion", tool_input={"questions": questions})
    page = pages.open(daemon, "/waits")
    focus(page, page.locator("article.wait"))
    page.keyboard.press("d")
    assert decision(hook)["behavior"] == "deny"
    expect(page.locator("article.wait .status")).to_contain_text("Declined to answer by")


def test_an_answered_card_stays_until_it_is_dismissed(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """It keeps its height while it shows the result."""
    hook = hold_bash(daemon, tmp_path)
    page = pages.open(daemon, "/waits")
    settle(page)
    shown = page.locator("article.wait")
    before = shown.bounding_box()
    allow_button(shown).click()
    decision(hook)
    wait_until(lambda: daemon.get("/api/waits").json() == [], "the wait to close")
    expect(shown).to_contain_text("llowed by")
    pause(page)
    assert shown.bounding_box() == before
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("No agent is waiting for you")).to_be_visible()


def test_dismissing_keeps_the_focus_in_the_list(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """On the next card, or on the heading once the list is empty. Escape in an answered card dismisses it."""
    first, second = hold_two(daemon, tmp_path)
    page = pages.open(daemon, "/waits")
    focus(page, card(page, "make first"))
    page.keyboard.press("d")
    decision(first)
    expect(page.get_by_role("button", name="Next:")).to_be_focused()
    page.keyboard.press("Escape")
    expect(card(page, "make second")).to_be_focused()
    expect(page).to_have_url(daemon.url + "/waits")
    settle(page)
    pause(page)
    page.keyboard.press("d")
    decision(second)
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_role("heading", name="Waits")).to_be_focused()


def test_a_shorter_summary_moves_nothing(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Someone else answers a wait with a long summary; the buttons of the other wait in the panel stay."""
    long = "python scripts/migrate.py " + " ".join(f"--option-{number} value" for number in range(12))
    common = {"session_id": "one", "cwd": str(tmp_path), "tool_name": "Bash"}
    daemon.post("user-prompt-submit", {**common, "prompt": "Go"})
    for command in ("make first", long):
        call = {**common, "tool_input": {"command": command}, "tool_use_id": command}
        daemon.post("pre-tool-use", call)
        started(HeldHook(daemon, call), daemon)
    first, last = daemon.get("/api/waits").json()
    page = pages.open(daemon)
    page.locator(f"[data-agent='{first['agent_id']}']").click()
    settle(page)
    shown = card(page, "make first")
    before = allow_button(shown).bounding_box()
    summary = page.locator(".panel .summary").inner_text()
    daemon.send("POST", f"/api/waits/{last['id']}/answer", {"decision": "deny"}, scope="act")
    done = {**common, "tool_input": {"command": long}, "tool_use_id": long, "tool_response": {}}
    daemon.post("post-tool-use", done)
    expect(page.locator(".panel .summary")).not_to_have_text(summary)
    assert allow_button(shown).bounding_box() == before


def test_an_inactive_button_has_the_same_width(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The half second after a change of focus changes the look of *Allow*, but not the place of the other buttons."""
    hold_bash(daemon, tmp_path)
    page = pages.open(daemon, "/waits")
    settle(page)
    button = allow_button(page.locator("article.wait"))
    before = button.bounding_box()
    page.locator("article.wait").focus()
    expect(button).to_be_disabled()
    assert button.bounding_box() == before


def test_the_time_of_a_wait_moves_nothing_on_a_phone(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The line above a request stays one line, however long the name of the project is and the wait lasts."""
    project = tmp_path / ("p" * 17)
    project.mkdir()
    hold_bash(daemon, project)
    [agent] = daemon.get("/api/agents").json()
    daemon.send("POST", f"/api/agents/{agent['id']}/rename", {"name": "careful-hedgehog"}, scope="act")
    page = pages.open(daemon, "/waits", viewport=PHONE)
    heading = page.locator(".agent").first
    expect(heading).to_contain_text("careful-hedgehog")
    expect(heading).to_contain_text("waiting for")
    line = heading.bounding_box()
    heading.locator(".when").evaluate("time => time.remove()")
    assert heading.bounding_box() == line


def test_a_result_moves_nothing_on_a_phone(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """An explanation and the result have room above the buttons of the request, which stay where they are."""
    hold_two(daemon, tmp_path)
    page = pages.open(daemon, "/waits", viewport=PHONE)
    settle(page)
    before = allow_button(card(page, "make first")).bounding_box()
    allow_button(card(page, "make first")).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text(IGNORED)).to_be_visible()
    assert allow_button(card(page, "make first")).bounding_box() == before
    [wait] = [each for each in daemon.get("/api/waits").json() if each["summary"] == "make first"]
    answer = {"decision": "deny", "message": "use the test database"}
    daemon.send("POST", f"/api/waits/{wait['id']}/answer", answer, scope="act")
    expect(card(page, "make first")).to_contain_text("enied by")
    pause(page)
    assert allow_button(card(page, "make first")).bounding_box() == before


def test_a_card_closed_by_someone_else_ignores_input(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """What is typed meanwhile goes nowhere: no other wait, agent or grouping. Escape dismisses the card."""
    first, _ = hold_two(daemon, tmp_path)
    page = pages.open(daemon)
    [wait] = [each for each in daemon.get("/api/waits").json() if each["summary"] == "make first"]
    page.locator(f"[data-agent='{wait['agent_id']}']").click()
    panel = page.get_by_role("complementary", name="Selected agent")
    panel.get_by_label("If denied: reason or instructions").fill("no")
    daemon.send("POST", f"/api/waits/{wait['id']}/answer", {"decision": "deny"}, scope="act")
    decision(first)
    expect(panel.locator("article.wait.closed")).to_contain_text("enied by")
    name = panel.get_by_role("heading", level=2).inner_text()
    page.keyboard.type("12ydajnw3")
    page.keyboard.press("Enter")
    pause(page)
    assert panel.get_by_role("heading", level=2).inner_text() == name
    assert panel.get_by_label("If denied: reason or instructions").input_value() == "no"
    assert page.evaluate("localStorage.getItem('headspace.view')") is None
    assert urlsplit(page.url).path == "/"
    assert answers(daemon) == ["denied"]
    page.keyboard.press("Escape")
    expect(panel.locator("article.wait")).to_have_count(0)


def test_a_plan_is_approved_only_after_all_of_it_was_visible(
    pages: Pages, daemon: RunningDaemon, tmp_path: Path
) -> None:
    """`y` at the top explains what to do; after scrolling through all steps it approves."""
    plan = "\n".join(f"{number}. Step {number} of the plan" for number in range(1, 81))
    hook = hold(daemon, tmp_path, tool_name="ExitPlanMode", tool_input={"plan": plan})
    page = pages.open(daemon, "/waits")
    expect(page.get_by_label("Request")).to_contain_text("Step 80")
    focus(page, page.locator("article.wait"))
    page.keyboard.press("y")
    expect(page.get_by_text("Scroll through all of the plan before you approve it.")).to_be_attached()
    assert answers(daemon) == []
    read_through(page, page.locator("article.wait"))
    pause(page)
    page.keyboard.press("y")
    assert decision(hook)["behavior"] == "allow"
    expect(page.locator("article.wait .status")).to_contain_text("Approved by")


def test_a_jump_to_the_end_does_not_count_as_reading(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """`j j k` shows the start and the end of a plan, but never its middle."""
    plan = "\n".join(f"{number}. Step {number} of the plan" for number in range(1, 301))
    hold(daemon, tmp_path, session="one", tool_name="ExitPlanMode", tool_input={"plan": plan})
    hold_bash(daemon, tmp_path, "make second", session="two")
    page = pages.open(daemon, "/waits")
    settle(page)
    for key in "jjk":
        page.keyboard.press(key)
        pause(page)
    shown = page.locator("article.wait").first
    expect(shown).to_be_focused()
    page.get_by_role("button", name="Approve").scroll_into_view_if_needed()
    settle(page)
    page.keyboard.press("y")
    expect(shown).to_contain_text("Scroll through all of the plan")
    pause(page)
    assert answers(daemon) == []


def test_smooth_scrolling_to_the_end_does_not_count_as_reading(
    pages: Pages, daemon: RunningDaemon, tmp_path: Path
) -> None:
    """`End` scrolls past the middle in a moment."""
    plan = "\n".join(f"{number}. Step {number} of the plan" for number in range(1, 150))
    hold(daemon, tmp_path, tool_name="ExitPlanMode", tool_input={"plan": plan})
    page = pages.open(daemon, "/waits")
    focus(page, page.locator("article.wait"))
    page.keyboard.press("End")
    settle(page)
    pause(page)
    page.keyboard.press("y")
    expect(page.get_by_text("Scroll through all of the plan before you approve it.")).to_be_attached()
    assert answers(daemon) == []


def test_an_answer_can_be_delayed_and_undone(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """The delay is a setting of the browser. `u` cancels; without it, the answer is sent."""
    hook = hold_bash(daemon, tmp_path)
    page = pages.open(daemon, "/settings")
    page.get_by_label("Send an answer that allows something").select_option("after 3 seconds")
    page.goto(daemon.url + "/waits")
    focus(page, page.locator("article.wait"))
    page.keyboard.press("y")
    expect(page.get_by_text("Sending in 3 s.")).to_be_visible()
    pause(page)
    page.keyboard.press("u")
    expect(page.locator("article.wait")).to_be_focused()
    settle(page)
    pause(page)
    page.keyboard.press("y")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("article.wait")).to_be_focused()
    page.wait_for_timeout(3_500)
    assert answers(daemon) == []
    allow_button(page.locator("article.wait")).click()
    assert decision(hook) == {"behavior": "allow"}


def test_the_help_lists_the_keys_of_waits(pages: Pages, daemon: RunningDaemon) -> None:
    """`y`, `d`, `a` and `u`."""
    page = pages.open(daemon)
    page.keyboard.press("?")
    shown = page.get_by_role("dialog", name="Keyboard shortcuts")
    for key in "ydau":
        expect(shown.locator("kbd", has_text=key).filter(has_text=key).first).to_be_visible()
    expect(shown.get_by_role("heading", name="In a wait")).to_be_visible()
    expect(shown.get_by_text("allow, approve")).to_be_visible()
