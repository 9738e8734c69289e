"""A person sees the complete request of an agent before answering: command, diff, arguments, plan and question."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from claude_headspace.surfaces.auth.tokens import Scope
from claude_headspace.surfaces.client.api_client import ApiClient
from tests.stories.asking_client import COMMAND, QUESTIONS, AskingClient, Hook, printed
from tests.stories.asking_gemini import AskingGemini
from tests.support import running_daemon, wait_until

LINES = [f"line {number}\n" for number in range(1, 41)]
SECRET = "sk-" + "a1B2" * 8


class Client(AskingClient):
    """A client whose hooks end with the test."""

    hooks: ClassVar[list[Hook]] = []

    def fire(self, event: str, **payload: Any) -> Hook:
        """Start a hook of the client."""
        self.hooks.append(super().fire(event, **payload))
        return self.hooks[-1]


@pytest.fixture
def asking(tmp_path: Path, client_pid: int) -> Iterator[AskingClient]:
    """A working client."""
    with running_daemon(tmp_path) as daemon:
        (tmp_path / "app.py").write_text("".join(LINES))
        client = Client(tmp_path, daemon, client_pid)
        try:
            yield client
        finally:
            for hook in client.hooks:
                hook.terminate()
                if hook.stdout is not None and not hook.stdout.closed:
                    hook.communicate()
            client.hooks.clear()


def details(
    asking: AskingClient, tool: str, tool_input: dict[str, Any], query: str = "", **more: Any
) -> dict[str, Any]:
    """The wait of a dialog about a tool call."""
    asking.ask(about={"tool_name": tool, "tool_input": tool_input, **more})
    return shown(asking, asking.held()[0]["id"], query)


def shown(asking: AskingClient, wait_id: str, query: str = "") -> dict[str, Any]:
    """A wait with its request."""
    reply = asking.daemon.get(f"/api/waits/{wait_id}{query}")
    assert reply.status == 200, reply
    found: dict[str, Any] = reply.json()
    return found


def end(asking: AskingClient, tool: str, tool_input: dict[str, Any]) -> None:
    """The dialog is answered in the terminal, and the tool runs."""
    asking.hook("PostToolUse", tool_use_id="t1", tool_response={}, tool_name=tool, tool_input=tool_input)
    wait_until(lambda: not asking.held(), "the end of the wait")


def test_a_command_is_shown_verbatim(asking: AskingClient) -> None:
    """All sixty lines with their line breaks, and the arguments by name."""
    command = "\n".join(f"echo {number}" for number in range(60)) + " && git push --force"
    wait = details(asking, "Bash", {"command": command, "description": "Count"})
    assert wait["request"] == {
        "text": command,
        "diff": "",
        "arguments": {"command": command, "description": "Count"},
        "path": "",
        "paths": [],
        "complete": True,
        "left_out": 0,
    }
    assert (wait["kind"], wait["tool"], wait["agent_id"]) == ("permission", "Bash", asking.agent["id"])


def test_an_edit_is_shown_as_a_diff_of_the_file(asking: AskingClient) -> None:
    """With the line numbers of the file and three lines of context."""
    path = str(asking.home / "app.py")
    wait = details(asking, "Edit", {"file_path": path, "old_string": "line 20\n", "new_string": "line twenty\n"})
    assert wait["request"]["text"] == "Edit app.py"
    assert wait["request"]["diff"] == (
        "--- a/app.py\n+++ b/app.py\n@@ -17,7 +17,7 @@\n line 17\n line 18\n line 19\n"
        "-line 20\n+line twenty\n line 21\n line 22\n line 23\n"
    )
    assert wait["request"]["complete"]


def test_several_edits_are_one_diff(asking: AskingClient) -> None:
    """Each edit is applied to the result of the one before."""
    edits = [{"old_string": "line 3\n", "new_string": ""}, {"old_string": "line 30\n", "new_string": "thirty\n"}]
    wait = details(asking, "MultiEdit", {"file_path": str(asking.home / "app.py"), "edits": edits})
    assert wait["request"]["diff"].count("@@ -") == 2
    assert "-line 30\n+thirty\n" in wait["request"]["diff"]


def test_a_written_file_is_compared_with_the_file_that_is_there(asking: AskingClient) -> None:
    """A new file has no old side."""
    changed = "".join(LINES).replace("line 7\n", "seven\n")
    wait = details(asking, "Write", {"file_path": str(asking.home / "app.py"), "content": changed})
    assert "-line 7\n+seven\n" in wait["request"]["diff"]
    asking.answer({"decision": "deny"})
    asking.hook("PreToolUse", tool_use_id="t2", tool_name="Write", tool_input={"file_path": "/x", "content": ""})
    fresh = {"tool_name": "Write", "tool_input": {"file_path": str(asking.home / "new.py"), "content": "x = 1\n"}}
    asking.ask("t3", fresh)
    request = shown(asking, asking.held()[-1]["id"])["request"]
    assert (request["text"], request["diff"]) == (
        "Write new.py",
        "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x = 1\n",
    )


def test_a_notebook_is_shown_by_cell(asking: AskingClient) -> None:
    """The diff is that of the cell's source, not of the file."""
    notebook = {"cells": [{"id": "abc", "source": ["a = 1\n", "b = 2\n"]}]}
    (asking.home / "n.ipynb").write_text(json.dumps(notebook))
    given = {"notebook_path": str(asking.home / "n.ipynb"), "cell_id": "abc", "new_source": "a = 1\nb = 3\n"}
    wait = details(asking, "NotebookEdit", given)
    assert wait["request"]["diff"].startswith("--- a/n.ipynb (abc)\n")
    assert "-b = 2\n+b = 3\n" in wait["request"]["diff"]


