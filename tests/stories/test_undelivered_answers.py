"""Answers to clients that get them as keystrokes: what people are told if the client did not get one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stories.asking_gemini import AskingGemini
from tests.support import running_daemon, wait_until

NOT_IN_TMUX = "Headspace answers this client with keys in tmux, and does not know a tmux pane of the agent."


@pytest.fixture
def gemini(tmp_path: Path) -> Iterator[AskingGemini]:
    """A client and the daemon that receives its hooks."""
    with running_daemon(tmp_path) as daemon, AskingGemini(tmp_path, daemon) as client:
        yield client


@pytest.mark.parametrize("command", ["approve", "deny"])
def test_an_answer_that_the_client_did_not_get_is_an_error(gemini: AskingGemini, command: str) -> None:
    """The command fails with the reason and what to do; the wait stays open and can be answered again."""
    name = gemini.ask_in_pane()
    done = gemini.headspace(command, name)
    assert done.returncode != 0
    assert "The client did not receive the answer." in done.stderr
    assert "Try again, or answer it in its terminal." in done.stderr
    assert not done.stdout
    assert (gemini.wait["answered"], gemini.wait["closed_at"]) == (None, None)
    assert gemini.wait["held_until"]
    shown = " ".join(gemini.headspace("show", name).stdout.split())
    assert "was not delivered." in shown
    assert f"Try again: headspace approve {name}" in shown


def test_a_client_that_takes_grants_only_in_its_terminal_is_named(gemini: AskingGemini) -> None:
    """Its own dialog offers more than one call, so the text does not say that the client suggests nothing."""
    done = gemini.headspace("approve", gemini.ask_in_pane(), "--always")
    assert done.returncode != 0
    assert "Gemini CLI takes permanent permissions only in its own dialog." in " ".join(done.stderr.split())
    assert gemini.wait["answered"] is None


def test_the_api_says_why_the_client_did_not_get_an_answer(gemini: AskingGemini) -> None:
    """An error with the reason, also in the wait."""
    gemini.ask_in_pane()
    path = f"/api/waits/{gemini.wait['id']}/answer"
    reply = gemini.daemon.send("POST", path, {"decision": "allow"}, scope="act")
    assert (reply.status, reply.error["code"]) == (502, "answer_undelivered")
    assert gemini.wait["undelivered"]["problem"] in reply.error["message"]


def test_a_message_that_the_client_cannot_take_is_refused(gemini: AskingGemini) -> None:
    """Nothing is denied, and the person learns what to do instead."""
    name = gemini.ask_in_pane()
    done = gemini.headspace("deny", name, "-m", "use the test database")
    assert done.returncode != 0
    assert "Gemini CLI takes no message with a denial" in done.stderr
    assert (gemini.wait["answered"], gemini.wait["undelivered"]) == (None, None)


def test_people_learn_why_a_dialog_can_be_answered_only_in_the_terminal(gemini: AskingGemini) -> None:
    """In the API, in `show` and in `approve`."""
    name = gemini.ask()["name"]
    wait_until(lambda: gemini.wait["obstacle"], "a reason")
    assert gemini.wait["obstacle"] == NOT_IN_TMUX
    assert NOT_IN_TMUX in " ".join(gemini.headspace("show", name).stdout.split())
    done = gemini.headspace("approve", name)
    assert done.returncode != 0
    assert NOT_IN_TMUX in " ".join(done.stderr.split())
