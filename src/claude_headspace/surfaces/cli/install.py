"""Commands about Claude Code's hooks: `install`, `uninstall`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from claude_headspace.config import Paths
from claude_headspace.surfaces.cli.options import places

if TYPE_CHECKING:
    from claude_headspace.clients.claude_code.hooks.installation import Change, ConfigDir

ConfigDirs = Annotated[
    list[Path] | None,
    typer.Option(
        "--config-dir",
        "-c",
        metavar="DIR",
        help="Configuration directory of Claude Code; may be given several times. "
        "Without it $CLAUDE_CONFIG_DIR or ~/.claude, those of the setting config_dirs, and where it is installed.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", "-n", help="Only show what would change.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def install(
    config_dir: ConfigDirs = None,
    transport: Annotated[
        Literal["command", "http"],
        typer.Option(
            "--transport", help="A script, which keeps events while the daemon is down; or HTTP, which loses them."
        ),
    ] = "command",
    client_version: Annotated[
        str | None,
        typer.Option("--client-version", metavar="X.Y.Z", help="Claude Code's version; without it `claude` is asked."),
    ] = None,
    statusline: Annotated[
        bool,
        typer.Option(
            "--statusline",
            help="Also read Claude Code's status line: context, cost, limits. One that is there goes on as it is.",
        ),
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Let Claude Code report to Headspace.

    Adds hooks to settings.json beside those that are there, and puts the script they run into the directory hooks.
    `headspace uninstall` gives the file back as it was. Sessions that run already pick the hooks up by themselves.
    """
    from claude_headspace.clients.claude_code.hooks import installation as installed
    from claude_headspace.clients.claude_code.hooks.events import events_for
    from claude_headspace.clients.claude_code.hooks.version import find_version, parse_version
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.installation import after_install, differences, outcome, reasons

    home, screen = places(), terminal.screen()
    url = _url(home) if transport == "http" else None
    events = events_for(parse_version(client_version) if client_version else find_version())
    plans = [
        installed.plan_install(config, events, url, status_line=statusline) for config in config_dirs(config_dir, home)
    ]
    if dry_run:
        screen.show(differences(plans))
        return
    if not yes:
        screen.show(reasons(events, screen.width))
        _confirm(f"Install these hooks in {_names(plans)}?")
    carry_out(plans, home)
    screen.show(outcome(plans, "installed"), then=after_install(transport))


def carry_out(plans: "Sequence[Change]", home: Paths) -> None:
    """Install what was agreed on, and remember where."""
    from claude_headspace.clients.claude_code.hooks import installation as installed
    from claude_headspace.config import update_config_dirs
    from claude_headspace.surfaces.auth.tokens import Scope
    from claude_headspace.surfaces.client.api_client import local_tokens

    home.create_directories()
    token = local_tokens(home)[Scope.INGEST]
    for plan in plans:
        installed.install(plan, home.state, token)
    if plans:
        update_config_dirs(home, installed=[plan.config.path for plan in plans])


def uninstall(config_dir: ConfigDirs = None, dry_run: DryRun = False, yes: Yes = False) -> None:
    """Take the hooks away again.

    If nobody has changed settings.json since, it becomes byte for byte what it was; else only our hooks are removed.
    """
    from claude_headspace.clients.claude_code.hooks import installation as installed
    from claude_headspace.config import update_config_dirs
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.installation import differences, outcome

    home, screen = places(), terminal.screen()
    plans = [installed.plan_uninstall(config) for config in config_dirs(config_dir, home)]
    if dry_run:
        screen.show(differences(plans))
        return
    if not yes:
        _confirm(f"Remove Headspace's hooks from {_names(plans)}?")
    for plan in plans:
        installed.uninstall(plan)
    if home.state.exists():
        update_config_dirs(home, removed=[plan.config.path for plan in plans])
    screen.show(outcome(plans, "removed"))


def config_dirs(given: Sequence[Path] | None, home: Paths) -> list["ConfigDir"]:
    """The directories that are meant, each once."""
    from claude_headspace.clients.claude_code.hooks.installation import ConfigDir
    from claude_headspace.config import installed_config_dirs, load_settings

    named = list(given or [])
    if not named:
        named = [usual_config_dir(), *map(Path, load_settings(home).config_dirs), *installed_config_dirs(home)]
    return [ConfigDir(path) for path in dict.fromkeys(path.expanduser().absolute() for path in named)]


def usual_config_dir() -> Path:
    """Where Claude Code keeps its settings, as it finds out itself."""
    import os

    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude")


def _url(home: Paths) -> str:
    """Where the daemon is, or will be."""
    from claude_headspace.config import load_settings
    from claude_headspace.surfaces.client.running_daemon import find_daemon

    if (daemon := find_daemon(home)) is not None:
        return daemon.url
    settings = load_settings(home)
    return f"http://{settings.host}:{settings.port}"


def _names(plans: Sequence["Change"]) -> str:
    return ", ".join(str(plan.config.path) for plan in plans)


def _confirm(question: str) -> None:
    import sys

    from claude_headspace.errors import BadConfiguration

    if not sys.stdin.isatty():
        raise BadConfiguration("not_asked", "There is nobody here to ask.", "Add --yes, or look first with --dry-run.")
    if not typer.confirm(question, default=True):
        raise typer.Exit
