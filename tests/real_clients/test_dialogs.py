"""Dialogs that show a call in another way than the call itself, answered through Headspace."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.outputs.keystroke_answers import NOT_SHOWN
from tests.real_client.client import Client
from tests.real_client.model import Block, Script, reply, text, tool
from tests.real_client.workspace import Workspace
from tests.real_clients.homes import CopilotHome, GeminiHome, OtherHome
from tests.real_clients.test_control import opened
from tests.support import wait_until


def started(workspace: Workspace) -> Client:
    """A client with its input box."""
    client = workspace.home.open_client(workspace.terminals, workspace.model.url)
    client.wait_until_ready()
    workspace.agent("idle")
    return client


def prompt(client: Client, words: str) -> None:
    """Type a prompt."""
    client.write(words)
    client.send()


def answer(workspace: Workspace, **given: object) -> None:
    """Answer the open wait through the API; the client takes the answer."""
    [wait] = workspace.held()
    reply = workspace.daemon.send("POST", f"/api/waits/{wait['id']}/answer", given, scope="act")
    assert reply.status == 200, reply.body
    wait_until(lambda: _is_taken(workspace, wait["id"]), "the answer to be taken")


def _is_taken(workspace: Workspace, wait_id: str) -> bool:
    return workspace.daemon.get(f"/api/waits/{wait_id}").json()["closed_at"] is not None


def question(words: str, header: str, *options: str, several: bool = False) -> dict[str, Any]:
    """A question of Gemini CLI."""
    choices = [{"label": option, "description": f"choose {option}"} for option in options]
    return {"question": words, "header": header, "type": "choice", "options": choices, "multiSelect": several}


def field(words: str, **schema: object) -> Block:
    """A question of Copilot CLI with one field."""
    properties = {"field": {"title": "Choice", **schema}}
    return tool("ask_user", message=words, requestedSchema={"type": "object", "properties": properties})


def resize(workspace: Workspace, client: Client, size: tuple[int, int]) -> None:
    """Change the size of the client's terminal."""
    width, height = map(str, size)
    workspace.terminals("resize-window", "-t", client.pane, "-x", width, "-y", height)


def result(workspace: Workspace) -> str:
    """What the model received last, once the turn has ended."""
    workspace.agent("idle")
    return _texts(workspace.model.results)[-1]


WORDS = "; ".join(
    f"do not use the flag --{letter * 9} with /srv/{letter}, it's slow ({number} s)"
    for number, letter in enumerate("abcdefg")
)
"""A text of several rows, in which no piece occurs twice."""
LABEL = " ".join(f"a long label {number}" for number in range(12))
FORMATTED = (
    "Which **store** for the `cart`? See [the docs](https://a.example/x).\n\n> quoted\n\n| Name | Use |\n|---|---|\n"
    "| SQLite | one machine |\n| Postgres | more |\n\n```python\nx = 1\n```\n- first\n"
)
SIZES = [(80, 24), (100, 50), (120, 24), (180, 50)]


def test_files_that_gemini_writes_and_edits(tmp_path: Path) -> None:
    """A path is absolute in the call and relative in the dialog; a replacement is shown as a diff."""
    project = tmp_path / "home" / "shop"
    edit = tool(
        "replace", file_path=str(project / "notes"), old_string="two", new_string="zwei", instruction="translate"
    )
    script: Script = {
        "Write it": [
            reply(tool("write_file", file_path=str(project / "made"), content="one\n")),
            reply(text("Written.")),
        ],
        "Edit it": [reply(edit), reply(text("Edited."))],
    }
    with opened(tmp_path, GeminiHome, script) as workspace:
        (project / "notes").write_text("one\ntwo\nthree\n")
        client = started(workspace)
        prompt(client, "Write it")
        answer(workspace, decision="allow")
        workspace.agent("idle")
        assert (project / "made").read_text() == "one\n"
        prompt(client, "Edit it")
        answer(workspace, decision="allow")
        workspace.agent("idle")
        assert (project / "notes").read_text() == "one\nzwei\nthree\n"