def test_a_file_that_does_not_fit_is_said_so(asking: AskingClient) -> None:
    """The diff shows the texts of the call, and its first line gives the reason."""
    wait = details(asking, "Edit", {"file_path": "/nowhere/x.py", "old_string": "a", "new_string": "b"})
    assert wait["request"]["diff"].startswith("# file not readable: it does not exist; line numbers are relative\n")
    assert "+b\n" in wait["request"]["diff"]


def test_arguments_of_other_tools_are_named(asking: AskingClient) -> None:
    """A tool of an MCP server shows every argument."""
    given = {"title": "Broken login", "labels": ["bug", "p1"], "body": "One\nTwo"}
    wait = details(asking, "mcp__tracker__create", given)
    assert wait["request"]["arguments"] == given
    assert (
        wait["request"]["text"] == 'title: Broken login\nlabels: [\n  │   "bug",\n  │   "p1"\n  │ ]\nbody: One\n  │ Two'
    )


def test_a_plan_is_shown_in_full(asking: AskingClient) -> None:
    """All forty steps."""
    plan = "\n".join(f"{number}. Step {number}" for number in range(1, 41))
    assert details(asking, "ExitPlanMode", {"plan": plan})["request"]["text"] == plan


def test_a_question_is_shown_with_its_options(asking: AskingClient) -> None:
    """The options are in `questions`."""
    wait = details(asking, QUESTIONS["tool_name"], QUESTIONS["tool_input"])  # type: ignore[arg-type]
    assert wait["request"]["text"] == "Which colour?\nWhich sizes?"
    assert [option["label"] for option in wait["questions"][0]["options"]] == ["Red", "Blue"]


def test_a_question_at_the_end_of_a_reply_is_shown_with_the_reply(asking: AskingClient) -> None:
    """The board shows only its end."""
    message = "I found two ways. " * 40 + "Which one should I use?"
    asking.hook("Stop", last_assistant_message=message)
    [wait] = wait_until(lambda: asking.daemon.get("/api/waits").json(), "a wait")
    assert len(wait["text"]) < len(message)
    request = shown(asking, wait["id"])["request"]
    assert (request["text"], request["complete"]) == (message, True)


def test_the_form_of_a_server_is_shown_with_its_hidden_characters(asking: AskingClient) -> None:
    """The text is the message of the server; its fields are in `form`."""
    form = {"properties": {"board": {"type": "string", "title": "Bo\u202eard"}}}
    asking.fire("Elicitation", mcp_server_name="boards", message="Which?", requested_schema=form)
    [wait] = wait_until(asking.held, "a held wait")
    found = shown(asking, wait["id"])
    assert (found["request"]["text"], found["request"]["complete"]) == ("Which?", True)
    assert [(each["at"], each["code"]) for each in found["hidden_characters"]] == [(-1, "U+202E")]


def test_a_long_request_is_cut_visibly_and_can_be_read_in_full(asking: AskingClient) -> None:
    """Longer than what is stored of an event. Beginning and end are shown, and the number of characters between."""
    command = "".join(f"echo {number:06d}\n" for number in range(10_000)) + "git push --force"
    wait = details(asking, "Bash", {"command": command})
    request = wait["request"]
    assert (request["complete"], request["left_out"]) == (False, len(command) - 30_000)
    assert request["text"].startswith("echo 000000\n")
    assert request["text"].endswith("git push --force")
    assert f"[{len(command) - 30_000:,} characters left out]" in request["text"]
    everything = shown(asking, wait["id"], "?all=true")["request"]
    assert (everything["text"], everything["complete"], everything["left_out"]) == (command, True, 0)


