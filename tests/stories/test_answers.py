"""A question of Claude Code is answered through Headspace, in the terminal, or not at all.

The hook is the installed script, run as Claude Code runs it. The client is a process that does nothing.
"""

import os
import pty
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from claude_headspace.surfaces.cli.output import READING_SECONDS
from tests.stories.asking_client import COMMAND, QUESTIONS, AskingClient, printed
from tests.support import LIMIT_SECONDS, environment, running_daemon, wait_until


@pytest.fixture
def asking(tmp_path: Path, client_pid: int) -> Iterator[AskingClient]:
    """A working client."""
    with running_daemon(tmp_path) as daemon:
        yield AskingClient(tmp_path, daemon, client_pid)


def test_a_permission_is_given_over_the_api(asking: AskingClient) -> None:
    """The hook prints the decision, the client continues, and the journal records who answered."""
    hook = asking.ask()
    wait_id = asking.held()[0]["id"]
    reply = asking.answer({"decision": "allow"})
    assert (reply.status, reply.json()["answered"]["via"]) == (200, "api")
    assert printed(hook)["decision"] == {"behavior": "allow"}
    asking.hook("PostToolUse", tool_use_id="t1", tool_response={}, **COMMAND)
    wait_until(lambda: asking.agent["state"] == "working", "the client to continue")
    (wait,) = asking.daemon.get("/api/waits?all=true").json()
    assert wait["id"] == wait_id
    assert wait["resolution"] == f"allowed by {wait['answered']['by']}"
    assert asking.daemon.verified()


def test_a_tool_that_runs_for_long_is_shown_as_running(asking: AskingClient) -> None:
    """After the answer the client sends nothing until the tool ends. The agent is working during this time."""
    hook = asking.ask()
    asking.answer({"decision": "allow"})
    assert printed(hook)["decision"] == {"behavior": "allow"}
    wait_until(lambda: asking.agent["state"] == "working", "the client to work")
    assert asking.daemon.verified()


def test_a_repeated_answer_succeeds_and_a_different_one_is_refused_with_the_first_author(asking: AskingClient) -> None:
    """Only the first answer counts. A later one names it."""
    hook = asking.ask()
    wait_id = asking.held()[0]["id"]
    first = asking.answer({"decision": "allow"}, wait_id).json()
    assert printed(hook)["decision"] == {"behavior": "allow"}
    again = asking.answer({"decision": "allow"}, wait_id)
    assert (again.status, again.json()["answered"]) == (200, first["answered"])
    other = asking.answer({"decision": "deny"}, wait_id)
    assert (other.status, other.error["code"]) == (409, "too_late")
    assert first["answered"]["at"] in other.error["message"]


def test_only_one_of_ten_simultaneous_answers_wins(asking: AskingClient) -> None:
    """Ten people press a button at the same time. One request succeeds, and the hook prints its answer."""
    hook = asking.ask()
    wait_id = asking.held()[0]["id"]
    bodies = [{"decision": "deny", "message": f"no {number}"} for number in range(10)]
    with ThreadPoolExecutor(10) as pool:
        replies = list(pool.map(lambda body: asking.answer(body, wait_id), bodies))
    assert sorted(reply.status for reply in replies) == [200] + [409] * 9
    winner = next(body for body, reply in zip(bodies, replies, strict=True) if reply.status == 200)
    assert printed(hook)["decision"] == {"behavior": "deny", "message": winner["message"]}


def test_questions_are_answered_on_the_command_line(asking: AskingClient) -> None:
    """An answer is the number of an option, or labels separated by commas."""
    hook = asking.ask("q1", QUESTIONS)
    done = asking.headspace("answer", asking.agent["name"], "2", "S, L")
    assert done.stdout.endswith(": Which colour? “Blue”; Which sizes? “S, L”\n"), done.stdout
    assert printed(hook)["decision"]["updatedInput"]["answers"] == {"Which colour?": "Blue", "Which sizes?": "S, L"}


def test_a_number_that_is_no_option_is_refused(asking: AskingClient) -> None:
    """The error lists the options, and nothing is sent."""
    hook = asking.ask("q1", QUESTIONS)
    wrong = asking.headspace("answer", asking.agent["name"], "3", "S", check=False)
    assert wrong.returncode == 1
    assert "3 is not an option of “Which colour?”." in wrong.stderr
    assert "1. Red, 2. Blue" in wrong.stderr
    assert asking.held()[0]["answered"] is None
    asking.headspace("answer", asking.agent["name"], "Green, or 3", "1, 2")
    answers = printed(hook)["decision"]["updatedInput"]["answers"]
    assert answers == {"Which colour?": "Green, or 3", "Which sizes?": "S, L"}