def shown_diff(workspace: Workspace) -> str:
    """The diff of the open wait. The command line shows it without a remark about the file."""
    [wait] = workspace.held()
    shown = workspace.headspace("show", workspace.agent("waiting")["name"]).stdout
    assert "+one" in shown
    assert "not readable" not in shown
    diff: str = workspace.daemon.get(f"/api/waits/{wait['id']}").json()["request"]["diff"]
    return diff


def test_a_file_that_gemini_overwrites_is_shown_with_its_old_text(tmp_path: Path) -> None:
    """Nobody approves the loss of lines that are not shown."""
    notes = tmp_path / "home" / "shop" / "notes.txt"
    write = tool("write_file", file_path=str(notes), content="one\n")
    with opened(tmp_path, GeminiHome, {"Write it": [reply(write), reply(text("Written."))]}) as workspace:
        notes.write_text("precious\nlines\n")
        prompt(started(workspace), "Write it")
        assert shown_diff(workspace) == "--- a/notes.txt\n+++ b/notes.txt\n@@ -1,2 +1 @@\n-precious\n-lines\n+one\n"


def test_a_file_that_copilot_creates_is_shown_as_a_new_one(tmp_path: Path) -> None:
    """Copilot CLI itself refuses to create a file that exists."""
    create = tool("create", path=str(tmp_path / "home" / "shop" / "notes.txt"), file_text="one\n")
    with opened(tmp_path, CopilotHome, {"Write it": [reply(create), reply(text("Written."))]}) as workspace:
        prompt(started(workspace), "Write it")
        assert shown_diff(workspace) == "--- /dev/null\n+++ b/notes.txt\n@@ -0,0 +1 @@\n+one\n"


def test_copilot_is_denied_without_words(tmp_path: Path) -> None:
    """Headspace types a word, because the dialog needs one. It is no turn of the user."""
    command = tool("bash", command="touch made", description="make it")
    with opened(tmp_path, CopilotHome, {"Make it": [reply(command), reply(text("I did not."))]}) as workspace:
        prompt(started(workspace), "Make it")
        answer(workspace, decision="deny")
        assert workspace.user_turns(workspace.agent("idle")) == ["Make it"]


def test_a_suspended_client_gets_no_answer(tmp_path: Path) -> None:
    """The answer fails with the reason. Nothing happens when the client continues, and it can be answered then.

    Gemini CLI has a process above it in its pane. tmux continues its own child as soon as that is suspended.
    """
    command = tool("run_shell_command", command="touch made", description="make it")
    with opened(tmp_path, GeminiHome, {"Make it": [reply(command), reply(text("Made."))]}) as workspace:
        prompt(started(workspace), "Make it")
        workspace.held()
        agent = workspace.agent("waiting")
        os.kill(agent["pid"], signal.SIGSTOP)
        try:
            done = workspace.headspace("approve", agent["name"])
        finally:
            os.kill(agent["pid"], signal.SIGCONT)
        assert done.returncode != 0
        assert "suspended" in done.stderr
        assert workspace.headspace("approve", agent["name"]).returncode == 0
        workspace.agent("idle")
        assert (tmp_path / "home" / "shop" / "made").exists()


@pytest.mark.parametrize("home", [CopilotHome, GeminiHome])
def test_shell_mode_is_left_with_escape(tmp_path: Path, home: type[OtherHome]) -> None:
    """`send` is refused with that hint, and works afterwards."""
    with opened(tmp_path, home, {"Say hello": [reply(text("Hello."))]}) as workspace:
        client = started(workspace)
        client.press("!")
        name = workspace.agent("idle")["name"]
        wait_until(lambda: "shell mode" in workspace.headspace("send", name, "Say hello").stderr, "the refusal")
        client.press("Escape")
        done = wait_until(lambda: workspace.headspace("send", name, "Say hello").stdout, "the prompt to be taken")
        assert done == f"{name} received the prompt.\n"


def test_several_questions_of_gemini(tmp_path: Path) -> None:
    """They are answered one after the other: with an option, and with a text."""
    asked: Block = tool(
        "ask_user",
        questions=[
            question("Which colour?", "Colour", "Red", "Blue"),
            question("Which size?", "Size", "Small", "Large"),
            {"question": "What name?", "header": "Name", "type": "text"},
        ],
    )
    with opened(tmp_path, GeminiHome, {"Paint it": [reply(asked), reply(text("I painted it."))]}) as workspace:
        prompt(started(workspace), "Paint it")
        answer(workspace, answers={"Which colour?": "Blue", "Which size?": "medium", "What name?": "Bob"})
        workspace.agent("idle")
        assert any('"Blue"' in each and "medium" in each and "Bob" in each for each in _texts(workspace.model.results))


