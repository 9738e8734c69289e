"""A question of Claude Code is answered through Headspace, in its terminal, or by nobody; it never goes wrong.

The hook is the installed script, run as the client runs it. The client is a process that does nothing.
"""

import os
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.stories.asking import COMMAND, QUESTIONS, Asking, printed
from tests.support import running_daemon, wait_until


@pytest.fixture
def asking(tmp_path: Path, client_pid: int) -> Iterator[Asking]:
    """A client at work."""
    with running_daemon(tmp_path) as daemon:
        yield Asking(tmp_path, daemon, client_pid)


def test_a_permission_is_given_over_the_api(asking: Asking) -> None:
    """The hook prints the decision, the client goes on, and the journal knows who it was."""
    hook = asking.ask()
    wait_id = asking.held()[0]["id"]
    reply = asking.answer({"decision": "allow"})
    assert (reply.status, reply.json()["answered"]["via"]) == (200, "api")
    assert printed(hook)["decision"] == {"behavior": "allow"}
    asking.hook("PostToolUse", tool_use_id="t1", tool_response={}, **COMMAND)
    wait_until(lambda: asking.agent["state"] == "working", "the client going on")
    (wait,) = asking.daemon.get("/api/waits?all=true").json()
    assert wait["id"] == wait_id
    assert wait["resolution"] == f"allowed by {wait['answered']['by']}"
    assert asking.daemon.verified()


def test_a_tool_that_runs_for_long_is_shown_as_running(asking: Asking) -> None:
    """The client took the answer and says nothing until the tool is done: it works meanwhile."""
    hook = asking.ask()
    asking.answer({"decision": "allow"})
    assert printed(hook)["decision"] == {"behavior": "allow"}
    wait_until(lambda: asking.agent["state"] == "working", "the client at work")
    assert asking.daemon.verified()


def test_the_same_answer_again_is_the_same_and_another_one_is_told_who_was_first(asking: Asking) -> None:
    """Nobody answers twice, and nobody is left to wonder."""
    hook = asking.ask()
    wait_id = asking.held()[0]["id"]
    first = asking.answer({"decision": "allow"}, wait_id).json()
    assert printed(hook)["decision"] == {"behavior": "allow"}
    again = asking.answer({"decision": "allow"}, wait_id)
    assert (again.status, again.json()["answered"]) == (200, first["answered"])
    other = asking.answer({"decision": "deny"}, wait_id)
    assert (other.status, other.error["code"]) == (409, "too_late")
    assert first["answered"]["at"] in other.error["message"]


def test_two_answers_at_one_moment_are_one(asking: Asking) -> None:
    """Ten people press a button at once: one of them was first, and the hook prints that one's answer."""
    hook = asking.ask()
    wait_id = asking.held()[0]["id"]
    bodies = [{"decision": "deny", "message": f"no {number}"} for number in range(10)]
    with ThreadPoolExecutor(10) as pool:
        replies = list(pool.map(lambda body: asking.answer(body, wait_id), bodies))
    assert sorted(reply.status for reply in replies) == [200] + [409] * 9
    winner = next(body for body, reply in zip(bodies, replies, strict=True) if reply.status == 200)
    assert printed(hook)["decision"] == {"behavior": "deny", "message": winner["message"]}


def test_questions_are_answered_on_the_command_line(asking: Asking) -> None:
    """By the number of an option, by labels with commas."""
    hook = asking.ask("q1", QUESTIONS)
    done = asking.headspace("answer", asking.agent["name"], "2", "S, L")
    assert done.stdout.startswith("Answered: ")
    assert printed(hook)["decision"]["updatedInput"]["answers"] == {"Which colour?": "Blue", "Which sizes?": "S, L"}


def test_a_permission_is_denied_with_a_message_on_the_command_line(asking: Asking) -> None:
    """The agent is told why."""
    hook = asking.ask()
    asking.headspace("deny", asking.agent["name"], "-m", "use the other one")
    assert printed(hook)["decision"] == {"behavior": "deny", "message": "use the other one"}


FORM = {
    "required": ["board"],
    "properties": {"board": {"type": "integer", "minimum": 1}, "urgent": {"type": "boolean"}},
}


