"""The tree of commands. A command is imported when it is invoked, so that every command and `--help` start fast.

A command is an entry of a table: its name, its function as `module:function`, and its summary for the list of commands.
The module is imported when the command is invoked or its own help is shown. Command modules therefore import everything
they need at their top. The function has the examples for the help (`options.examples`).
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import NamedTuple

from claude_headspace.surfaces.cli.arguments.echo import echo
from claude_headspace.surfaces.cli.arguments.parameters import Parameter, find_forwarded, read_parameters
from claude_headspace.surfaces.cli.arguments.parse import HelpWanted, Parsed, UsageError

EXIT_USAGE = 2


class Command(NamedTuple):
    """A command. The first line of its function's docstring is the summary."""

    name: str
    function: str
    summary: str
    other_names: Sequence[str] = ()
    """Names that people know from other tools. They do the same, and the help does not list them."""

    def load(self) -> "Loaded":
        """Import the command."""
        return Loaded(import_function(self.function))


class Group(NamedTuple):
    """A group of commands. With a function the group is also a command of its own."""

    name: str
    summary: str
    commands: Sequence["Command | Group"]
    function: str = ""
    ending: Sequence[str] = ()
    """Lines at the end of the help."""
    instead: Mapping[str, str] = {}
    """Commands that people may expect, and what to use."""

    def load(self) -> "Loaded":
        """Import the function of the group."""
        return Loaded(import_function(self.function) if self.function else None, self)

    def find(self, name: str) -> "Command | Group | None":
        """One of its commands."""
        return next((each for each in self.commands if name in (each.name, *_other_names(each))), None)


def _other_names(entry: Command | Group) -> Sequence[str]:
    return entry.other_names if isinstance(entry, Command) else ()


def import_function(path: str) -> Callable[..., None]:
    """The function that `module:function` names. A relative module is one of this package."""
    module, _, name = path.partition(":")
    found: Callable[..., None] = getattr(import_module(module, "claude_headspace.surfaces.cli"), name)
    return found


class Loaded:
    """A command or group whose function is imported."""

    def __init__(self, function: Callable[..., None] | None, group: Group | None = None) -> None:
        self.function = function
        self.group = group
        self.parameters: list[Parameter] = read_parameters(function) if function else []
        self.forwarded = find_forwarded(function) if function else None
        """The parameter for arguments that are passed on to the program that the command starts."""

    @property
    def commands(self) -> Sequence[Command | Group]:
        """The commands of a group."""
        return self.group.commands if self.group else ()

    @property
    def description(self) -> str:
        """The text of the help."""
        text = (self.function.__doc__ if self.function else None) or (self.group.summary if self.group else "")
        first, _, rest = text.strip().partition("\n")
        return f"{first}\n{rest}".strip()

    def usage(self, path: str) -> str:
        """How to call it."""
        from claude_headspace.surfaces.cli.arguments.help_text import usage_line  # noqa: PLC0415  # only for help

        return usage_line(path, self.parameters, is_group=self.group is not None)

    def help(self, path: str) -> str:
        """The whole help."""
        from claude_headspace.surfaces.cli.arguments.help_text import help_text  # noqa: PLC0415  # only for help

        commands = [(each.name, each.summary) for each in self.commands]
        return help_text(self.usage(path), self.description, self.parameters, commands, self._ending())

    def _ending(self) -> Sequence[str]:
        if self.group is not None and self.group.ending:
            return self.group.ending
        examples: Sequence[str] = getattr(self.function, "examples", ())
        return ("Examples:", *(f"  {each}" for each in examples)) if examples else ()


def run(entry: Command | Group, words: Sequence[str], path: str) -> None:
    """Run a command with the words of the command line after its name."""
    loaded = entry.load()
    try:
        parsed = parse(loaded, words)
        if loaded.group is not None and parsed.rest:
            _run_command_of(loaded.group, parsed.rest, path)
        elif loaded.function is None:
            echo(loaded.help(path), is_error=True)
            sys.exit(EXIT_USAGE)
        else:
            loaded.function(**parsed.values)
    except HelpWanted:
        echo(loaded.help(path))
    except UsageError as error:
        echo(f"{loaded.usage(path)}\nTry '{path} -h' for help.\n\nError: {error}", is_error=True)
        sys.exit(EXIT_USAGE)


def parse(loaded: Loaded, words: Sequence[str]) -> Parsed:
    """The values of the parameters. For a group, the rest is the name of a command and its words."""
    parsed = Parsed(loaded.parameters, forwards=loaded.forwarded is not None, stops=loaded.group is not None)
    parsed.read(words)
    if loaded.group is None:
        parsed.fill_arguments()
    parsed.require(loaded.parameters)
    if loaded.forwarded is not None:
        parsed.values[loaded.forwarded] = parsed.rest
    return parsed


def _run_command_of(group: Group, words: Sequence[str], path: str) -> None:
    name, *rest = words
    if (entry := group.find(name)) is None:
        raise UsageError(f"No such command '{name}'.{_similar(name, group)}")
    run(entry, rest, f"{path} {name}")


def _similar(name: str, group: Group) -> str:
    if name in group.instead:
        return f" Use `{group.instead[name]}`."
    from difflib import get_close_matches  # noqa: PLC0415  # only for errors

    found = get_close_matches(name, [each.name for each in group.commands])
    return f" Did you mean {' or '.join(map(repr, found))}?" if found else ""
