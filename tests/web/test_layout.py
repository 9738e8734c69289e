"""Nothing is covered or cut off."""

import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import FloatRect, Locator, expect

from tests.support import RunningDaemon
from tests.web.conftest import LAPTOP, PHONE, Pages, Sample

LONG_LIST = "\n".join(f"{number}. Step {number}" for number in range(1, 1_202))
MARKER_ROOM = """
(item) => {
  const range = document.createRange();
  range.selectNodeContents(item);
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.font = getComputedStyle(item).font;
  const number = `${[...item.parentElement.children].indexOf(item) + 1}. `;
  const box = item.closest(".message").getBoundingClientRect();
  return range.getBoundingClientRect().left - box.left - canvas.measureText(number).width;
}
"""
"""The room to the left of the number of a list item, in pixels. A number has no box of its own."""

COVERED = """
() => [...document.querySelectorAll(".sidebar section button")].filter((button) => {
  const { left, bottom } = button.getBoundingClientRect();
  const area = button.closest(".scrolls, .sidebar").getBoundingClientRect();
  const found = document.elementFromPoint(left + 20, bottom - 4);
  return bottom > area.top + 28 && bottom <= area.bottom && found.closest("button") !== button;
}).map((button) => button.innerText)
"""
"""The filters of the sidebar that are within its visible area and below something else."""