def test_a_form_of_a_server_is_filled_in_on_the_command_line(asking: Asking) -> None:
    """Fields by name, as what the server asked for; what is wrong is named, and nothing is sent."""
    hook = asking.fire("Elicitation", mcp_server_name="boards", message="Which?", requested_schema=FORM, mode="form")
    wait_until(asking.held, "a held wait")
    shown = asking.headspace("show", asking.agent["name"]).stdout
    assert "board  whole number · required" in shown, shown
    wrong = asking.headspace("answer", asking.agent["name"], "--field", "board=0", check=False)
    assert (wrong.returncode, "at least 1" in wrong.stderr) == (1, True)
    empty = asking.headspace("answer", asking.agent["name"], check=False)
    assert (empty.returncode, "board, urgent" in empty.stderr) == (1, True)
    asking.headspace("answer", asking.agent["name"], "--field", "board=7", "-f", "urgent=yes")
    assert printed(hook) == {
        "hookEventName": "Elicitation",
        "action": "accept",
        "content": {"board": 7, "urgent": True},
    }


def test_a_form_of_a_server_is_declined(asking: Asking) -> None:
    """No field is needed for a no."""
    hook = asking.fire("Elicitation", mcp_server_name="boards", message="Which?", requested_schema=FORM)
    wait_until(asking.held, "a held wait")
    asking.headspace("answer", asking.agent["name"], "--action", "decline")
    assert printed(hook)["action"] == "decline"


def test_the_terminal_was_first(asking: Asking) -> None:
    """The dialog is answered where it stands: the hook ends at once with nothing to say, and no answer is taken."""
    hook = asking.ask()
    wait_id = asking.held()[0]["id"]
    asking.hook("PostToolUse", tool_use_id="t1", tool_response={}, **COMMAND)
    assert printed(hook) is None
    late = asking.answer({"decision": "allow"}, wait_id)
    assert (late.status, "the tool ran" in late.error["message"]) == (409, True)


def test_an_esc_ends_the_hook_and_the_hold(asking: Asking) -> None:
    """The client ends its hook: from then on only the terminal takes an answer."""
    hook = asking.ask()
    wait_id = asking.held()[0]["id"]
    hook.terminate()
    assert printed(hook) is None
    wait_until(lambda: not asking.held(), "the release")
    late = asking.answer({"decision": "allow"}, wait_id)
    assert (late.status, late.error["code"]) == (409, "too_late")


def test_two_waits_are_answered_each_for_itself(asking: Asking) -> None:
    """A sub-agent asks while the agent does: each hook gets its own answer."""
    first = asking.ask()
    other = {**COMMAND, "tool_input": {"command": "make docs"}, "agent_id": "sub1", "agent_type": "helper"}
    second = asking.ask("t2", other)
    by_summary = {wait["summary"]: wait["id"] for wait in asking.held()}
    asking.answer({"decision": "deny", "message": "no"}, by_summary["make docs"])
    asking.answer({"decision": "allow"}, by_summary["make test"])
    assert printed(second)["decision"]["behavior"] == "deny"
    assert printed(first)["decision"]["behavior"] == "allow"


def test_nobody_answers(tmp_path: Path, client_pid: int) -> None:
    """Silence is no consent: after the configured time the hook ends with nothing to say."""
    with running_daemon(tmp_path, hold_seconds=0.3) as daemon:
        asking = Asking(tmp_path, daemon, client_pid)
        asking.hook("PreToolUse", tool_use_id="t1", **COMMAND)
        assert asking.hook("PermissionRequest", **COMMAND) is None
        assert asking.agent["state"] == "waiting"
        assert not asking.held()