@pytest.mark.parametrize(
    "given", [("1,2", "S"), ("2.", "S"), ("1 2", "S"), ("1", "1, 9"), ("1", "1,"), (" ", "1"), ("#3", "1")]
)
def test_numbers_that_name_no_option_are_never_free_text(asking: AskingClient, given: tuple[str, str]) -> None:
    """A list for a single choice, a number with a dot, an empty part: the error lists the options."""
    hook = asking.ask("q1", QUESTIONS)
    wrong = asking.headspace("answer", asking.agent["name"], *given, check=False)
    assert (wrong.returncode, "is not an option of" in wrong.stderr) == (1, True)
    assert "The options are: 1. " in wrong.stderr
    assert asking.held()[0]["answered"] is None
    asking.headspace("deny", asking.agent["name"])
    assert printed(hook)["decision"]["behavior"] == "deny"


def test_the_wrong_command_names_the_right_one(asking: AskingClient) -> None:
    """`approve` on a question, `answer` on a permission: nothing is sent."""
    first = asking.ask()
    name = asking.agent["name"]
    wrong = asking.headspace("answer", name, "1", check=False)
    assert (wrong.returncode, f"headspace approve {name}" in wrong.stderr) == (1, True)
    assert "not for an answer" in wrong.stderr
    asking.headspace("deny", name)
    assert printed(first)["decision"]["behavior"] == "deny"
    asking.hook("PostToolUseFailure", tool_use_id="t1", error="denied", **COMMAND)
    second = asking.ask("q1", QUESTIONS)
    wrong = asking.headspace("approve", name, check=False)
    assert (wrong.returncode, f"headspace answer {name}" in wrong.stderr) == (1, True)
    asking.headspace("deny", name)
    assert printed(second)["decision"]["behavior"] == "deny"


SCRIPT = {"tool_name": "Bash", "tool_input": {"command": "for each in a b\ndo\n    echo $each\ndone\ngit push --force"}}
SUGGESTED = [
    {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "make:*"}],
        "behavior": "allow",
        "destination": "session",
    },
    {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
]


def test_the_complete_request_is_shown_and_printed(asking: AskingClient) -> None:
    """`show` and `approve` contain every line of a command with its indentation."""
    hook = asking.ask("t1", SCRIPT)
    name = asking.agent["name"]
    lines = ["    for each in a b", "    do", "        echo $each", "    done", "    git push --force"]
    assert "\n".join(lines) in asking.headspace("show", name).stdout
    done = asking.headspace("approve", name)
    assert done.stdout.startswith(f"Allowed: {name} wants to run: ")
    assert "\n".join(lines) in done.stdout
    assert printed(hook)["decision"] == {"behavior": "allow"}


def test_a_long_request_is_printed_completely_before_it_is_approved(asking: AskingClient) -> None:
    """Its middle is on the screen, too, which other views leave out."""
    lines = [f"echo line {number}" for number in range(4000)]
    hook = asking.ask("t1", {"tool_name": "Bash", "tool_input": {"command": "\n".join(lines)}})
    name = asking.agent["name"]
    assert "left out" in asking.headspace("show", name).stdout
    done = asking.headspace("approve", name)
    assert "\n".join(f"    {each}" for each in lines) in done.stdout
    assert "left out" not in done.stdout
    assert printed(hook)["decision"] == {"behavior": "allow"}


def test_a_request_that_headspace_does_not_have_completely_needs_an_option(asking: AskingClient) -> None:
    """`--yes` is refused. `--incomplete` approves it."""
    hook = asking.ask("t1", {"tool_name": "Bash", "tool_input": {"command": "echo … [900 bytes left out] … end"}})
    name = asking.agent["name"]
    refused = asking.headspace("approve", name, "--yes", check=False)
    assert (refused.returncode, "does not have the complete request" in refused.stderr) == (1, True)
    assert "--incomplete" in refused.stderr
    assert asking.held()[0]["answered"] is None
    assert "left out: 900 characters" in asking.headspace("approve", name, "--yes", "--incomplete").stdout
    assert printed(hook)["decision"] == {"behavior": "allow"}