def _texts(results: list[str]) -> list[str]:
    return [each.replace("\\", "") for each in results]


def test_a_command_of_copilot_in_its_own_directory(tmp_path: Path) -> None:
    """The dialog leaves out the change of the directory."""
    project = tmp_path / "home" / "shop"
    command = tool("bash", command=f"cd {project} && touch made", description="make it")
    with opened(tmp_path, CopilotHome, {"Make it": [reply(command), reply(text("Made."))]}) as workspace:
        prompt(started(workspace), "Make it")
        answer(workspace, decision="allow")
        workspace.agent("idle")
        assert (project / "made").exists()


def test_two_dialogs_of_copilot(tmp_path: Path) -> None:
    """Both are reported, and shown one after the other. The shown one is answered, the other one says why not."""
    project = tmp_path / "home" / "shop"
    both = [tool("bash", command=f"touch {name}", description=f"make {name}") for name in ("first", "second")]
    with opened(tmp_path, CopilotHome, {"Make both": [reply(*both), reply(text("Made."))]}) as workspace:
        client = started(workspace)
        prompt(client, "Make both")
        wait_until(lambda: _obstacles(workspace) == [NOT_SHOWN], "the reason of the dialog that is not shown")
        [shown] = workspace.held()
        assert f"│ {shown['text'].removeprefix('bash: ')} " in client.screen
        done = workspace.headspace("approve", workspace.agent("waiting")["name"])
        assert done.returncode == 0, done.stderr
        wait_until(lambda: sum((project / name).exists() for name in ("first", "second")) == 1, "the first file")
        answer(workspace, decision="allow")
        workspace.agent("idle")
        assert (project / "first").exists()
        assert (project / "second").exists()


def _obstacles(workspace: Workspace) -> list[str]:
    waits = workspace.daemon.get("/api/waits").json()
    return [wait["obstacle"] for wait in waits if wait["closed_at"] is None and not wait["held_until"]]


@pytest.mark.parametrize("size", SIZES)
def test_lists_of_gemini_that_scroll(tmp_path: Path, size: tuple[int, int]) -> None:
    """The last option, a long text, several options. A typed label may be in small letters."""
    script: Script = {
        "Ask for one": [
            reply(tool("ask_user", questions=[question("Which?", "One", "Red", "Blue", "[x] box", LABEL)])),
            reply(tool("ask_user", questions=[question("Which?", "One", "Red", "Blue", "Green", "Grey")])),
            reply(text("Thanks.")),
        ],
        "Ask for several": [
            reply(
                tool("ask_user", questions=[question("Which?", "All", "Red", "Blue", "Green", "Grey", several=True)])
            ),
            reply(
                tool("ask_user", questions=[question("Which?", "All", "Red", "Blue", "Green", "Grey", several=True)])
            ),
            reply(text("Thanks.")),
        ],
    }
    with opened(tmp_path, GeminiHome, script) as workspace:
        client = started(workspace)
        resize(workspace, client, size)
        prompt(client, "Ask for one")
        answer(workspace, answers={"Which?": LABEL})
        answer(workspace, answers={"Which?": WORDS})
        assert WORDS in result(workspace)
        assert any(LABEL in each for each in _texts(workspace.model.results))
        prompt(client, "Ask for several")
        answer(workspace, answers={"Which?": ["grey", "Red"]})
        answer(workspace, answers={"Which?": ["Blue", "any, really"]})
        assert "Blue, any, really" in result(workspace)
        assert any("Red, Grey" in each for each in _texts(workspace.model.results))


