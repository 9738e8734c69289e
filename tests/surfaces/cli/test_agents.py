"""The commands `list`, `show`, `why` and `rename`."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from rich.cells import cell_len

from claude_headspace.kernel.agent import AgentState
from claude_headspace.surfaces.cli.agents import State
from tests.support import LIMIT_SECONDS, RunningDaemon, environment
from tests.surfaces.cli.conftest import Headspace, run_headspace, send_board

TEXT_COMMANDS: dict[str, Callable[[str], list[str]]] = {
    "list": lambda _name: ["list"],
    "show": lambda name: ["show", name],
    "why": lambda name: ["why", name],
}


def json_of(headspace: Headspace, *arguments: str) -> Any:
    """What a command prints as JSON."""
    done = headspace(*arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_list_shows_agents_that_need_a_person_first(headspace: Headspace, names: dict[str, str]) -> None:
    """One line per agent, with its symbol, project and activity."""
    done = headspace("list")
    assert (done.returncode, done.stderr) == (0, "")
    heading, *rows = done.stdout.splitlines()
    assert heading.split() == ["agent", "project", "activity", "since"]
    assert [row.split()[0] for row in rows] == ["◆", "✕", "●", "●", "○"]
    by_name = {row.split()[1]: row for row in rows}
    assert "shop" in by_name[names["asks"]]
    assert "asks: Which database should the tests use?" in by_name[names["asks"]]
    assert "stopped: rate limit" in by_name[names["fails"]]
    assert "Bash: npm test" in by_name[names["runs"]]
    assert re.search(r"done (just now|\d+ s ago)$", by_name[names["done"]])


def test_list_in_json(board: tuple[RunningDaemon, dict[str, str]], headspace: Headspace) -> None:
    """The output is the array of the API."""
    assert json_of(headspace, "list") == board[0].agents()


def test_list_can_be_filtered(headspace: Headspace, names: dict[str, str]) -> None:
    """By state, by project and by client, as text and as JSON."""
    assert [agent["name"] for agent in json_of(headspace, "list", "--state", "waiting")] == [names["asks"]]
    assert [agent["name"] for agent in json_of(headspace, "list", "--project", "api")] == [names["runs"]]
    assert len(headspace("list", "--state", "working", "--project", "api").stdout.splitlines()) == 2
    assert headspace("list", "--project", "nowhere").stdout.startswith("No agent matches.")
    assert len(json_of(headspace, "list", "--client", "claude-code")) == len(names)
    assert headspace("list", "--client", "gemini").stdout.startswith("No agent matches.")
    assert json_of(headspace, "list", "--project", "nowhere") == []


def test_every_state_can_be_filtered() -> None:
    """The option accepts all states of the kernel."""
    assert set(get_args(State)) == {state.value for state in AgentState}


def test_an_unknown_state_is_rejected(headspace: Headspace) -> None:
    """The command line is invalid, and the error lists the states."""
    done = headspace("list", "--state", "sleepy")
    assert done.returncode == 2
    assert "'waiting'" in done.stderr


def test_an_empty_board_is_not_an_error(daemon: RunningDaemon) -> None:
    """The output says when agents appear."""
    done = run_headspace(daemon.home, "list")
    assert done.returncode == 0
    assert done.stdout.startswith("No agents yet")
    assert json.loads(run_headspace(daemon.home, "list", "--json").stdout) == []


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_the_board_fits_the_terminal(headspace: Headspace, names: dict[str, str], width: int) -> None:
    """No line is wider than the terminal, and the question of an agent is readable at every width."""
    lines = headspace("list", COLUMNS=str(width)).stdout.splitlines()
    assert max(cell_len(line) for line in lines) <= width
    assert any(names["asks"] in line and "asks: Which" in line for line in lines)


def test_show(headspace: Headspace, names: dict[str, str]) -> None:
    """Shows the question with its options, the location, the evidence and the last turns."""
    done = headspace("show", names["asks"])
    assert (done.returncode, done.stderr) == (0, "")
    for part in (
        f"◆ {names['asks']}  asks: Which database should the tests use?",
        "waiting for an answer since",
        "AskUserQuestion waits for an answer (a hook, high confidence)",
        "Add a test for expired cards. (submitted",
        "/projects/shop",
        "1. SQLite: Fast",
        "2. PostgreSQL: Like production",
        "you    Add a test for expired cards.",
    ):
        assert part in done.stdout


def test_show_in_json(board: tuple[RunningDaemon, dict[str, str]], headspace: Headspace) -> None:
    """The output is the agent of the API with its last turns."""
    daemon, names = board
    shown = json_of(headspace, "show", names["done"])
    turns = shown.pop("turns")
    assert shown == daemon.agent(names["done"])
    assert [turn["text"] for turn in turns] == ["Check all links.", "All 214 links work."]


def test_an_agent_is_found_by_the_beginning_of_its_id(headspace: Headspace, names: dict[str, str]) -> None:
    """A name, an id, or a unique prefix of the id."""
    whole = json_of(headspace, "show", names["runs"])["id"]
    assert json_of(headspace, "show", whole[:8])["id"] == whole


@pytest.mark.parametrize("command", ["show", "why"])
def test_an_unknown_agent(headspace: Headspace, command: str) -> None:
    """Standard error has the message and the hint of the API; standard output is empty."""
    done = headspace(command, "nobody")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == "There is no agent nobody.\n`headspace list` shows all agents.\n"


def test_why_names_source_time_and_confidence(headspace: Headspace, names: dict[str, str]) -> None:
    """The reason of the current state, then the previous states, newest first."""
    done = headspace("why", names["asks"])
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert f"◆ {names['asks']} (Claude Code) has been waiting for an answer since" in text
    assert "Because AskUserQuestion waits for an answer: reported by a hook at" in text
    assert "(high confidence, reported directly)" in text
    states = [line for line in done.stdout.splitlines() if " · hook " in line]
    assert [line.split()[2] for line in states] == ["waiting", "working", "idle"]


def test_why_in_json(headspace: Headspace, names: dict[str, str]) -> None:
    """The output is the evidence and the states, oldest first."""
    reasons = json_of(headspace, "why", names["asks"])
    assert reasons["evidence"]["source"] == "hook"
    assert [state["state"] for state in reasons["states"]] == ["idle", "working", "waiting"]
    assert [state["state"] for state in json_of(headspace, "why", names["asks"], "--last", "1")["states"]] == [
        "waiting"
    ]


@pytest.mark.parametrize("command", TEXT_COMMANDS)
def test_control_sequences_become_marks(headspace: Headspace, names: dict[str, str], command: str) -> None:
    """With and without colours. Text that looks like markup stays."""
    arguments = TEXT_COMMANDS[command](names["hostile"])
    plain = headspace(*arguments).stdout
    coloured = headspace(*arguments, FORCE_COLOR="1").stdout
    assert "\x1b" not in plain
    assert "\x1b[0m" in coloured
    assert "\x1b" not in re.sub(r"\x1b\[[0-9;]+m", "", coloured)
    for text in (plain, coloured):
        assert not re.search(r"[\x80-\x9f\x07\u202e]", text)
        assert "owned" not in text.replace("⟦U+001B⟧]0;owned⟦U+0007⟧", "")
        assert ("⟦U+202E⟧" in text) == (command != "why")  # the reasons contain no text of the agent
    if command != "why":
        assert "[red]markup[/red]" in plain


def test_control_sequences_are_escaped_in_json(headspace: Headspace, names: dict[str, str]) -> None:
    """JSON keeps every character."""
    done = headspace("show", names["hostile"], "--json")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", done.stdout)
    assert "\x1b]0;owned\x07 \x9b2J" in json.loads(done.stdout)["command"]["text"]
    assert "日本語" in done.stdout


def test_no_color_is_honoured(headspace: Headspace) -> None:
    """`NO_COLOR` wins over `FORCE_COLOR`."""
    assert "\x1b" in headspace("list", FORCE_COLOR="1").stdout
    assert "\x1b" not in headspace("list", FORCE_COLOR="1", NO_COLOR="1").stdout


def test_rename(daemon: RunningDaemon) -> None:
    """The new name works immediately; an invalid name is rejected with a hint."""
    names = send_board(daemon)
    done = run_headspace(daemon.home, "rename", names["done"], "link-checker")
    assert (done.returncode, done.stdout) == (0, f"Renamed {names['done']} to link-checker.\n")
    assert json.loads(run_headspace(daemon.home, "rename", "link-checker", "links", "--json").stdout)["name"] == "links"
    assert daemon.agent("links")["session_id"] == "done"

    refused = run_headspace(daemon.home, "rename", "links", "No Spaces!")
    assert refused.returncode == 1
    assert "lowercase letters" in refused.stderr


@pytest.mark.parametrize("arguments", [["list"], ["show", "x"], ["why", "x"], ["rename", "x", "y"], ["tail"]])
def test_without_a_daemon(tmp_path: Path, arguments: list[str]) -> None:
    """The exit code is 3, and the hint says how to start the daemon."""
    done = run_headspace(tmp_path, *arguments)
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr == "Headspace is not running.\nStart it with `headspace up`.\n"


def test_a_closed_pipe_is_not_an_error(board: tuple[RunningDaemon, dict[str, str]]) -> None:
    """`headspace list | head -1` prints no traceback."""
    command = f"'{sys.executable}' -m claude_headspace list --json | head -c 1"
    done = subprocess.run(
        ["sh", "-c", command],
        env=environment(board[0].home),
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("[", "")


def test_list_has_the_order_of_top(daemon: RunningDaemon) -> None:
    """With the stored groups and pins. `--sort` chooses another order, without groups."""
    names = send_board(daemon)
    pin = daemon.agents()[-1]
    view = {"sort": "name", "group": "project", "pins": [pin["id"]], "folded": ["api"]}
    (daemon.home / "board.json").write_text(json.dumps(view))
    shown = [line.split()[0] for line in run_headspace(daemon.home, "list").stdout.splitlines()[1:]]
    assert [each for each in shown if each.isalpha()][:2] == ["pinned", "api"]
    assert any(f"*{pin['name']}" in line for line in run_headspace(daemon.home, "list").stdout.splitlines())
    rows = run_headspace(daemon.home, "list", "--sort", "urgency").stdout.splitlines()
    assert pin["name"] in rows[1]
    assert names["asks"] in rows[2]
    (daemon.home / "board.json").write_text("{ broken")
    assert names["asks"] in run_headspace(daemon.home, "list").stdout.splitlines()[1]