def test_what_was_cut_when_it_was_stored_is_reported(asking: AskingClient) -> None:
    """After the dialog only the stored event is left."""
    command = "x" * 100_000
    wait = details(asking, "Bash", {"command": command})
    end(asking, "Bash", {"command": command})
    request = shown(asking, wait["id"], "?all=true")["request"]
    assert not request["complete"]
    assert request["left_out"] + request["text"].count("x") == len(command)


def test_the_file_is_not_compared_after_the_dialog(asking: AskingClient) -> None:
    """It may have changed since."""
    given = {"file_path": str(asking.home / "app.py"), "old_string": "line 20\n", "new_string": "twenty\n"}
    wait = details(asking, "Edit", given)
    end(asking, "Edit", given)
    diff = shown(asking, wait["id"])["request"]["diff"]
    assert diff.startswith("# file not readable: the request is closed, and the file may have changed since; ")
    assert "line 17" not in diff


def test_a_file_that_a_client_without_held_hooks_overwrites_is_shown_with_its_old_text(tmp_path: Path) -> None:
    """Also by the command line. After the dialog, the diff says that the old text is not known."""
    notes = tmp_path / "notes.txt"
    notes.write_text("precious\nlines\n")
    with running_daemon(tmp_path) as daemon, AskingGemini(tmp_path, daemon) as gemini:
        wait = gemini.ask_to_write(notes, "one\n")
        expected = "--- a/notes.txt\n+++ b/notes.txt\n@@ -1,2 +1 @@\n-precious\n-lines\n+one\n"
        assert (wait["request"]["text"], wait["request"]["diff"]) == ("write_file notes.txt", expected)
        assert "-precious" in gemini.headspace("show", gemini.agent["name"]).stdout
        gemini.end_write(notes, "one\n")
        closed = daemon.get(f"/api/waits/{wait['id']}").json()["request"]["diff"].splitlines()
    assert closed[0].startswith("# file not readable: the request is closed")
    assert closed[1].startswith("# writes the whole file; if it exists, its old text is not known here")
    assert closed[2:] == ["--- a/notes.txt", "+++ b/notes.txt", "@@ -0,0 +1 @@", "+one"]


def test_a_file_that_cannot_be_shown_is_said_to_be_overwritten(tmp_path: Path) -> None:
    """It exists, so its old text would be lost."""
    (tmp_path / "data.bin").write_bytes(b"\0\1")
    with running_daemon(tmp_path) as daemon, AskingGemini(tmp_path, daemon) as gemini:
        diff = gemini.ask_to_write(tmp_path / "data.bin", "one\n")["request"]["diff"].splitlines()
    assert diff[0].startswith("# file not readable: it is a binary file")
    assert diff[1].startswith("# overwrites an existing file; its old text is not known here")


def test_no_file_is_read_for_an_event_without_the_token(tmp_path: Path) -> None:
    """Any program can send one, with any path."""
    (tmp_path / "notes.txt").write_text("precious\n")
    with running_daemon(tmp_path) as daemon, AskingGemini(tmp_path, daemon) as gemini:
        diff = gemini.ask_to_write(tmp_path / "notes.txt", "one\n", trusted=False)["request"]["diff"]
    assert diff.startswith("# file not readable: the request was reported without the token of this installation")
    assert "precious" not in diff


def test_secrets_are_redacted_and_marked(asking: AskingClient) -> None:
    """Those of the call and those of the file."""
    (asking.home / "keys.py").write_text(f"KEY = '{SECRET}'\nMODE = 1\n")
    given = {"file_path": str(asking.home / "keys.py"), "old_string": f"'{SECRET}'\nMODE = 1", "new_string": "MODE = 2"}
    request = details(asking, "Edit", given)["request"]
    assert SECRET not in json.dumps(request)
    assert "-KEY = '[redacted]'\n" in request["diff"]
    assert request["diff"].startswith("# [redacted]: ")


def test_hidden_characters_are_listed(asking: AskingClient) -> None:
    """With their position in the text; those in other arguments without."""
    wait = details(asking, "Bash", {"command": "echo safe \u202e/~ fr- mr", "description": "a\u200bb"})
    assert wait["hidden_characters"] == [
        {"at": 10, "code": "U+202E", "name": "RIGHT-TO-LEFT OVERRIDE"},
        {"at": -1, "code": "U+200B", "name": "ZERO WIDTH SPACE"},
    ]


