"""Programs that are in no table: which files they read, and which commands they run."""

from pathlib import Path

import pytest

from claude_headspace.inputs.policy.shell.commands import analyse_shell
from claude_headspace.inputs.policy.shell.findings import Findings
from claude_headspace.inputs.policy.shell.guesses import MAX_MENTIONED
from claude_headspace.kernel.policy.call import Use

PROJECT, HOME = "/code", "/home/dev"


def analyse(text: str, directory: str = PROJECT) -> Findings:
    """Analyse a text in a project."""
    return analyse_shell(text, directory=directory, home=HOME, project=PROJECT)


def read_files(text: str, directory: str = PROJECT) -> list[str]:
    """The files that a text reads."""
    return [use.path for use in analyse(text, directory).paths if use.use is Use.READ]


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("frobnicate /etc/passwd", ["/etc/passwd"]),
        ("frobnicate --file=/etc/passwd", ["/etc/passwd"]),
        ("frobnicate @/etc/passwd", ["/etc/passwd"]),
        ("frobnicate form=@src/a.py", ["/code/src/a.py"]),
        ("frobnicate '~/.ssh/id_rsa'", ["/home/dev/.ssh/id_rsa"]),
        ("frobnicate a/x a/x", ["/code/a/x"]),
    ],
)
def test_argument_that_looks_like_a_path_is_read(text: str, files: list[str]) -> None:
    """With an option, as `@FILE`, or alone. Each file counts once."""
    assert read_files(text) == files


@pytest.mark.parametrize(
    "text",
    ["frobnicate name", "frobnicate https://example.org/x", 'frobnicate "$UNSET/x"', f"frobnicate /{'x' * 300}"],
)
def test_other_arguments_are_not_read(text: str) -> None:
    """Words, addresses, unknown paths and texts."""
    assert read_files(text) == []


def test_plain_names_count_outside_of_the_project() -> None:
    """`cd ~/.ssh && frobnicate id_rsa` reads the key."""
    assert read_files("frobnicate id_rsa", directory="/home/dev/.ssh") == ["/home/dev/.ssh/id_rsa"]


def test_files_are_limited() -> None:
    """A long list of paths does not use up the budget."""
    assert len(read_files("frobnicate " + " ".join(f"/x/{number}" for number in range(50)))) == MAX_MENTIONED


@pytest.mark.parametrize(("program", "recursive"), [("frobnicate", False), ("zip", True)])
def test_archivers_read_everything_below(program: str, recursive: bool, tmp_path: Path) -> None:
    """A rule about `~/.ssh/**` matches `zip x.zip ~`."""
    uses = [use for use in analyse(f"{program} x.zip {tmp_path}").paths if use.path == str(tmp_path)]
    assert [use.recursive for use in uses] == [recursive]


@pytest.mark.parametrize(
    "text",
    [
        "frobnicate -- rm -rf /etc",
        "frobnicate 5 /bin/rm -rf /etc",
        "frobnicate 'rm -rf /etc'",
        "frobnicate -x='rm -rf /etc'",
    ],
)
def test_dangerous_command_of_an_unknown_wrapper_runs(text: str) -> None:
    """As separate arguments or as one text."""
    deleted = [use.path for use in analyse(text).paths if use.use is Use.DELETE and use.recursive]
    assert deleted == ["/etc"]


@pytest.mark.parametrize("text", ["echo rm -rf /etc", "git commit -m 'rm -rf /etc'", "frobnicate rm", "grep -r rm src"])
def test_mentioned_command_does_not_run(text: str) -> None:
    """Programs that print, search or store their arguments, and a name without arguments."""
    assert not any(program.name == "rm" for program in analyse(text).programs)
