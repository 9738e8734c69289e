"""The command `note`, outside of agents."""

from pathlib import Path

from tests.support import RunningDaemon
from tests.surfaces.cli.conftest import Headspace, run_headspace

Board = tuple[RunningDaemon, dict[str, str]]


def test_the_first_word_is_the_agent(headspace: Headspace, board: Board) -> None:
    """As in all other commands. `--clear` removes its note."""
    name = next(iter(board[1].values()))
    done = headspace("note", name, "waits for", "Anna")
    assert (done.returncode, done.stdout) == (0, f"{name}: waits for Anna\n")
    done = headspace("note", name, "--clear")
    assert (done.returncode, done.stdout) == (0, f"Removed the note of {name}.\n")


def test_without_an_agent_the_error_says_how_to_name_it(headspace: Headspace, board: Board) -> None:
    """One word is a text; of several, the first must be an agent."""
    done = headspace("note", "lunch")
    assert (done.returncode, done.stdout) == (1, "")
    assert "headspace note AGENT TEXT" in done.stderr
    done = headspace("note", "at", "lunch")
    assert "There is no agent at." in done.stderr


def test_without_a_daemon(tmp_path: Path) -> None:
    """The error says so, and not which file is missing."""
    done = run_headspace(tmp_path, "note", "lunch")
    assert (done.returncode, done.stderr) == (3, "Headspace is not running.\nStart it with `headspace up`.\n")
