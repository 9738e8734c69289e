"""The program `headspace`: the CLI commands of `surfaces.cli`, and those that import the daemon or the journal.

Exit codes
    0    success, also if there was nothing to do
    1    failure; standard error gives the reason and the next step
    2    usage error: unknown option or missing argument
    3    the daemon is required and does not answer; `status`: no daemon answers
    4    `run`: the daemon rejected the agent, for example because its name is taken
    127  `run`, `resume`: the client is not installed
`run` and `resume` otherwise exit with the code of the client, or 128 plus the number of the signal that ended it.
"""

import sys
from typing import Annotated

import typer
from typer.core import TyperGroup

from claude_headspace import __version__
from claude_headspace.errors import ClientMissing, DaemonMissing, HeadspaceError, RegistrationRefused
from claude_headspace.surfaces.cli.commands import COMMANDS, GROUPS
from claude_headspace.surfaces.cli.lazy import Command, Group, add_entries, example_lines, make_group
from claude_headspace.surfaces.text.formatting import clean_text

EXIT_ERROR = 1
EXIT_CODES: dict[type[HeadspaceError], int] = {DaemonMissing: 3, RegistrationRefused: 4, ClientMissing: 127}

FIRST_COMMANDS = (
    Command("demo", "claude_headspace.demo.command:demo", "Run a demo with simulated agents."),
    Command("serve", "claude_headspace.daemon.command:serve", "Run the daemon in the foreground."),
)
DATABASE = Group(
    "db",
    "Maintain the database.",
    (
        Command("upgrade", "claude_headspace.database:upgrade", "Upgrade the database to this version."),
        Command("verify", "claude_headspace.database:verify", "Compare the projections with a replay of the log."),
        Command("rebuild", "claude_headspace.database:rebuild", "Rebuild the projections from the log."),
        Command("backup", "claude_headspace.database:backup", "Back up the database to a file."),
        Command("prune", "claude_headspace.database:prune", "Delete events that are older than the retention period."),
        Command("copy", "claude_headspace.database:copy", "Copy the journal to another database."),
    ),
)

ABOUT = "Mission control for coding agents: see what every agent is doing, which one needs you, and why."
FIRST_STEPS = example_lines(
    "First steps:",
    "headspace demo    (simulated agents, in a temporary directory)",
    "headspace up      (your own sessions)",
)


def main() -> None:
    """Run a command. An error is printed as two lines: what happened, and what to do."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # both are text files
    try:
        application()(prog_name="headspace")
    except HeadspaceError as error:
        _print_error(error.message, error.hint)
        sys.exit(EXIT_CODES.get(type(error), EXIT_ERROR))
    except OSError as error:
        _print_error(
            f"A file cannot be used: {error}.",
            "`headspace config` shows the file locations; check that you own these files.",
        )
        sys.exit(EXIT_ERROR)


def _print_error(message: str, hint: str) -> None:
    typer.echo(clean_text(f"{message}\n{hint}"), err=True)


def application() -> TyperGroup:
    """The command `headspace` with all its commands."""
    group = make_group(_options, help=ABOUT, epilog=FIRST_STEPS, add_completion=True)
    add_entries(group, (*FIRST_COMMANDS, *COMMANDS, *GROUPS, DATABASE))
    return group


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"headspace {__version__}")
        raise typer.Exit


def _options(
    _version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...
