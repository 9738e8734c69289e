"""CLI commands that are imported when they are invoked, so that `headspace --help` and every command start fast.

A command is an entry of a table: its name, its function as `module:function`, and its summary for the list of commands.
The module is imported by `LazyCommand.load`, when the command is invoked or its own help is shown. Command modules
therefore import everything they need at their top. The function has the examples for the help (`options.examples`).
"""

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

SETTINGS = {"help_option_names": ["-h", "--help"]}

VALUE_NAMES = {"int": "N", "int range": "N", "float range": "N", "path": "FILE"}
"""The names of option values in the help, by type. A text is named like its option."""


class Command(NamedTuple):
    """A command. The first line of its function's docstring is the summary."""

    name: str
    function: str
    summary: str
    forwards_arguments: bool = False
    """Whether unknown arguments are passed on to the program that the command starts."""


class Group(NamedTuple):
    """A group of commands. With a function the group is also a command of its own."""

    name: str
    summary: str
    commands: Sequence[Command]
    function: str = ""


class PlainCommand(TyperCommand):
    """A command whose help names values as people do: `AGENT`, `[FILE]`, `--last N`."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The arguments in the usage line. Required ones have no braces."""
        return [re.sub(r"^\{(.+)\}(\.*)$", r"\1\2", piece) for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The arguments and options, without Python types."""
        _write_parameters(self, ctx, formatter)


class PlainGroup(TyperGroup):
    """A group with the same help."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The options and commands, without Python types."""
        _write_parameters(self, ctx, formatter)
        self.format_commands(ctx, formatter)


def _write_parameters(command: TyperCommand | TyperGroup, ctx: Any, formatter: Any) -> None:
    for kind, title in (("argument", "Arguments"), ("option", "Options")):
        records = [each.get_help_record(ctx) for each in command.get_params(ctx) if each.param_type_name == kind]
        rows = [(_plain_name(name, kind), text) for name, text in filter(None, records)]
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


def _plain_name(name: str, kind: str) -> str:
    """The name of a parameter and of its value: `--name <str>` becomes `--name NAME`."""
    plain, _, type_name = name.rstrip(">").partition(" <")
    if kind == "argument" or not type_name:
        return plain
    if "|" in type_name:
        return f"{plain} <{type_name.removeprefix('list[').removesuffix(']')}>"
    return f"{plain} {VALUE_NAMES.get(type_name) or plain.rpartition('--')[2].upper()}"


class LazyCommand(TyperCommand):
    """Stands for a command in lists and completions. Its context is that of the real command."""

    def __init__(self, entry: Command | Group) -> None:
        super().__init__(entry.name, short_help=entry.summary, rich_markup_mode=None)
        self.entry = entry

    def load(self) -> TyperCommand | TyperGroup:
        """Import the command's module."""
        match self.entry:
            case Command():
                return _load_command(self.entry)
            case Group():
                return _load_group(self.entry)

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Called when the command is invoked, shows its help, or completes its arguments."""
        return self.load().make_context(*args, **extra)


def add_entries(group: TyperGroup, entries: Sequence[Command | Group]) -> None:
    """Add commands and groups to a group, in this order."""
    for entry in entries:
        group.add_command(LazyCommand(entry))


def make_group(callback: Any, **settings: Any) -> TyperGroup:
    """A group without commands, whose options are those of its callback."""
    app = _app(add_completion=settings.pop("add_completion", False), no_args_is_help=True)
    app.callback(cls=PlainGroup, **settings)(callback)
    return cast(TyperGroup, get_command(app))


def example_lines(title: str, *lines: str) -> str:
    r"""Lines for the end of a help text. `\b` keeps their line breaks."""
    return "\n".join(("\b", title, *(f"  {each}" for each in lines)))


def _load_command(entry: Command) -> TyperCommand:
    app, function = _app(add_completion=False), _function(entry.function)
    forward = {"allow_extra_args": True, "ignore_unknown_options": True} if entry.forwards_arguments else {}
    app.command(entry.name, cls=PlainCommand, epilog=_epilog(function), context_settings=SETTINGS | forward)(function)
    return cast(TyperCommand, get_command(app))


def _load_group(entry: Group) -> TyperGroup:
    if entry.function:
        function = _function(entry.function)
        group = make_group(function, invoke_without_command=True, no_args_is_help=False, epilog=_epilog(function))
    else:
        group = make_group(lambda: None, help=entry.summary)
    add_entries(group, entry.commands)
    return group


def _function(path: str) -> Any:
    """The function that `module:function` names. A relative module is one of this package."""
    module, _, name = path.partition(":")
    return getattr(import_module(module, __package__), name)


def _epilog(function: Any) -> str:
    return example_lines("Examples:", *function.examples)


def _app(**settings: Any) -> typer.Typer:
    return typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None, context_settings=SETTINGS, **settings)
