"""Parsing a command line into the values of a function."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from claude_headspace.surfaces.cli.arguments.parameters import Argument, ForwardedArguments, Option
from claude_headspace.surfaces.cli.arguments.parse import HelpWanted, UsageError
from claude_headspace.surfaces.cli.arguments.tree import Loaded, parse


class Scope(StrEnum):
    """Choices with names."""

    READ = "read"
    ACT = "act"


def tell(
    agent: Annotated[str, Argument("AGENT")],
    words: Annotated[list[str] | None, Argument("WORD")] = None,
    last: Annotated[int, Option("--last", "-n", min=1, max=9)] = 3,
    speed: Annotated[float | None, Option("--speed")] = None,
    file: Annotated[Path | None, Option("--file", "-f")] = None,
    state: Annotated[Literal["idle", "working"] | None, Option("--state")] = None,
    scope: Annotated[list[Scope] | None, Option("--scope", "-s")] = None,
    quiet: Annotated[bool, Option("--quiet", "-q")] = False,
    everything: Annotated[bool, Option("--all", "-a")] = False,
) -> None:
    """A function with every kind of parameter."""


def copy(
    sources: Annotated[list[str], Argument("SOURCE")],
    target: Annotated[str, Argument("TARGET")],
) -> None:
    """A function with an argument after a list."""


def start(
    arguments: ForwardedArguments,
    goal: Annotated[str, Argument("GOAL")],
    name: Annotated[str, Option("--name", "-n")] = "",
    detached: Annotated[bool, Option("--detached", "-d")] = False,
) -> None:
    """A function that passes arguments on."""


def values(function: Any, line: str) -> dict[str, Any]:
    """The values of a line that differ from the defaults."""
    found = parse(Loaded(function), line.split())
    return {name: value for name, value in found.values.items() if value not in (None, False, "")}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("otter", {"agent": "otter", "last": 3}),
        ("otter a b", {"agent": "otter", "last": 3, "words": ["a", "b"]}),
        ("--last 5 otter", {"agent": "otter", "last": 5}),
        ("otter --last=5", {"agent": "otter", "last": 5}),
        ("otter -n 5", {"agent": "otter", "last": 5}),
        ("otter -n5", {"agent": "otter", "last": 5}),
        ("otter -n=5", {"agent": "otter", "last": 5}),
        ("-qa otter", {"agent": "otter", "last": 3, "quiet": True, "everything": True}),
        ("-qn 5 otter", {"agent": "otter", "last": 5, "quiet": True}),
        ("otter --speed 0.5 -f a.txt", {"agent": "otter", "last": 3, "speed": 0.5, "file": Path("a.txt")}),
        ("otter --state idle", {"agent": "otter", "last": 3, "state": "idle"}),
        ("otter -s read -s act", {"agent": "otter", "last": 3, "scope": [Scope.READ, Scope.ACT]}),
        ("otter -", {"agent": "otter", "last": 3, "words": ["-"]}),
        ("otter -- --last", {"agent": "otter", "last": 3, "words": ["--last"]}),
        ("otter --file -x", {"agent": "otter", "last": 3, "file": Path("-x")}),
    ],
)
def test_values(line: str, expected: dict[str, Any]) -> None:
    """Options stand before, between or after arguments, in all common forms."""
    assert values(tell, line) == expected


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("", "Missing argument 'AGENT'."),
        ("otter --lasst 5", "No such option: --lasst (Possible options: --last)"),
        ("otter -x", "No such option: -x"),
        ("otter --last", "Option '--last' requires an argument."),
        ("otter --quiet=yes", "Option '--quiet' does not take a value."),
        ("otter --last many", "Invalid value for '--last': 'many' is not a whole number."),
        ("otter -n 0", "Invalid value for '--last': 0 is not in the range 1<=x<=9."),
        ("otter -n 10", "Invalid value for '--last': 10 is not in the range 1<=x<=9."),
        ("otter --speed fast", "Invalid value for '--speed': 'fast' is not a number."),
        ("otter --state gone", "Invalid value for '--state': 'gone' is not one of 'idle', 'working'."),
        ("otter --scope all", "Invalid value for '--scope': 'all' is not one of 'read', 'act'."),
    ],
)
def test_errors(line: str, error: str) -> None:
    """They name the parameter and say what is wrong."""
    with pytest.raises(UsageError) as raised:
        values(tell, line)
    assert str(raised.value) == error


def test_an_argument_after_a_list() -> None:
    """The list takes the rest."""
    assert values(copy, "a b c") == {"sources": ["a", "b"], "target": "c"}
    with pytest.raises(UsageError, match=r"Missing argument 'SOURCE'\."):
        values(copy, "c")


def test_too_many_arguments() -> None:
    """They are named."""

    def show(agent: Annotated[str, Argument("AGENT")]) -> None:
        """A function with one argument."""

    with pytest.raises(UsageError, match=r"Got unexpected extra arguments \(a b\)"):
        values(show, "otter a b")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("goal --model opus -p", ["--model", "opus", "-p"]),
        ("-d goal --model opus", ["--model", "opus"]),
        ("goal -- --name x", ["--name", "x"]),
        ("goal -dx", ["-dx"]),
    ],
)
def test_unknown_arguments_are_passed_on(line: str, expected: list[str]) -> None:
    """In their order; known options are not passed on before `--`."""
    found = values(start, line)
    assert (found["goal"], found["arguments"]) == ("goal", expected)
    assert "name" not in found


@pytest.mark.parametrize("line", ["-x name goal", "--model opus goal"])
def test_an_unknown_option_is_no_argument(line: str) -> None:
    """What is passed on comes after the arguments: before them, it may be meant for the command itself."""
    with pytest.raises(UsageError, match=rf"No such option: {line.split(maxsplit=1)[0]}\. .* comes after the GOAL"):
        values(start, line)


def test_a_text_may_begin_with_a_dash() -> None:
    """A list, for example."""
    assert parse(Loaded(start), ["- fix it\n- test it"]).values["goal"] == "- fix it\n- test it"


def begin(
    arguments: ForwardedArguments,
    place: Annotated[
        str | None, Option("--place").value_if(lambda word: word != "codex" and not word.startswith("-"))
    ] = None,
) -> None:
    """A function with an option whose value can be left out."""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", (None, [])),
        ("--place", ("", [])),
        ("--place here", ("here", [])),
        ("--place=codex", ("codex", [])),
        ("--place codex", ("", ["codex"])),
        ("--place --model opus", ("", ["--model", "opus"])),
        ("codex --place here more", ("here", ["codex", "more"])),
    ],
)
def test_an_option_whose_value_can_be_left_out(line: str, expected: tuple[str | None, list[str]]) -> None:
    """The option decides whether the next word is its value."""
    found = parse(Loaded(begin), line.split()).values
    assert (found["place"], found["arguments"]) == expected


@pytest.mark.parametrize("line", ["--help", "otter -h", "-qh"])
def test_help(line: str) -> None:
    """Wherever it stands, also if an argument is missing."""
    with pytest.raises(HelpWanted):
        values(tell, line)