def test_only_named_suggestions_are_granted_on_the_command_line(asking: AskingClient) -> None:
    """`--always` is refused with the list. `--grant` grants one suggestion, and `show` and `why` list it."""
    hook = asking.ask("t1", {**COMMAND, "permission_suggestions": SUGGESTED})
    name = asking.agent["name"]
    rule, mode = asking.daemon.get(f"/api/waits/{asking.held()[0]['id']}").json()["suggestions"]
    refused = asking.headspace("approve", name, "--always", check=False)
    assert refused.returncode == 1
    for each in (rule, mode):
        assert f"{each['id']}: {each['words']}, for {each['destination']}" in refused.stderr
    unknown = asking.headspace("approve", name, "--grant", "nothing", check=False)
    assert (unknown.returncode, "nothing is not a suggestion" in unknown.stderr) == (1, True)
    assert rule["id"] in asking.headspace("show", name).stdout
    done = asking.headspace("approve", name, "--grant", rule["id"])
    assert f"Grants: {rule['words']}, for this session" in done.stdout
    assert mode["words"] not in done.stdout
    assert printed(hook)["decision"]["updatedPermissions"] == SUGGESTED[:1]
    asking.hook("PostToolUse", tool_use_id="t1", tool_response={}, **COMMAND)
    wait_until(lambda: asking.daemon.agent(asking.agent["id"])["grants"], "the grant")
    for command in ("show", "why"):
        assert f"{rule['words']}, for this session (by " in asking.headspace(command, name).stdout


@pytest.mark.parametrize(("typed", "decision"), [("y\n", {"behavior": "allow"}), ("\n", None)])
def test_an_approval_on_a_terminal_asks_first(asking: AskingClient, typed: str, decision: object) -> None:
    """The complete request is shown before the question. Only y allows, and not within half a second."""
    hook = asking.ask("t1", SCRIPT)
    leader, terminal = pty.openpty()
    command = [sys.executable, "-m", "claude_headspace", "approve", asking.agent["name"]]
    with subprocess.Popen(command, env=environment(asking.home), stdin=terminal, stdout=terminal) as approve:
        os.close(terminal)
        shown = b""
        while b"Allow this? [y/N]" not in shown:
            shown += os.read(leader, 4096)
        assert b"git push --force" in shown
        assert asking.held()[0]["answered"] is None
        if decision:
            os.write(leader, typed.encode())
            while b"Too early" not in shown:
                shown += os.read(leader, 4096)
            while shown.count(b"[y/N]") < 2:
                shown += os.read(leader, 4096)
            assert asking.held()[0]["answered"] is None
            time.sleep(2 * READING_SECONDS)
        os.write(leader, typed.encode())
        assert approve.wait(LIMIT_SECONDS) == (0 if decision else 1)
    os.close(leader)
    if decision is None:
        assert asking.held()[0]["answered"] is None
        asking.headspace("deny", asking.agent["name"])
    assert printed(hook)["decision"]["behavior"] == ("deny" if decision is None else "allow")


def test_a_changed_input_is_shown_and_confirmed(asking: AskingClient) -> None:
    """What runs, marked as changed, and what was asked for."""
    hook = asking.ask()
    new_input = '{"command": "make other\\nforged: x"}'
    done = asking.headspace("approve", asking.agent["name"], "--input", new_input, "--yes")
    first, *others = done.stdout.splitlines()
    assert first.startswith("Allowed with a changed input: command: make other │ forged: x. Originally ")
    changed = others.index("  Changed input, which runs instead:")
    assert others[changed + 1 : changed + 3] == ["    command: make other", "      │ forged: x"]
    assert first.endswith(": make test")
    assert printed(hook)["decision"]["updatedInput"]["command"] == "make other\nforged: x"
    assert asking.daemon.get("/api/waits?all=true").json()[0]["answered"]["words"] == "allowed with a changed input"


def test_a_permission_is_denied_with_a_message_on_the_command_line(asking: AskingClient) -> None:
    """The agent receives the message."""
    hook = asking.ask()
    asking.headspace("deny", asking.agent["name"], "-m", "use the other one")
    assert printed(hook)["decision"] == {"behavior": "deny", "message": "use the other one"}


FORM = {
    "required": ["board"],
    "properties": {"board": {"type": "integer", "minimum": 1}, "urgent": {"type": "boolean"}},
}


def test_a_form_of_a_server_is_filled_in_on_the_command_line(asking: AskingClient) -> None:
    """Fields are given by name and converted to the types of the schema. A wrong value is named and nothing is sent."""
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