def test_numbers_of_long_lists_are_complete(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """A number of four digits fits into the panel of the selected agent."""
    session = {"session_id": "one", "cwd": str(tmp_path)}
    agent = daemon.post("user-prompt-submit", {**session, "prompt": "List all steps"}).json()["agent_id"]
    daemon.post("stop", {**session, "last_assistant_message": LONG_LIST})
    page = pages.open(daemon)
    page.locator(f"[data-agent='{agent}']").click()
    last = page.get_by_role("region", name="Last message").locator("li").last
    expect(last).to_have_text("Step 1201")
    assert last.evaluate(MARKER_ROOM) >= 0


def box(locator: Locator) -> FloatRect:
    """The box of an element."""
    found = locator.bounding_box()
    assert found is not None
    return found


def middle(locator: Locator) -> float:
    """The vertical middle of an element."""
    return box(locator)["y"] + box(locator)["height"] / 2


def asks(daemon: RunningDaemon, session: dict[str, str]) -> None:
    """An agent asks a question."""
    daemon.post("stop", {**session, "last_assistant_message": "Shall I go on?"})


def test_a_new_wait_does_not_move_the_visible_cards(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """In a board that is scrolled, the first visible card keeps its place while waits are added above it."""
    sessions = [{"session_id": f"s{number:02}", "cwd": str(tmp_path)} for number in range(60)]
    for session in sessions:
        daemon.post("user-prompt-submit", {**session, "prompt": "Go"})
    page = pages.open(daemon)
    board = page.get_by_role("region", name="Agents")
    expect(page.locator(".card").first).to_be_visible()
    board.evaluate("(list) => list.scrollTo(0, 500)")
    middle = daemon.post("notification", {**sessions[33], "message": "Here"}).json()["agent_id"]
    card = page.locator(f"[data-agent='{middle}']")
    expect(card).to_be_in_viewport(ratio=1)
    before = card.evaluate("(card) => card.getBoundingClientRect().top")
    for number, session in enumerate((sessions[58], sessions[59]), 1):
        asks(daemon, session)
        expect(page).to_have_title(re.compile(rf"^\({number}\) "))
    page.wait_for_function(
        "([id, top]) => Math.abs(document.querySelector(`[data-agent='${id}']`).getBoundingClientRect().top - top) < 1"
        " && document.querySelector('[aria-label=Agents]').scrollTop > 500",
        arg=[middle, before],
    )


def test_a_new_wait_does_not_move_the_conversation(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """A wait that opens above the visible turn leaves the turn where it is."""
    session = {"session_id": "one", "cwd": str(tmp_path)}
    agent = daemon.post("session-start", session).json()["agent_id"]
    for number in range(20):
        daemon.post("user-prompt-submit", {**session, "prompt": f"Step {number}"})
        daemon.post("stop", {**session, "last_assistant_message": f"Done with {number}."})
    page = pages.open(daemon, f"/agents/{agent}")
    turn = page.locator(".turn", has_text="Done with 15.")
    turn.evaluate("(turn) => turn.scrollIntoView({ block: 'center', behavior: 'instant' })")
    expect(turn).to_be_in_viewport()
    before = turn.evaluate("(turn) => turn.getBoundingClientRect().top")
    asks(daemon, session)
    expect(page.locator("article.wait")).to_have_count(1)
    page.wait_for_function(
        "([id, top]) => Math.abs(document.getElementById(id).getBoundingClientRect().top - top) < 1",
        arg=[turn.get_attribute("id"), before],
    )


def test_labels_of_charts_are_at_their_place(pages: Pages, sample: Sample) -> None:
    """The labels of the levels are beside their lines, and no time label is outside of its axis."""
    page = pages.open(sample.daemon, "/agents/snug-plover")
    chart = page.get_by_role("img", name="Context now")
    for level in (60, 80, 90):
        label, line = chart.get_by_text(f"{level} %"), chart.locator(f"line.l{level}")
        expect(label).to_be_visible()
        assert abs(middle(label) - middle(line)) < 2, level
    axis = page.locator(".axis").first
    area = box(axis)
    for label in axis.locator("span").all():
        assert box(label)["x"] >= area["x"]
        assert box(label)["x"] + box(label)["width"] <= area["x"] + area["width"]


@pytest.mark.parametrize(("touch", "hint"), [(True, "tap: why"), (False, "hover: why")])
def test_the_hint_of_the_timeline_fits_the_device(pages: Pages, sample: Sample, touch: bool, hint: str) -> None:
    """A screen without a pointer offers a tap, and a tap shows the evidence and keeps it."""
    page = pages.open(sample.daemon, "/agents/snug-plover", viewport=PHONE, has_touch=touch, is_mobile=touch)
    expect(page.get_by_text(hint)).to_be_visible()
    expect(page.locator("figcaption .hint:visible")).to_have_count(1)
    if touch:
        page.get_by_role("img", name="states since").tap()
        expect(page.locator("figcaption").first).to_contain_text("confidence")


def test_hours_without_work_do_not_squeeze_the_timeline(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """Two minutes of work on both sides of five idle hours are wide enough to see and to point at."""
    session, now = {"session_id": "one", "cwd": str(tmp_path)}, time.time()

    def post(hook: str, minutes: float, **payload: str) -> str:
        fired = {"X-Headspace-Fired-At": f"{now - minutes * 60:.6f}"}
        agent: str = daemon.post(hook, {**session, **payload}, fired).json()["agent_id"]
        return agent

    post("user-prompt-submit", 304, prompt="Begin")
    post("stop", 302, last_assistant_message="Done.")
    agent = post("user-prompt-submit", 2, prompt="Go on")
    page = pages.open(daemon, f"/agents/{agent}")
    timeline = page.get_by_role("img", name="states since")
    working = timeline.locator(".span.working")
    expect(working).to_have_count(2)
    for span in working.all():
        assert box(span)["width"] > box(timeline)["width"] / 4
    expect(timeline.locator(".span.short")).to_have_count(1)
    expect(page.get_by_text("idle, shortened")).to_be_visible()


def test_columns_have_room_for_names(pages: Pages, sample: Sample) -> None:
    """The board as columns scrolls sideways before it cuts off names."""
    page = pages.open(sample.daemon)
    page.keyboard.press("3")
    expect(page.locator(".column").first).to_be_visible()
    cut = "(names) => names.filter((name) => name.scrollWidth > name.clientWidth).map((name) => name.innerText)"
    assert page.locator(".card .name").evaluate_all(cut) == []


def test_the_conversation_is_wider_than_the_details(pages: Pages, sample: Sample) -> None:
    """Also on a small laptop or a tablet."""
    page = pages.open(sample.daemon, "/agents/snug-plover", viewport={"width": 1024, "height": 768})
    conversation = page.get_by_role("region", name="Conversation")
    expect(conversation).to_be_visible()
    assert box(conversation)["width"] > 1.4 * box(page.locator(".detail-layout > div").last)["width"]


def test_the_last_project_is_not_covered(pages: Pages, daemon: RunningDaemon, tmp_path: Path) -> None:
    """With many projects the sidebar scrolls above its footer, and each project can be selected."""
    for number in range(30):
        folder = tmp_path / f"project-{number:02}"
        folder.mkdir()
        daemon.post("session-start", {"session_id": f"s{number}", "cwd": str(folder)})
    page = pages.open(daemon, viewport=LAPTOP)
    projects = page.get_by_role("region", name="Projects").get_by_role("button")
    expect(projects).to_have_count(30)
    assert page.evaluate(COVERED) == []
    projects.last.scroll_into_view_if_needed()
    expect(projects.last).to_be_in_viewport(ratio=1)
    assert page.evaluate(COVERED) == []
