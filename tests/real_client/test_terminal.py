"""The real client reached in its terminal: what is sent arrives once, jump lands with it, resume brings it back.

Once by commands, once from the board (`headspace top`), with somebody in front of a terminal.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_headspace.surfaces.launch.supervise import RESTART_PROMPT
from tests.real_client.model import bash, reply, text
from tests.real_client.place import Place, placed
from tests.support import wait_until
from tests.support_rpc import call

SEVERAL = "Three lines:\n  the second; with $(id) and 'quotes'\nand a last one;"


SCRIPT = {
    "Say hello": [reply(text("Hello."))],
    "Three lines": [reply(text("Read."))],
    "Fill it": [reply(bash("true")), reply(text("This would be said too late."))],
    "detailed summary": [reply(text("So would this."), held="never")],
    RESTART_PROMPT: [reply(text("Going on."))],
}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A client's home, and a model that says little."""
    with placed(tmp_path, SCRIPT) as made:
        yield made


def test_a_client_is_sent_to_and_brought_back(place: Place) -> None:
    """One line and several arrive once and whole; its own status line tells its numbers; it ends, and is resumed."""
    client = place.client()
    agent = place.agent("idle")
    for words in ("Say hello; and no more.", SEVERAL):
        done = place.headspace("send", agent["name"], "--", words)
        assert (done.stdout, done.stderr) == (f"{agent['name']} received the text.\n", ""), client.screen
        place.agent("idle")
    assert [each.split() for each in place.said(agent)] == ["Say hello; and no more.".split(), SEVERAL.split()]
    wait_until(lambda: place.daemon.agent(agent["id"])["cost_usd"] is not None, "what it cost")
    assert place.daemon.agent(agent["id"])["context_percent"] is not None
    client.write("/exit")
    client.send()
    place.agent("ended")
    pane = place.in_terminal("resume", agent["name"])
    back = place.agent("idle", id=agent["id"])
    assert (back["session_id"], back["tmux"]["pane"]) == (agent["session_id"], pane)
    assert place.daemon.verified()


def test_a_client_is_reached_from_the_board(place: Place) -> None:
    """`run` makes one agent of placeholder and client; from `top` a prompt arrives once, enter lands in its pane from
    another session, and r brings it back after its end.
    """
    pane = place.in_terminal("run", "--name", "runner")
    agent = place.agent("idle", name="runner")
    assert len(place.daemon.agents()) == 1
    assert agent["tmux"]["pane"] == pane
    board = place.in_terminal("top")
    place.shows(board, "runner")
    place.keys(board, "s")
    place.shows(board, "to runner")
    place.keys(board, "-l", "Say hello, runner.")
    place.keys(board, "Enter")
    place.shows(board, "runner received the text.")
    assert place.said(agent) == ["Say hello, runner."]
    with place.somebody_before(board):
        place.keys(board, "Enter")
        wait_until(lambda: place.in_front() == pane, "the client's pane in front")
    place.agent("idle", name="runner")
    place.keys(pane, "-l", "--", "/exit")
    place.keys(pane, "Enter")
    place.agent("ended", name="runner")
    place.shows(board, "ended")
    place.keys(board, "r")
    back = place.agent("idle", name="runner")
    assert (back["id"], back["session_id"], back["cwd"]) == (agent["id"], agent["session_id"], agent["cwd"])
    assert back["tmux"]["pane"] not in (pane, board)
    place.keys(board, "q")


def test_a_supervised_client_is_started_anew_with_what_was_handed_over(place: Place) -> None:
    """Its context is full: it is ended instead of compacted, and goes on as the same agent; `/exit` ends both."""
    here = {"cwd": str(place.home.project)}
    call(place.daemon, "effort.start", {"skill": "fix", **here})
    call(place.daemon, "effort.dehydrate", {"text": "NEXT-IS-7315", **here})
    options = ("--permission-mode", "default", "--allowedTools", "Bash")
    given = ("run", "--supervise", "--name", "phoenix", "--prompt", "Fill it", *options)
    pane = place.in_terminal(*given, CLAUDE_AUTOCOMPACT_PCT_OVERRIDE="1")
    wait_until(lambda: "Going on." in place.terminals("capture-pane", "-p", "-t", pane), "the new client to go on")
    agent = place.agent("idle", name="phoenix")
    assert agent["supervision"]["restarts"] == 1
    assert agent["supervision"]["reason"] == "its context is being compacted"
    assert "NEXT-IS-7315" in next(each for each in map(json.dumps, place.model.requests) if RESTART_PROMPT in each)
    first, second = call(place.daemon, "effort.show", here)["sessions"]
    assert (second["prev_session_id"], first["end_reason"]) == (first["id"], "other")
    place.terminals("send-keys", "-t", pane, "-l", "--", "/exit")
    place.terminals("send-keys", "-t", pane, "Enter")
    place.agent("ended", name="phoenix")
    assert place.daemon.verified()