def test_a_form_of_a_server_is_declined(asking: AskingClient) -> None:
    """A refusal needs no fields."""
    hook = asking.fire("Elicitation", mcp_server_name="boards", message="Which?", requested_schema=FORM)
    wait_until(asking.held, "a held wait")
    asking.headspace("answer", asking.agent["name"], "--action", "decline")
    assert printed(hook)["action"] == "decline"


def test_an_answer_in_the_terminal_wins(asking: AskingClient) -> None:
    """After an answer in the terminal the hook ends at once without output, and later answers are refused."""
    hook = asking.ask()
    wait_id = asking.held()[0]["id"]
    asking.hook("PostToolUse", tool_use_id="t1", tool_response={}, **COMMAND)
    assert printed(hook) is None
    late = asking.answer({"decision": "allow"}, wait_id)
    assert (late.status, "the tool ran" in late.error["message"]) == (409, True)


def test_esc_ends_the_hook_and_the_held_wait(asking: AskingClient) -> None:
    """The client ends its hook. Then only the terminal accepts an answer."""
    hook = asking.ask()
    wait_id = asking.held()[0]["id"]
    hook.terminate()
    assert printed(hook) is None
    wait_until(lambda: not asking.held(), "the release")
    late = asking.answer({"decision": "allow"}, wait_id)
    assert (late.status, late.error["code"]) == (409, "too_late")


def test_two_waits_are_answered_separately(asking: AskingClient) -> None:
    """A sub-agent and its agent ask at the same time. Each hook gets its own answer."""
    first = asking.ask()
    other = {**COMMAND, "tool_input": {"command": "make docs"}, "agent_id": "sub1", "agent_type": "helper"}
    second = asking.ask("t2", other)
    by_summary = {wait["summary"]: wait["id"] for wait in asking.held()}
    asking.answer({"decision": "deny", "message": "no"}, by_summary["make docs"])
    asking.answer({"decision": "allow"}, by_summary["make test"])
    assert printed(second)["decision"]["behavior"] == "deny"
    assert printed(first)["decision"]["behavior"] == "allow"


def test_an_open_request_is_never_chosen_blindly(asking: AskingClient) -> None:
    """With several, the commands list them with their ids. All surfaces name the oldest first."""
    first = asking.ask("t1", {"tool_name": "Bash", "tool_input": {"command": "touch one"}})
    second = asking.ask("t2", {"tool_name": "Bash", "tool_input": {"command": "mkdir two"}})
    name, ids = asking.agent["name"], [wait["id"] for wait in asking.agent["waits"]]
    assert "wants to run: touch one (and 1 more)" in asking.headspace("list").stdout
    shown = asking.headspace("show", name).stdout
    assert shown.index("touch one") < shown.index("mkdir two")
    assert all(f"headspace approve {name} -w {each}" in " ".join(shown.split()) for each in ids)
    for command in ("approve", "deny"):
        refused = asking.headspace(command, name, check=False)
        assert (refused.returncode, "has 2 open requests. Nothing was answered." in refused.stderr) == (1, True)
        assert f"-w {ids[0]}  wants to run: touch one" in refused.stderr
        assert f"-w {ids[1]}  wants to run: mkdir two" in refused.stderr
    assert "mkdir two" in asking.headspace("approve", name, "-w", ids[1]).stdout
    assert printed(second)["decision"]["behavior"] == "allow"
    assert "touch one" in asking.headspace("deny", name).stdout  # the only one without an answer
    assert printed(first)["decision"]["behavior"] == "deny"


def test_a_command_takes_the_request_that_it_fits(asking: AskingClient) -> None:
    """A question beside a permission makes neither `approve` nor `answer` ambiguous."""
    question = asking.ask("q1", QUESTIONS)
    permission = asking.ask("t1")
    assert "make test" in asking.headspace("approve", asking.agent["name"]).stdout
    assert printed(permission)["decision"]["behavior"] == "allow"
    asking.headspace("answer", asking.agent["name"], "Blue", "S")
    assert printed(question)["decision"]["behavior"] == "allow"


def test_without_an_answer_the_hook_ends_silently(tmp_path: Path, client_pid: int) -> None:
    """After the configured time the hook ends without output. This is not an approval."""
    with running_daemon(tmp_path, hold_seconds=0.3) as daemon:
        asking = AskingClient(tmp_path, daemon, client_pid)
        asking.hook("PreToolUse", tool_use_id="t1", **COMMAND)
        assert asking.hook("PermissionRequest", **COMMAND) is None
        assert asking.agent["state"] == "waiting"
        assert not asking.held()


