"""Nothing moves under the pointer while waits open, expire, fail or are answered by someone else."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support import RunningDaemon, running_daemon
from tests.web.conftest import LAPTOP, PHONE, Pages
from tests.web.held_waits import HeldHook, hold, settle, started

LONG_COMMAND = "python scripts/migrate.py " + " ".join(f"--option-{number} value" for number in range(12))
LONG_MESSAGE = "Headspace could not send the answer, because the client of this agent does not respond. " * 2
REPLIES = {
    "fails": (500, {"error": {"code": "failed", "message": LONG_MESSAGE, "hint": "Try again."}}),
    "conflicts": (409, {"error": {"code": "answered", "message": LONG_MESSAGE, "hint": "Someone else answered."}}),
}


def hold_bash(daemon: RunningDaemon, folder: Path, command: str, **more: Any) -> HeldHook:
    """A permission request for a command."""
    return hold(daemon, folder, tool_name="Bash", tool_input={"command": command}, **more)


def hold_another(daemon: RunningDaemon, folder: Path) -> HeldHook:
    """Another call of the first agent asks for permission, too."""
    call = {"session_id": "one", "cwd": str(folder), "tool_name": "Bash", "tool_input": {"command": LONG_COMMAND}}
    daemon.post("pre-tool-use", {**call, "tool_use_id": "another"})
    return started(HeldHook(daemon, call), daemon)


def allow_button(page: Page, command: str) -> Locator:
    """The button that allows a command."""
    card = page.locator("article.wait").filter(has=page.locator("pre", has_text=command))
    return card.get_by_role("button", name="Allow", exact=True)


@pytest.mark.parametrize(
    ("place", "viewport"),
    [("panel", LAPTOP), ("agent", LAPTOP), ("agent", PHONE)],
    ids=["panel", "agent", "agent on a phone"],
)
def test_another_wait_of_the_agent_moves_nothing(
    pages: Pages, daemon: RunningDaemon, tmp_path: Path, place: str, viewport: dict[str, int]
) -> None:
    """It is added below, and the summary above always has the same number of lines."""
    hold_bash(daemon, tmp_path, "make first")
    [wait] = daemon.get("/api/waits").json()
    page = pages.open(daemon, "/" if place == "panel" else f"/agents/{wait['agent_id']}", viewport=viewport)
    if place == "panel":
        page.locator(f"[data-agent='{wait['agent_id']}']").click()
    settle(page)
    before = allow_button(page, "make first").bounding_box()
    hold_another(daemon, tmp_path)
    expect(page.locator("article.wait")).to_have_count(2)
    settle(page)
    assert allow_button(page, "make first").bounding_box() == before


@pytest.mark.parametrize("viewport", [LAPTOP, PHONE], ids=["laptop", "phone"])
@pytest.mark.parametrize("case", REPLIES)
def test_a_failed_answer_moves_nothing(
    pages: Pages, daemon: RunningDaemon, tmp_path: Path, case: str, viewport: dict[str, int]
) -> None:
    """Its message is in lines that are always there. A phone shows one request at a time."""
    hold_bash(daemon, tmp_path, "make first")
    hold_bash(daemon, tmp_path, "make second", session="two")
    watched = "make first" if viewport == PHONE else "make second"
    page = pages.open(daemon, "/waits", viewport=viewport)
    status, body = REPLIES[case]
    page.route("**/api/waits/*/answer", lambda route: route.fulfill(status=status, json=body))
    settle(page)
    before = allow_button(page, watched).bounding_box()
    allow_button(page, "make first").click()
    expect(page.locator("article.wait .status").first).to_contain_text("does not respond")
    assert allow_button(page, watched).bounding_box() == before


def test_a_hold_that_expires_moves_nothing(pages: Pages, tmp_path: Path) -> None:
    """The controls stay, but do not work any more."""
    with running_daemon(tmp_path / "home", hold_seconds=8) as daemon:
        hold_bash(daemon, tmp_path, "make first")
        page = pages.open(daemon, "/waits")
        settle(page)
        before = page.locator("article.wait").bounding_box()
        expect(page.get_by_text("You can answer here until")).to_be_visible()
        expect(page.get_by_text("The time to answer through Headspace is over.")).to_be_visible(timeout=20_000)
        settle(page)
        assert page.locator("article.wait").bounding_box() == before
        expect(allow_button(page, "make first")).to_have_attribute("aria-disabled", "true")


def test_a_lost_connection_moves_nothing(pages: Pages, tmp_path: Path) -> None:
    """The message about it is at the bottom of the view."""
    with running_daemon(tmp_path / "home", heartbeat_seconds=2) as daemon:
        hold_bash(daemon, tmp_path, "make first")
        page = pages.open(daemon, "/waits")
        settle(page)
        before = allow_button(page, "make first").bounding_box()
        daemon.stop()
        expect(page.get_by_text("Headspace is not responding.")).to_be_visible(timeout=20_000)
        assert allow_button(page, "make first").bounding_box() == before
