"""The help of a command: usage, description, arguments, options, commands and examples."""

import os
from collections.abc import Iterable, Sequence
from enum import Enum
from pathlib import Path
from textwrap import TextWrapper

from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option, Parameter, format_range

MAX_WIDTH, MIN_WIDTH = 78, 50
MAX_NAME = 30
"""A longer name has its text on the next line."""
INDENT = "  "

HELP = ("-h, --help", "Show this message and exit.")

Row = tuple[str, str]


def terminal_width() -> int:
    """The width for help texts."""
    try:
        columns = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
    except (OSError, ValueError):
        columns = 80
    return max(min(columns - 2, MAX_WIDTH), MIN_WIDTH)


def usage_line(path: str, parameters: Sequence[Parameter], *, is_group: bool) -> str:
    """How to call a command."""
    arguments = [_usage(each) for each in parameters if isinstance(each.described, Argument)]
    return " ".join(["Usage:", path, "[OPTIONS]", *(["COMMAND", "[ARGS]..."] if is_group else arguments)])


def _usage(argument: Parameter) -> str:
    name = argument.label if argument.is_required else f"[{argument.label}]"
    return f"{name}..." if argument.is_list else name


def help_text(
    usage: str, description: str, parameters: Sequence[Parameter], commands: Iterable[Row], ending: Sequence[str]
) -> str:
    """The whole help. The lines at the end are kept as they are."""
    width = terminal_width()
    shown = [each for each in parameters if not (isinstance(each.described, Option) and each.described.hidden)]
    arguments = [(each.label, _about(each)) for each in shown if isinstance(each.described, Argument)]
    options = [(_names(each), _about(each)) for each in shown if isinstance(each.described, Option)]
    blocks = [
        _wrap(usage, width, hanging=" " * 7),
        "\n\n".join(_wrap(f"{INDENT}{' '.join(part.split())}", width, INDENT) for part in description.split("\n\n")),
        _table("Arguments", arguments, width),
        _table("Options", [*options, HELP], width),
        _table("Commands", list(commands), width),
        "\n".join(f"{INDENT}{line}" for line in ending),
    ]
    return "\n\n".join(filter(None, blocks))


def _wrap(text: str, width: int, hanging: str) -> str:
    return TextWrapper(width, subsequent_indent=hanging, break_long_words=False).fill(text)


def _table(title: str, rows: Sequence[Row], width: int) -> str:
    if not rows:
        return ""
    column = min(max(len(name) for name, _ in rows), MAX_NAME) + 2
    return "\n".join((f"{title}:", *(_row(name, text, column, width) for name, text in rows)))


def _row(name: str, text: str, column: int, width: int) -> str:
    wrapped = TextWrapper(max(width - column - 2, 10), break_long_words=False).wrap(text)
    hanging = f"\n{INDENT}{' ' * column}"
    start = hanging if len(name) > column - 2 else " " * (column - len(name))
    return f"{INDENT}{name}{start}{hanging.join(wrapped)}"


def _names(option: Parameter) -> str:
    """The names of an option, the short ones first, and the name of its value."""
    names = ", ".join(sorted(option.described.names, key=len)) if isinstance(option.described, Option) else ""
    return names if option.is_flag else f"{names} {value_name(option)}"


def value_name(parameter: Parameter) -> str:
    """The name of a value: as declared, or by its type. A text is named like its option."""
    described = parameter.described
    if isinstance(described, Option) and described.metavar:
        return described.metavar
    if parameter.choices:
        return f"<{'|'.join(parameter.choices)}>"
    if parameter.type in (int, float):
        return "N"
    return "FILE" if parameter.type is Path else parameter.label.lstrip("-").upper()


def _about(parameter: Parameter) -> str:
    """The text of a parameter, with its default and limits."""
    notes = filter(None, (_default(parameter), _limits(parameter), "required" if parameter.is_required else ""))
    joined = "; ".join(notes)
    return f"{parameter.described.help}  [{joined}]" if joined else parameter.described.help


def _default(parameter: Parameter) -> str:
    default, described = parameter.default, parameter.described
    if default in (None, "", False) or (isinstance(described, Option) and not described.show_default):
        return ""
    return f"default: {default.value if isinstance(default, Enum) else default}"


def _limits(parameter: Parameter) -> str:
    limits = parameter.described.range if isinstance(parameter.described, Option) else (None, None)
    return format_range(*limits) if limits != (None, None) else ""