def test_hold_seconds_zero_holds_nothing(tmp_path: Path, client_pid: int) -> None:
    """With `hold_seconds = 0` the hook only reports."""
    with running_daemon(tmp_path, hold_seconds=0) as daemon:
        asking = AskingClient(tmp_path, daemon, client_pid)
        asking.hook("PreToolUse", tool_use_id="t1", **COMMAND)
        assert asking.hook("PermissionRequest", **COMMAND) is None
        wait_until(lambda: asking.agent["state"] == "waiting", "the wait")
        refused = asking.answer({"decision": "allow"}, daemon.get("/api/waits").json()[0]["id"])
        assert (refused.status, refused.error["code"]) == (409, "too_late")


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_the_end_of_the_daemon_releases_the_client(tmp_path: Path, client_pid: int, how: str) -> None:
    """If the daemon stops or is killed while it holds a question, the hook ends. The next daemon shows no held wait."""
    with running_daemon(tmp_path) as daemon:
        asking = AskingClient(tmp_path, daemon, client_pid)
        hook = asking.ask()
        getattr(daemon, how)()
        assert printed(hook) is None
    with running_daemon(tmp_path) as daemon:
        asking.daemon = daemon
        assert asking.agent["state"] == "waiting"
        assert not asking.held()
        why = "Headspace was stopped or restarted while the dialog was open."
        shown = " ".join(asking.headspace("show", asking.agent["name"]).stdout.split())
        assert f"Answer it in the terminal of the agent. {why}" in shown
        refused = asking.headspace("approve", asking.agent["name"], check=False)
        assert (refused.returncode, refused.stderr.startswith(why)) == (1, True)
        assert daemon.verified()


def test_an_invalid_answer_is_refused_and_the_wait_stays_open(asking: AskingClient) -> None:
    """A permission does not accept answers to questions. Nothing is stored."""
    hook = asking.ask()
    refused = asking.answer({"answers": {"x": "y"}})
    assert (refused.status, refused.error["code"]) == (400, "answer_does_not_fit")
    assert asking.answer({"decision": "perhaps"}).status == 400
    assert asking.answer({"decision": "allow", "surprise": 1}).status == 400
    assert asking.answer({"decision": "allow"}, "nothing").status == 404
    assert len(asking.held()) == 1
    asking.answer({"decision": "allow"})
    assert printed(hook)["decision"]["behavior"] == "allow"


def test_an_agent_cannot_answer_its_own_question(tmp_path: Path) -> None:
    """The client and its descendants are refused, even with a token."""
    with running_daemon(tmp_path) as daemon:
        asking = AskingClient(tmp_path, daemon, os.getpid())
        hook = asking.ask()
        refused = asking.answer({"decision": "allow"})
        assert (refused.status, refused.error["code"]) == (403, "agents_may_not_act")
        done = asking.headspace("approve", asking.agent["name"], check=False)
        assert (done.returncode, "inside an agent" in done.stderr) == (1, True)
        hook.terminate()
        hook.communicate()


def test_another_host_header_does_not_hide_an_agent(tmp_path: Path) -> None:
    """The check uses the connection, not the Host header."""
    with running_daemon(tmp_path) as daemon:
        asking = AskingClient(tmp_path, daemon, os.getpid())
        hook = asking.ask()
        path = f"/api/waits/{asking.held()[0]['id']}/answer"
        refused = daemon.send("POST", path, {"decision": "allow"}, {"Host": "localhost"}, scope="act")
        assert (refused.status, refused.error["code"]) == (403, "agents_may_not_act")
        hook.terminate()
        hook.communicate()


def test_an_answer_without_waiting_for_the_reply_does_not_count(asking: AskingClient) -> None:
    """An ended process cannot be checked, so its answer does not count."""
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


def test_an_agent_is_recognized_by_the_session_id_in_its_environment(asking: AskingClient) -> None:
    """A program that outlives its client has no client among its ancestors, but still has the session id."""
    hook = asking.ask()
    done = asking.headspace("approve", asking.agent["name"], check=False, CLAUDE_CODE_SESSION_ID="s1")
    assert (done.returncode, "inside an agent" in done.stderr) == (1, True)
    asking.answer({"decision": "allow"})
    assert printed(hook)["decision"]["behavior"] == "allow"