def test_entities_in_a_plan_are_hidden_characters(asking: AskingClient) -> None:
    """A plan is Markdown, so formatting turns the entity into the character."""
    wait = details(asking, "ExitPlanMode", {"plan": "Tidy &#x202E;pu &amp; &ZeroWidthSpace;"})
    assert [(each["at"], each["code"]) for each in wait["hidden_characters"]] == [(-1, "U+202E"), (-1, "U+200B")]


RULES = [{"toolName": "Bash", "ruleContent": "npm test:*"}, {"toolName": "Read"}]
SUGGESTED: list[dict[str, Any]] = [
    {"type": "addRules", "rules": RULES, "behavior": "allow", "destination": "localSettings"},
    {"type": "addDirectories", "directories": ["/x/y"], "destination": "session"},
    {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
]


def test_suggestions_are_put_into_words(asking: AskingClient) -> None:
    """One for each rule, directory and mode, with its destination."""
    wait = details(asking, "Bash", {"command": "npm test"}, permission_suggestions=SUGGESTED)
    assert [(each["kind"], each["words"], each["destination"]) for each in wait["suggestions"]] == [
        ("rule", "Allow Bash(npm test:*)", "this project, for you"),
        ("rule", "Allow Read", "this project, for you"),
        ("directory", "Allow access to /x/y", "this session"),
        ("mode", "Switch this session to acceptEdits", "this session"),
    ]
    assert len({each["id"] for each in wait["suggestions"]}) == 4


def test_only_the_selected_suggestion_is_granted_and_listed(asking: AskingClient) -> None:
    """The client gets one rule and no mode. The agent lists what was granted, by whom and when."""
    hook = asking.ask(about={**COMMAND, "permission_suggestions": SUGGESTED})
    wait = shown(asking, asking.held()[0]["id"])
    client = ApiClient(asking.daemon.url, {scope: asking.daemon.token(scope) for scope in (Scope.READ, Scope.ACT)})
    answered = client.answer(wait["id"], {"decision": "allow"}, grant=[wait["suggestions"][0]["id"]])["answered"]
    granted = {
        "kind": "rule",
        "words": "Allow Bash(npm test:*)",
        "destination": "this project, for you",
        "lifetime": "in this project's settings, only for you, until you remove it",
    }
    option = {**granted, "id": wait["suggestions"][0]["id"], "warning": ""}
    assert (answered["words"], answered["grants"]) == ("allowed with 1 grant", [option])
    assert printed(hook)["decision"] == {
        "behavior": "allow",
        "updatedPermissions": [{**SUGGESTED[0], "rules": RULES[:1]}],
    }
    end(asking, "Bash", COMMAND["tool_input"])  # type: ignore[arg-type]
    by, at = answered["by"], answered["at"]
    assert wait_until(lambda: asking.agent["grants"], "the grant") == [{**granted, "by": by, "via": "cli", "at": at}]
    assert asking.daemon.verified()


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        ({"always": True}, "always_needs_grant", "Switch this session to acceptEdits; this session"),
        ({"grant": ["rule-0"]}, "unknown_grant", "Allow Bash(npm test:*); this project, for you"),
    ],
)
def test_a_grant_must_be_selected(asking: AskingClient, answer: dict[str, Any], code: str, words: str) -> None:
    """The refusal lists what can be granted, and nothing is answered."""
    wait = details(asking, "Bash", {"command": "npm test"}, permission_suggestions=SUGGESTED)
    reply = asking.answer({"decision": "allow", **answer})
    assert (reply.status, reply.error["code"]) == (400, code)
    assert words in reply.error["message"]
    assert all(each["id"] in reply.error["message"] for each in wait["suggestions"])
    assert shown(asking, wait["id"])["answered"] is None


def test_always_without_suggestions_is_explained(asking: AskingClient) -> None:
    """The client suggests nothing."""
    asking.ask()
    reply = asking.answer({"decision": "allow", "always": True})
    assert (reply.status, reply.error["code"]) == (400, "always_needs_grant")
    assert "suggests nothing" in reply.error["message"]


def test_the_python_client_reads_a_wait(asking: AskingClient) -> None:
    """The same as over HTTP."""
    hook = asking.ask(about=COMMAND)
    wait_id = asking.held()[0]["id"]
    client = ApiClient(asking.daemon.url, {Scope.READ: asking.daemon.token("read")})
    assert client.wait(wait_id) == client.wait(wait_id, all=True) == shown(asking, wait_id)
    asking.answer({"decision": "allow"})
    printed(hook)


def test_an_unknown_wait_is_not_found(asking: AskingClient) -> None:
    """With a hint."""
    reply = asking.daemon.get("/api/waits/nothing")
    assert (reply.status, reply.error["code"]) == (404, "unknown_wait")
