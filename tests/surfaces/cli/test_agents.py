"""`list`, `show`, `why` and `rename`, run as a user runs them."""

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


def told(headspace: Headspace, *arguments: str) -> Any:
    """What a command prints as JSON."""
    done = headspace(*arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_the_board_shows_who_needs_somebody_first(headspace: Headspace, names: dict[str, str]) -> None:
    """One line per agent, attention first, each with its shape, its project and what it does."""
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


def test_the_board_in_json_is_the_answer_of_the_api(
    board: tuple[RunningDaemon, dict[str, str]], headspace: Headspace
) -> None:
    """Programs get the array as it is."""
    assert told(headspace, "list") == board[0].agents()


def test_the_board_can_be_narrowed(headspace: Headspace, names: dict[str, str]) -> None:
    """By state and by project, in text and in JSON alike."""
    assert [agent["name"] for agent in told(headspace, "list", "--state", "waiting")] == [names["asks"]]
    assert [agent["name"] for agent in told(headspace, "list", "--project", "api")] == [names["runs"]]
    assert len(headspace("list", "--state", "working", "--project", "api").stdout.splitlines()) == 2
    assert headspace("list", "--project", "nowhere").stdout.startswith("No agent matches.")
    assert told(headspace, "list", "--project", "nowhere") == []


def test_every_state_can_be_asked_for() -> None:
    """The option knows the states of the kernel."""
    assert set(get_args(State)) == {state.value for state in AgentState}


def test_a_state_that_does_not_exist_is_refused(headspace: Headspace) -> None:
    """A wrong option is a wrong command line, and the right ones are named."""
    done = headspace("list", "--state", "sleepy")
    assert done.returncode == 2
    assert "'waiting'" in done.stderr


def test_an_empty_board_says_what_to_expect(daemon: RunningDaemon) -> None:
    """Nobody there is no error."""
    done = run_headspace(daemon.home, "list")
    assert done.returncode == 0
    assert done.stdout.startswith("No agents yet")
    assert json.loads(run_headspace(daemon.home, "list", "--json").stdout) == []


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_the_board_fits_the_terminal(headspace: Headspace, names: dict[str, str], width: int) -> None:
    """No line is wider than the terminal, and what an agent wants can be read on any."""
    lines = headspace("list", COLUMNS=str(width)).stdout.splitlines()
    assert max(cell_len(line) for line in lines) <= width
    assert any(names["asks"] in line and "asks: Which" in line for line in lines)


def test_one_agent_in_full(headspace: Headspace, names: dict[str, str]) -> None:
    """What it asks with the ways to answer, where it runs, why we think so and what was said."""
    done = headspace("show", names["asks"])
    assert (done.returncode, done.stderr) == (0, "")
    for part in (
        f"◆ {names['asks']}  asks: Which database should the tests use?",
        "waiting for an answer since",
        "AskUserQuestion waits for an answer (a hook of Claude Code, high confidence)",
        "Add a test for expired cards. (given",
        "/projects/shop",
        "1. SQLite: Fast",
        "2. PostgreSQL: Like production",
        "you    Add a test for expired cards.",
    ):
        assert part in done.stdout


def test_one_agent_in_json(board: tuple[RunningDaemon, dict[str, str]], headspace: Headspace) -> None:
    """Programs get the agent as the API tells it, and its last turns."""
    daemon, names = board
    shown = told(headspace, "show", names["done"])
    turns = shown.pop("turns")
    assert shown == daemon.agent(names["done"])
    assert [turn["text"] for turn in turns] == ["Check all links.", "All 214 links work."]


def test_an_agent_is_found_by_the_beginning_of_its_id(headspace: Headspace, names: dict[str, str]) -> None:
    """A name, an id, or enough of it."""
    whole = told(headspace, "show", names["runs"])["id"]
    assert told(headspace, "show", whole[:8])["id"] == whole


@pytest.mark.parametrize("command", ["show", "why"])
def test_an_unknown_agent_is_told_as_the_api_tells_it(headspace: Headspace, command: str) -> None:
    """The message, then what to do; nothing on standard output."""
    done = headspace(command, "nobody")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == "There is no agent nobody.\n`headspace list` shows all agents.\n"


def test_why_names_source_time_and_confidence(headspace: Headspace, names: dict[str, str]) -> None:
    """The reason in a sentence, then the states before with theirs, the newest first."""
    done = headspace("why", names["asks"])
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert f"◆ {names['asks']} has been waiting for an answer since" in text
    assert "Because AskUserQuestion waits for an answer: reported by a hook of Claude Code at" in text
    assert "(high confidence, reported directly)" in text
    states = [line for line in done.stdout.splitlines() if " · hook " in line]
    assert [line.split()[2] for line in states] == ["waiting", "working", "idle"]


def test_why_in_json(headspace: Headspace, names: dict[str, str]) -> None:
    """Programs get the evidence and the states, oldest first as the API tells them."""
    reasons = told(headspace, "why", names["asks"])
    assert reasons["evidence"]["source"] == "hook"
    assert [state["state"] for state in reasons["states"]] == ["idle", "working", "waiting"]
    assert [state["state"] for state in told(headspace, "why", names["asks"], "--last", "1")["states"]] == ["waiting"]


@pytest.mark.parametrize("command", TEXT_COMMANDS)
def test_hostile_texts_do_nothing(headspace: Headspace, names: dict[str, str], command: str) -> None:
    """What agents say reaches no terminal as a command, with colours or without; what looks like markup stays text."""
    arguments = TEXT_COMMANDS[command](names["hostile"])
    plain = headspace(*arguments).stdout
    coloured = headspace(*arguments, FORCE_COLOR="1").stdout
    assert "\x1b" not in plain
    assert "\x1b[0m" in coloured
    assert "\x1b" not in re.sub(r"\x1b\[[0-9;]+m", "", coloured)
    for text in (plain, coloured):
        assert not re.search(r"[\x80-\x9f\x07\u202e]", text)
        assert "owned" not in text
    if command != "why":
        assert "[red]markup[/red]" in plain


def test_hostile_texts_stay_whole_in_json_and_do_nothing(headspace: Headspace, names: dict[str, str]) -> None:
    """JSON keeps every character, escaped where a terminal would act on it."""
    done = headspace("show", names["hostile"], "--json")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", done.stdout)
    assert "\x1b]0;owned\x07 \x9b2J" in json.loads(done.stdout)["command"]["text"]
    assert "日本語" in done.stdout


def test_no_color_is_honoured(headspace: Headspace) -> None:
    """`NO_COLOR` wins, also over `FORCE_COLOR`."""
    assert "\x1b" in headspace("list", FORCE_COLOR="1").stdout
    assert "\x1b" not in headspace("list", FORCE_COLOR="1", NO_COLOR="1").stdout


def test_an_agent_gets_another_name(daemon: RunningDaemon) -> None:
    """The new name works at once; a name that cannot be is refused with what would be right."""
    names = send_board(daemon)
    done = run_headspace(daemon.home, "rename", names["done"], "link-checker")
    assert (done.returncode, done.stdout) == (0, f"Renamed {names['done']} to link-checker.\n")
    assert json.loads(run_headspace(daemon.home, "rename", "link-checker", "links", "--json").stdout)["name"] == "links"
    assert daemon.agent("links")["session_id"] == "done"

    refused = run_headspace(daemon.home, "rename", "links", "No Spaces!")
    assert refused.returncode == 1
    assert "lowercase letters" in refused.stderr


@pytest.mark.parametrize("arguments", [["list"], ["show", "x"], ["why", "x"], ["rename", "x", "y"], ["tail"]])
def test_without_a_daemon_the_way_to_start_one_is_told(tmp_path: Path, arguments: list[str]) -> None:
    """Nobody there has an exit code of its own."""
    done = run_headspace(tmp_path, *arguments)
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr == "Headspace is not running.\nStart it with `headspace up`.\n"


def test_a_reader_that_leaves_is_no_error(board: tuple[RunningDaemon, dict[str, str]]) -> None:
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