def test_formatted_questions_of_gemini(tmp_path: Path) -> None:
    """A link, a quote, a table and code; a text of one's own before a choice; an input field with a hint."""
    named = {"question": "Name?", "header": "Name", "type": "text", "placeholder": "for example Bob"}
    sure = {"question": "Sure?", "header": "Sure", "type": "yesno"}
    both = [question("First?", "First", "a", "b"), question("Second?", "Second", "c", "d"), named, sure]
    script: Script = {
        "Ask about it": [
            reply(
                tool("ask_user", questions=[question(FORMATTED, "Store", "`SQLite`", "[Postgres](https://a.example)")])
            ),
            reply(tool("ask_user", questions=both)),
            reply(text("Thanks.")),
        ]
    }
    with opened(tmp_path, GeminiHome, script) as workspace:
        prompt(started(workspace), "Ask about it")
        answer(workspace, answers={FORMATTED: "[Postgres](https://a.example)"})
        answer(workspace, answers={"First?": "my own", "Second?": "c", "Name?": "Al", "Sure?": "no"})
        assert all(each in result(workspace) for each in ('"my own"', '"c"', '"Al"', '"No"'))


def test_answers_of_gemini_that_would_not_fit_in_its_list(tmp_path: Path) -> None:
    """Nothing is pressed, and shorter answers can be given."""
    asked = tool("ask_user", questions=[question("First?", "First", "a", "b"), question("Second?", "Second", "c", "d")])
    with opened(tmp_path, GeminiHome, {"Ask it": [reply(asked), reply(text("Thanks."))]}) as workspace:
        client = started(workspace)
        resize(workspace, client, (80, 24))
        prompt(client, "Ask it")
        assert "does not fit" in refused(workspace, answers={"First?": WORDS * 3, "Second?": "d"})
        assert "several" in refused(workspace, answers={"First?": "one\ntwo", "Second?": "d"})
        assert "● 1.  a" in client.screen
        answer(workspace, answers={"First?": "b", "Second?": "d"})
        assert '"d"' in result(workspace)


def refused(workspace: Workspace, **given: object) -> str:
    """Answer the open wait through the API, which fails; why."""
    [wait] = workspace.held()
    reply = workspace.daemon.send("POST", f"/api/waits/{wait['id']}/answer", given, scope="act")
    assert reply.status == 502, reply.body
    return str(reply.error["message"])


@pytest.mark.parametrize("size", [(100, 50), (180, 50), (80, 24)])
def test_long_texts_for_copilot(tmp_path: Path, size: tuple[int, int]) -> None:
    """A refusal of several rows, and an answer, arrive as they are."""
    command = tool("bash", command="touch made", description="make it")
    script: Script = {
        "Make it": [reply(command), reply(field("Why?", type="string", enum=["a", "b"])), reply(text("I did not."))]
    }
    with opened(tmp_path, CopilotHome, script) as workspace:
        client = started(workspace)
        resize(workspace, client, size)
        prompt(client, "Make it")
        assert "several" in refused(workspace, decision="deny", message="one\ntwo")
        answer(workspace, decision="deny", message=WORDS)
        answer(workspace, answers={"Why?": WORDS})
        assert WORDS in result(workspace)
        assert sum(WORDS in each for each in workspace.model.results) == 2


def test_questions_of_copilot(tmp_path: Path) -> None:
    """A formatted question, a label that wraps, several options, yes or no. Typed labels may be in small letters."""
    script: Script = {
        "Ask about it": [
            reply(field(FORMATTED, type="string", enum=["Red", "[x] box", LABEL, "`Five`"])),
            reply(field("All?", type="array", items={"type": "string", "enum": ["S", "M", "L"]})),
            reply(field("All?", type="array", items={"type": "string", "enum": ["S", "M", "L"]})),
            reply(field("Sure?", type="boolean")),
            reply(text("Thanks.")),
        ]
    }
    with opened(tmp_path, CopilotHome, script) as workspace:
        client = started(workspace)
        resize(workspace, client, (100, 50))
        prompt(client, "Ask about it")
        answer(workspace, answers={FORMATTED: LABEL})
        answer(workspace, answers={"All?": ["s", "L"]})
        answer(workspace, answers={"All?": ["M", "any"]})
        answer(workspace, answers={"Sure?": "no"})
        assert "false" in result(workspace)
        wanted = (LABEL, "S, L", "M, any")
        assert all(any(each in shown for shown in workspace.model.results) for each in wanted)
