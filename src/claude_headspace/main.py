"""The program `headspace`: the CLI commands of `surfaces.cli`, and those that import the daemon or the journal.

Exit codes
    0    success, also if there was nothing to do
    1    failure; standard error gives the reason and the next step
    2    usage error: unknown option or missing argument
    3    the daemon is required and does not answer; `status`: no daemon answers
    4    `run`: the daemon rejected the agent, for example because its name is taken
    126  `run`, `resume`: the program of the client cannot be run
    127  `run`, `resume`: the client is not installed
    130  interrupted with Ctrl+C
`run` and `resume` otherwise exit with the code of the client, or 128 plus the number of the signal that ended it.
"""

import os
import sys
from typing import Annotated

from claude_headspace import __version__
from claude_headspace.errors import ClientMissing, ClientUnusable, DaemonMissing, HeadspaceError, RegistrationRefused
from claude_headspace.surfaces.cli.arguments.echo import echo
from claude_headspace.surfaces.cli.arguments.parameters import Option
from claude_headspace.surfaces.cli.arguments.tree import Command, Group, run
from claude_headspace.surfaces.cli.commands import COMMANDS, GROUPS, INSTEAD
from claude_headspace.surfaces.text.formatting import clean_text

EXIT_ERROR = 1
EXIT_INTERRUPTED = 130
EXIT_CODES: dict[type[HeadspaceError], int] = {
    DaemonMissing: 3,
    RegistrationRefused: 4,
    ClientUnusable: 126,
    ClientMissing: 127,
}

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

HEADSPACE = Group(
    "headspace",
    "Mission control for coding agents: see what every agent is doing, which one needs you, and why.",
    (*FIRST_COMMANDS, *COMMANDS, *GROUPS, DATABASE),
    function="claude_headspace.main:show_help",
    ending=(
        "First steps:",
        "  headspace demo    (simulated agents, in a temporary directory)",
        "  headspace up      (your own sessions)",
    ),
    instead=INSTEAD,
)


def main() -> None:
    """Run a command. An error is printed as two lines: what happened, and what to do."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # both are text files
    try:
        _run()
    except HeadspaceError as error:
        _print_error(error.message, error.hint)
        sys.exit(EXIT_CODES.get(type(error), EXIT_ERROR))
    except BrokenPipeError:  # the reader of the output has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_ERROR)
    except OSError as error:
        _print_error(
            f"A file cannot be used: {error}.",
            "`headspace config` shows the file locations; check that you own these files.",
        )
        sys.exit(EXIT_ERROR)
    except EOFError:  # the input ended at a question
        echo("\nAborted.", is_error=True)
        sys.exit(EXIT_ERROR)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


def _run() -> None:
    if "_HEADSPACE_COMPLETE" in os.environ:
        from claude_headspace.surfaces.cli.arguments.completion import answer_shell  # noqa: PLC0415  # rarely needed

        if answer_shell(HEADSPACE, os.environ):
            return
    run(HEADSPACE, sys.argv[1:], HEADSPACE.name)
    sys.stdout.flush()


def _print_error(message: str, hint: str) -> None:
    echo(clean_text(f"{message}\n{hint}"), is_error=True)


def _print_version() -> None:
    echo(f"headspace {__version__}")


def _install_completion() -> None:
    from claude_headspace.surfaces.cli.arguments.completion import install_script  # noqa: PLC0415  # rarely needed

    install_script()


def _show_completion() -> None:
    from claude_headspace.surfaces.cli.arguments.completion import show_script  # noqa: PLC0415  # rarely needed

    show_script()


def show_help(
    _version: Annotated[bool, Option("--version", "-V", help="Print the version.", action=_print_version)] = False,
    _install: Annotated[
        bool,
        Option("--install-completion", help="Install completion for the current shell.", action=_install_completion),
    ] = False,
    _show: Annotated[
        bool,
        Option(
            "--show-completion",
            help="Show completion for the current shell, to copy it or customize the installation.",
            action=_show_completion,
        ),
    ] = False,
) -> None:
    """Mission control for coding agents: see what every agent is doing, which one needs you, and why."""
    echo(HEADSPACE.load().help(HEADSPACE.name))
