"""The real client in its terminal: prompts arrive once, jump opens its pane, resume starts it again.

Tested with commands and from the board (`headspace top`), with a user attached to a terminal.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_headspace.surfaces.launch.restart_prompt import CHECK_FIRST, EARLIER_HANDOVER
from claude_headspace.surfaces.tui.key_guard import QUIET_SECONDS
from tests.real_client.model import bash, reply, text
from tests.real_client.program import VERSIONS
from tests.real_client.workspace import Workspace, open_workspace
from tests.support import wait_until
from tests.support_rpc import call

SEVERAL = "Three lines:\n  the second; with $(id) and 'quotes'\nand a last one;"


SCRIPT = {
    "Say hello": [reply(text("Hello."))],
    "Three lines": [reply(text("Read."))],
    "Fill it": [reply(bash("true")), reply(text("This would be said too late."))],
    "detailed summary": [reply(text("So would this."), held="never")],
    CHECK_FIRST: [reply(text("Going on."))],
    "Look around": [reply(bash("true")), reply(bash("true")), reply(text("I looked around."), tokens=150_000)],
    "Then the invoice": [reply(text("The invoice is done."))],
}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A workspace with a scripted model."""
    with open_workspace(tmp_path, SCRIPT) as made:
        yield made


def test_prompts_are_sent_to_a_client_and_it_is_resumed(workspace: Workspace) -> None:
    """Prompts of one and several lines arrive once and complete. The status line reports usage. Resume works."""
    client = workspace.client()
    agent = workspace.agent("idle")
    for words in ("Say hello; and no more.", SEVERAL):
        done = workspace.headspace("send", agent["name"], "--", words)
        assert (done.stdout, done.stderr) == (f"{agent['name']} received the prompt.\n", ""), client.screen
        workspace.agent("idle")
    assert [each.split() for each in workspace.user_turns(agent)] == [
        "Say hello; and no more.".split(),
        SEVERAL.split(),
    ]
    wait_until(lambda: workspace.daemon.agent(agent["id"])["cost_usd"] is not None, "the cost")
    assert workspace.daemon.agent(agent["id"])["context_percent"] is not None
    client.write("/exit")
    client.send()
    workspace.agent("ended")
    pane = workspace.in_terminal("resume", agent["name"])
    back = workspace.agent("idle", id=agent["id"])
    assert (back["session_id"], back["tmux"]["pane"]) == (agent["session_id"], pane)
    assert workspace.daemon.verified()


def test_a_client_is_controlled_from_the_board(workspace: Workspace) -> None:
    """`run` merges placeholder and client into one agent. From `top` a prompt arrives once, Enter opens the pane from
    another session, and r resumes the client after its end.
    """
    pane = workspace.in_terminal("run", "--name", "runner")
    agent = workspace.agent("idle", name="runner")
    assert len(workspace.daemon.agents()) == 1
    assert agent["tmux"]["pane"] == pane
    board = workspace.in_terminal("top")
    workspace.shows(board, "runner")
    workspace.keys(board, "s")
    workspace.shows(board, "to runner")
    workspace.keys(board, "-l", "Say hello, runner.")
    workspace.keys(board, "Enter")
    workspace.shows(board, "runner received the prompt.")
    assert workspace.user_turns(agent) == ["Say hello, runner."]
    with workspace.user_in_front_of(board):
        time.sleep(2 * QUIET_SECONDS)  # the terminal got the focus: until then the key would not count
        workspace.keys(board, "Enter")
        wait_until(lambda: workspace.pane_in_front() == pane, "the client's pane in front")
    workspace.agent("idle", name="runner")
    workspace.keys(pane, "-l", "--", "/exit")
    workspace.keys(pane, "Enter")
    workspace.agent("ended", name="runner")
    workspace.shows(board, "ended")
    workspace.keys(board, "r")
    back = workspace.agent("idle", name="runner")
    assert (back["id"], back["session_id"], back["cwd"]) == (agent["id"], agent["session_id"], agent["cwd"])
    assert back["tmux"]["pane"] not in (pane, board)
    workspace.keys(board, "q")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_draft_is_never_mixed_with_a_prompt(tmp_path: Path, version: str) -> None:
    """A draft is refused and quoted. With `--keep-draft` it is back afterwards, also if it was pasted. Commands of the
    client are recognised as delivered.
    """
    with open_workspace(tmp_path, SCRIPT, version) as workspace:
        client = workspace.client()
        name = workspace.agent("idle")["name"]
        client.write("please DELETE everything in")
        refused = workspace.headspace("send", name, "Say hello")
        assert (refused.returncode, "“please DELETE everything in”" in refused.stderr) == (1, True), refused.stderr
        kept = workspace.headspace("send", name, "--keep-draft", "Say hello")
        assert kept.stdout == f"{name} received the prompt. The draft is back in its input box.\n", kept.stderr
        assert "please DELETE everything in" in client.input
        client.press("C-u")
        workspace.terminals("set-buffer", "-b", "draft", "--", SEVERAL + "\nand\nmore\nlines")
        workspace.terminals("paste-buffer", "-p", "-d", "-r", "-b", "draft", "-t", client.pane)
        wait_until(lambda: "Pasted text" in client.input, "the pasted draft")
        kept = workspace.headspace("send", name, "--keep-draft", "!echo only this")
        assert kept.stdout == f"{name} received the prompt. The draft is back in its input box.\n", kept.stderr
        assert "Pasted text" in client.input
        client.press("C-u")
        wait_until(lambda: "Pasted text" not in client.input, "an empty input box")
        workspace.agent("idle")
        taken = workspace.headspace("send", name, "/model")
        assert taken.stdout == f"{name} received the prompt.\n", taken.stderr
        assert not [each for each in map(json.dumps, workspace.model.requests) if "DELETE" in each or "Three" in each]