def test_nothing_is_held_if_nobody_wants_that(tmp_path: Path, client_pid: int) -> None:
    """With `hold_seconds = 0` the hook only tells."""
    with running_daemon(tmp_path, hold_seconds=0) as daemon:
        asking = Asking(tmp_path, daemon, client_pid)
        asking.hook("PreToolUse", tool_use_id="t1", **COMMAND)
        assert asking.hook("PermissionRequest", **COMMAND) is None
        wait_until(lambda: asking.agent["state"] == "waiting", "the wait")
        refused = asking.answer({"decision": "allow"}, daemon.get("/api/waits").json()[0]["id"])
        assert (refused.status, refused.error["code"]) == (409, "too_late")


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_daemon_that_goes_away_frees_the_client(tmp_path: Path, client_pid: int, how: str) -> None:
    """Stopped or killed while it holds a question: the hook ends, and the next daemon knows that nothing is held."""
    with running_daemon(tmp_path) as daemon:
        asking = Asking(tmp_path, daemon, client_pid)
        hook = asking.ask()
        getattr(daemon, how)()
        assert printed(hook) is None
    with running_daemon(tmp_path) as daemon:
        asking.daemon = daemon
        assert asking.agent["state"] == "waiting"
        assert not asking.held()
        assert daemon.verified()


def test_an_answer_that_does_not_fit_is_refused_and_the_question_stays(asking: Asking) -> None:
    """A permission is no question; nothing is written."""
    hook = asking.ask()
    refused = asking.answer({"answers": {"x": "y"}})
    assert (refused.status, refused.error["code"]) == (400, "answer_does_not_fit")
    assert asking.answer({"decision": "perhaps"}).status == 400
    assert asking.answer({"decision": "allow", "surprise": 1}).status == 400
    assert asking.answer({"decision": "allow"}, "nothing").status == 404
    assert len(asking.held()) == 1
    asking.answer({"decision": "allow"})
    assert printed(hook)["decision"]["behavior"] == "allow"


def test_an_agent_does_not_answer_itself(tmp_path: Path) -> None:
    """Whoever is or descends from the client is refused, token or not."""
    with running_daemon(tmp_path) as daemon:
        asking = Asking(tmp_path, daemon, os.getpid())
        hook = asking.ask()
        refused = asking.answer({"decision": "allow"})
        assert (refused.status, refused.error["code"]) == (403, "agents_may_not_act")
        done = asking.headspace("approve", asking.agent["name"], check=False)
        assert (done.returncode, "inside an agent" in done.stderr) == (1, True)
        hook.terminate()
        hook.communicate()


def test_the_name_of_the_host_does_not_hide_an_agent(tmp_path: Path) -> None:
    """A request may call us as it likes: the connection is looked at, not what it says."""
    with running_daemon(tmp_path) as daemon:
        asking = Asking(tmp_path, daemon, os.getpid())
        hook = asking.ask()
        path = f"/api/waits/{asking.held()[0]['id']}/answer"
        refused = daemon.send("POST", path, {"decision": "allow"}, {"Host": "localhost"}, scope="act")
        assert (refused.status, refused.error["code"]) == (403, "agents_may_not_act")
        hook.terminate()
        hook.communicate()


def test_whoever_does_not_wait_for_the_reply_answers_nothing(asking: Asking) -> None:
    """A process that is gone cannot be looked at, so its answer does not count."""
    hook = asking.ask()
    wait_id, body = asking.held()[0]["id"], b'{"decision": "allow"}'
    head = [
        f"POST /api/waits/{wait_id}/answer HTTP/1.1",
        "Host: 127.0.0.1",
        f"Authorization: Bearer {asking.daemon.token('act')}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]
    with socket.create_connection(("127.0.0.1", asking.daemon.port)) as connection:
        connection.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + body)
        connection.shutdown(socket.SHUT_WR)
    time.sleep(0.5)
    assert [wait["answered"] for wait in asking.held()] == [None]
    asking.answer({"decision": "allow"})
    assert printed(hook)["decision"]["behavior"] == "allow"


def test_a_session_that_is_carried_along_gives_an_agent_away(asking: Asking) -> None:
    """A program that an agent left behind has no client among its ancestors any more, but carries its session."""
    hook = asking.ask()
    done = asking.headspace("approve", asking.agent["name"], check=False, CLAUDE_CODE_SESSION_ID="s1")
    assert (done.returncode, "inside an agent" in done.stderr) == (1, True)
    asking.answer({"decision": "allow"})
    assert printed(hook)["decision"]["behavior"] == "allow"
