"""Running a command of a tree."""

from typing import Annotated

import pytest

from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option
from claude_headspace.surfaces.cli.arguments.tree import Command, Group, run

HERE = __name__
CALLS: list[str] = []


def show(agent: Annotated[str, Argument("AGENT", help="Which agent.")]) -> None:
    """Show one agent.

    With everything that
    is known.
    """
    CALLS.append(f"show {agent}")


def tokens(scope: Annotated[str, Option("--scope", help="What it permits.")] = "read") -> None:
    """Print a token."""
    CALLS.append(f"token {scope}")


def leave() -> None:
    """An action of an option."""
    CALLS.append("left")


def nothing(_leave: Annotated[bool, Option("--leave", action=leave)] = False) -> None:
    """A tree."""
    CALLS.append("nothing")


show.__dict__["examples"] = ("tree show otter",)
SHOW = Command("show", f"{HERE}:show", "Show one agent.")
TREE = Group(
    "tree",
    "A tree.",
    (SHOW, Group("token", "Tokens.", (SHOW,), f"{HERE}:tokens"), Group("db", "Files.", (SHOW,))),
    f"{HERE}:nothing",
)


@pytest.fixture(autouse=True)
def calls() -> list[str]:
    """The calls of the functions."""
    CALLS.clear()
    return CALLS


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("show otter", "show otter"),
        ("token", "token read"),
        ("token --scope act", "token act"),
        ("token show otter", "show otter"),
        ("db show otter", "show otter"),
        ("", "nothing"),
    ],
)
def test_a_command_runs(calls: list[str], line: str, expected: str) -> None:
    """The function of a group runs only without a command."""
    run(TREE, line.split(), "tree")
    assert calls == [expected]


def test_an_action_ends_the_program(calls: list[str]) -> None:
    """Nothing else runs."""
    with pytest.raises(SystemExit) as ended:
        run(TREE, ["--leave", "show", "otter"], "tree")
    assert (ended.value.code, calls) == (None, ["left"])


@pytest.mark.parametrize(
    ("line", "path", "usage", "error"),
    [
        ("shwo otter", "tree", "COMMAND [ARGS]...", "No such command 'shwo'. Did you mean 'show'?"),
        ("db show", "tree db show", "AGENT", "Missing argument 'AGENT'."),
        ("db --fast", "tree db", "COMMAND [ARGS]...", "No such option: --fast"),
    ],
)
def test_a_wrong_line(capsys: pytest.CaptureFixture[str], line: str, path: str, usage: str, error: str) -> None:
    """The usage of the command, how to get help, and the reason; the exit code is 2."""
    with pytest.raises(SystemExit) as ended:
        run(TREE, line.split(), "tree")
    assert ended.value.code == 2
    text = f"Usage: {path} [OPTIONS] {usage}\nTry '{path} -h' for help.\n\nError: {error}\n"
    assert capsys.readouterr().err == text


def test_a_group_without_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Its help is shown, and the exit code is 2."""
    with pytest.raises(SystemExit) as ended:
        run(TREE, ["db"], "tree")
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("Usage: tree db [OPTIONS] COMMAND [ARGS]...")


def test_the_help_of_a_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Usage, description, arguments, options and examples, wrapped to the width of the terminal."""
    monkeypatch.setenv("COLUMNS", "60")
    run(TREE, ["show", "--help"], "tree")
    assert (
        capsys.readouterr().out
        == """\
Usage: tree show [OPTIONS] AGENT

  Show one agent.

  With everything that is known.

Arguments:
  AGENT  Which agent.  [required]

Options:
  -h, --help  Show this message and exit.

  Examples:
    tree show otter
"""
    )