def test_a_supervised_client_restarts_with_the_handover(workspace: Workspace) -> None:
    """A client with a full context is ended, not compacted, and continues as the same agent. `/exit` ends both."""
    here = {"cwd": str(workspace.home.project)}
    call(workspace.daemon, "effort.start", {"skill": "fix", **here})
    call(workspace.daemon, "effort.dehydrate", {"text": "NEXT-IS-7315", **here})
    options = ("--permission-mode", "default", "--allowedTools", "Bash")
    given = ("run", "--supervise", "--name", "phoenix", "--prompt", "Fill it", *options)
    pane = workspace.in_terminal(*given, CLAUDE_AUTOCOMPACT_PCT_OVERRIDE="1")
    wait_until(
        lambda: "Going on." in workspace.terminals("capture-pane", "-p", "-t", pane), "the new client to continue"
    )
    agent = workspace.agent("idle", name="phoenix")
    assert agent["supervision"]["restarts"] == 1
    assert agent["supervision"]["reason"] == "its context is being compacted"
    continued = next(each for each in map(json.dumps, workspace.model.requests) if CHECK_FIRST in each)
    for part in ("NEXT-IS-7315", EARLIER_HANDOVER, "had not finished this prompt:\\n\\nFill it"):
        assert part in continued
    first, second = call(workspace.daemon, "effort.show", here)["sessions"]
    assert (second["prev_session_id"], first["end_reason"]) == (first["id"], "other")
    workspace.terminals("send-keys", "-t", pane, "-l", "--", "/exit")
    workspace.terminals("send-keys", "-t", pane, "Enter")
    workspace.agent("ended", name="phoenix")
    assert workspace.daemon.verified()


def test_the_prompt_that_triggers_the_compaction_is_carried_over(workspace: Workspace) -> None:
    """Requirement: "kills Claude … watchdog restarts Claude". The new client gets the prompt of the old one."""
    here = {"cwd": str(workspace.home.project)}
    call(workspace.daemon, "effort.start", {"skill": "fix", **here})
    given = ("run", "--supervise", "--name", "phoenix", "--prompt", "Look around", "--allowedTools", "Bash")
    pane = workspace.in_terminal(*given, CLAUDE_AUTOCOMPACT_PCT_OVERRIDE="5")
    agent = workspace.agent("idle", name="phoenix")
    workspace.shows(pane, "I looked around.")
    workspace.keys(pane, "-l", "--", "Then the invoice")
    workspace.keys(pane, "Enter")
    workspace.shows(pane, "The invoice is done.")
    wait_until(lambda: workspace.daemon.agent(agent["id"])["supervision"]["restarts"] == 1, "the restart")
    answered = [each for each in map(json.dumps, workspace.model.requests) if "Then the invoice" in each]
    assert not [each for each in answered if "I looked around." in each]  # only the new session saw it
    assert not [each for each in answered if "andover" in each.partition("Then the invoice")[2]]
    workspace.keys(pane, "-l", "--", "/exit")
    workspace.keys(pane, "Enter")
    workspace.agent("ended", name="phoenix")
    assert workspace.daemon.verified()
