"""CLI commands about the hooks in Claude Code: `install`, `uninstall`, and `doctor`, which tests them."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from claude_headspace.clients import settings_change
from claude_headspace.clients.claude_code import environment
from claude_headspace.clients.claude_code.hooks import installation
from claude_headspace.clients.claude_code.hooks.events import events_for
from claude_headspace.clients.claude_code.hooks.installation import ConfigDir
from claude_headspace.clients.claude_code.hooks.version import find_version, parse_version
from claude_headspace.clients.config_dirs import installed_config_dirs, update_config_dirs
from claude_headspace.clients.files import restored_on_failure
from claude_headspace.clients.settings_change import Change
from claude_headspace.config import Paths, find_paths, load_settings
from claude_headspace.errors import BadConfiguration
from claude_headspace.surfaces.auth.tokens import Scope
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.options import AsJson, examples
from claude_headspace.surfaces.cli.presentation.setup import (
    doctor_report,
    hook_reasons,
    install_footer,
    install_result,
    settings_diff,
)
from claude_headspace.surfaces.client.api_client import local_tokens
from claude_headspace.surfaces.client.doctor import run_checks
from claude_headspace.surfaces.client.running_daemon import find_daemon

ConfigDirs = Annotated[
    list[Path] | None,
    typer.Option(
        "--config-dir",
        "-c",
        metavar="DIR",
        help="Config dir of Claude Code; repeatable. Default: $CLAUDE_CONFIG_DIR or ~/.claude, the setting "
        "config_dirs, and every directory with installed hooks.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", "-n", help="Only show what would change.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


@examples("headspace install", "headspace install --dry-run", "headspace install --yes -c ~/.claude -c ~/.claude-team")
def install(
    config_dir: ConfigDirs = None,
    transport: Annotated[
        Literal["command", "http"],
        typer.Option(
            "--transport", help="A script, which stores events while the daemon is down; or HTTP, which loses them."
        ),
    ] = "command",
    client_version: Annotated[
        str | None,
        typer.Option("--client-version", metavar="X.Y.Z", help="Version of Claude Code; default: ask `claude`."),
    ] = None,
    statusline: Annotated[
        bool,
        typer.Option(
            "--statusline",
            help="Also read the status line of Claude Code: context, cost, limits. An existing status line keeps "
            "working.",
        ),
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Install the hooks in Claude Code.

    Adds the hooks to settings.json, keeps existing hooks, and copies the hook script to the directory `hooks`. Running
    sessions use the new hooks without a restart. `headspace uninstall` restores the original file.
    """
    paths, screen = find_paths(), output.screen()
    url = _daemon_url(paths) if transport == "http" else None
    events = events_for(parse_version(client_version) if client_version else find_version())
    plans = [
        installation.plan_install(config, events, url, status_line=statusline)
        for config in config_dirs(config_dir, paths)
    ]
    if dry_run:
        screen.show(settings_diff(plans))
        return
    if not yes:
        screen.show(hook_reasons(events, screen.width))
        _confirm(f"Install these hooks in {_directories(plans)}?")
    install_hooks(plans, paths)
    screen.show(install_result(plans, "installed"), then=install_footer(transport))


def install_hooks(plans: Sequence[Change], paths: Paths) -> None:
    """Install hooks as planned, and record the directories. Leaves nothing behind if one installation fails."""
    configs, own = [plan.config for plan in plans], (paths.spool, paths.runtime, paths.data, paths.config)
    files = [paths.secret_file, paths.config_dirs_file, *(file for config in configs for file in config.changed_files)]
    folders = [*own, *(parent for folder in own for parent in folder.parents)]
    with restored_on_failure(files, [*folders, *(each for config in configs for each in config.folders)]):
        paths.create_directories()
        token = local_tokens(paths)[Scope.INGEST]
        for plan in plans:
            settings_change.install(plan, paths.state, token)
        if plans:
            update_config_dirs(paths, installed=[config.path for config in configs])


@examples("headspace uninstall", "headspace uninstall --yes -c ~/.claude-team")
def uninstall(config_dir: ConfigDirs = None, dry_run: DryRun = False, yes: Yes = False) -> None:
    """Remove the hooks from Claude Code.

    An unchanged settings.json is restored byte for byte. If it was edited since, only the hooks of Headspace are
    removed.
    """
    paths, screen = find_paths(), output.screen()
    plans = [installation.plan_uninstall(config) for config in config_dirs(config_dir, paths)]
    if dry_run:
        screen.show(settings_diff(plans))
        return
    if not yes:
        _confirm(f"Remove the hooks of Headspace from {_directories(plans)}?")
    for plan in plans:
        settings_change.uninstall(plan)
    if paths.state.exists():
        update_config_dirs(paths, removed=[plan.config.path for plan in plans])
    screen.show(install_result(plans, "removed"))


@examples("headspace doctor", "headspace doctor --json | jq '.places[].checks[] | select(.status != \"ok\")'")
def doctor(config_dir: ConfigDirs = None, as_json: AsJson = False) -> None:
    """Check everything from the hooks to the database.

    Sends a test event through the installed hook. Exits with 1 if a check fails; each failure says what to do.
    """
    paths = find_paths()
    report = run_checks(config_dirs(config_dir, paths), paths)
    found = msgspec.to_builtins(report)
    output.write_result(found, as_json, lambda found, screen: doctor_report(found, screen.width))
    if not report.ok:
        raise typer.Exit(1)


def config_dirs(given: Sequence[Path] | None, paths: Paths) -> list[ConfigDir]:
    """The config dirs to change: the given ones, or all known ones, each once."""
    named = list(given or [])
    if not named:
        named = [default_config_dir(), *map(Path, load_settings(paths).config_dirs), *installed_config_dirs(paths)]
    return [ConfigDir(path) for path in dict.fromkeys(path.expanduser().absolute() for path in named)]


def default_config_dir() -> Path:
    """The config dir that Claude Code uses in this environment."""
    return Path(environment.config_dir(os.environ))


def _daemon_url(paths: Paths) -> str:
    """The address of the running daemon, or the configured one."""
    if (daemon := find_daemon(paths)) is not None:
        return daemon.url
    settings = load_settings(paths)
    return f"http://{settings.host}:{settings.port}"


def _directories(plans: Sequence[Change]) -> str:
    return ", ".join(str(plan.config.path) for plan in plans)


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise BadConfiguration(
            "not_asked", "Confirmation needs a terminal.", "Add --yes, or review the changes with --dry-run."
        )
    if not typer.confirm(question, default=True):
        raise typer.Exit
