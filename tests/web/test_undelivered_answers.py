"""Dialogs that are answered with keystrokes: answers that the client did not get, and what it cannot take."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.stories.asking_gemini import AskingGemini
from tests.support import RunningDaemon
from tests.web.conftest import Pages
from tests.web.held_waits import settle

NO_MESSAGE = "Gemini CLI takes no message with a denial"


@pytest.fixture
def gemini(tmp_path: Path, daemon: RunningDaemon) -> Iterator[AskingGemini]:
    """A client that asks for permission."""
    with AskingGemini(tmp_path, daemon) as client:
        yield client


def open_wait(pages: Pages, daemon: RunningDaemon) -> Page:
    """The list of waits."""
    page = pages.open(daemon, "/waits")
    expect(page.locator(".wait")).to_have_count(1)
    return page


def test_an_answer_that_the_client_did_not_get(pages: Pages, daemon: RunningDaemon, gemini: AskingGemini) -> None:
    """The card says why, keeps its buttons, and is usable again."""
    gemini.ask_in_pane()
    page = open_wait(pages, daemon)
    expect(page.locator(".wait .status")).to_have_text("You can answer here.")
    settle(page)
    page.get_by_role("button", name="Allow", exact=True).click()
    expect(page.locator(".explanation")).to_contain_text("The client did not receive the answer.")
    expect(page.locator(".explanation")).to_contain_text("Try again, or answer it in its terminal.")
    expect(page.get_by_role("button", name="Allow", exact=True)).to_have_attribute("aria-disabled", "false")
    page.reload()
    expect(page.locator(".wait .status")).to_contain_text("was not delivered.")
    expect(page.locator(".wait .status")).to_contain_text("Try again")


def test_no_message_can_be_written_if_the_client_takes_none(
    pages: Pages, daemon: RunningDaemon, gemini: AskingGemini
) -> None:
    """The reason stands in place of the field."""
    gemini.ask_in_pane()
    page = open_wait(pages, daemon)
    expect(page.get_by_text(NO_MESSAGE)).to_be_visible()
    expect(page.get_by_label("If denied: reason or instructions")).to_have_count(0)


def test_a_card_says_why_only_the_terminal_answers(pages: Pages, daemon: RunningDaemon, gemini: AskingGemini) -> None:
    """Here: the client does not run in tmux."""
    gemini.ask()
    page = open_wait(pages, daemon)
    expect(page.locator(".wait .status")).to_contain_text("Answer this in its terminal: Headspace answers this client")
