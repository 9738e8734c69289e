"""CLI commands about the hooks in clients: `install`, `uninstall`, and `doctor`, which tests them."""

import sys
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from claude_headspace.clients import settings_change
from claude_headspace.clients.capabilities import require
from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.clients.client import Capability
from claude_headspace.clients.config_dirs import update_config_dirs
from claude_headspace.clients.files import restored_on_failure
from claude_headspace.clients.installation import INSTALLERS, installer_of, needs_review
from claude_headspace.clients.settings_change import Change
from claude_headspace.config import Paths, find_paths, load_settings
from claude_headspace.errors import BadConfiguration, HeadspaceError
from claude_headspace.surfaces.auth.tokens import Scope
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Option
from claude_headspace.surfaces.cli.hook_targets import (
    Clients,
    ConfigDirs,
    Failure,
    Plan,
    find_targets,
    installed_targets,
    plan_installations,
    plan_removals,
)
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

DryRun = Annotated[bool, Option("--dry-run", "-n", help="Only show what would change.")]
Yes = Annotated[bool, Option("--yes", "-y", help="Do not ask for confirmation.")]
Trust = Annotated[
    bool,
    Option(
        "--trust-codex-hooks",
        help="Accept the hooks in Codex now. Without this, Codex asks you to review them at its next start; --yes does "
        "not accept them.",
    ),
]

NOTHING_CHANGED = "Nothing was changed. "
"""The beginning of the hint of an error about one config dir."""
REVIEW_NOTE = "{} asks you to review these hooks at its next start. It runs them after you accept them."


@examples(
    "headspace install",
    "headspace install --dry-run",
    "headspace install --client codex --client gemini",
    "headspace install --yes -c ~/.claude -c ~/.claude-team",
)
def install(
    client: Clients = None,
    config_dir: ConfigDirs = None,
    transport: Annotated[
        Literal["command", "http"],
        Option(
            "--transport",
            help="For Claude Code: a script, which stores events while the daemon is down; or HTTP, which loses them.",
        ),
    ] = "command",
    client_version: Annotated[
        str | None,
        Option("--client-version", metavar="X.Y.Z", help="Version of Claude Code; default: ask `claude`."),
    ] = None,
    statusline: Annotated[
        bool,
        Option(
            "--statusline",
            help="Also read the status line of Claude Code: context, cost, limits. An existing status line keeps "
            "working.",
        ),
    ] = False,
    trust_codex_hooks: Trust = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Install the hooks in your clients.

    Adds the hooks to the settings of Claude Code and of every other client on this machine, keeps existing hooks, and
    copies the hook script next to them. `headspace uninstall` restores the original files.
    """
    paths, screen = find_paths(), output.screen()
    url = _daemon_url(paths) if transport == "http" else None
    targets = find_targets(config_dir, client, paths)
    names = list(dict.fromkeys(name for name, _ in targets))
    wanted = {Capability.HTTP_HOOKS: url is not None, Capability.STATUS_LINE: statusline}
    notes = _unsupported([each for each, is_wanted in wanted.items() if is_wanted], names, named=bool(client))
    installers = {name: installer_of(name, version=client_version, url=url, status_line=statusline) for name in names}
    plans, failures = plan_installations(targets, installers, trusted=trust_codex_hooks)
    if dry_run:
        screen.show(settings_diff([plan for _, plan in plans]))
        _report_failures(failures, "installed in")
        return
    if not yes:
        for name, installer in installers.items():
            screen.show(hook_reasons(CLIENTS[name].title, installer.registered, installer.not_registered, screen.width))
        _confirm(f"Install these hooks in {_directories(plans)}?")
        plans = agree_on_review(plans)
    failures += install_hooks(plans, paths)
    failed = {(name, path) for name, path, _ in failures}
    done = [(name, plan) for name, plan in plans if (name, plan.config.path) not in failed]
    lines = [*install_result(done, "installed"), *review_notes(done), *map(output.line, notes)]
    screen.show(lines, then=install_footer(transport))
    _report_failures(failures, "installed in")


def _unsupported(wanted: Sequence[Capability], names: Sequence[str], *, named: bool) -> list[str]:
    """What clients cannot do of the options. An error if the user named clients and none of them can."""
    for capability in wanted:
        if named and not any(CLIENTS[name].can(capability) for name in names):
            require(names[0], capability)
    return [CLIENTS[name].limits[each] for each in wanted for name in names if not CLIENTS[name].can(each)]


def _report_failures(failures: Sequence[Failure], action: str) -> None:
    """Raise an error that says where hooks were not installed or removed, if there is such a place.

    Elsewhere they were, so the hints do not say that nothing was changed.
    """
    if failures:
        texts = [f"Not {action} {path}: {error.message}" for _, path, error in failures]
        hints = dict.fromkeys(error.hint.removeprefix(NOTHING_CHANGED) for _, _, error in failures)
        raise BadConfiguration(f"not_{action.split(maxsplit=1)[0]}", " ".join(texts), " ".join(hints))


def agree_on_review(plans: Sequence[Plan]) -> list[Plan]:
    """Ask separately whether the user accepts the hooks in clients that would ask for it at their next start."""
    return [(name, _reviewed(name, plan)) for name, plan in plans]


def _reviewed(client: str, plan: Change) -> Change:
    if not needs_review(client, plan):
        return plan
    title, path = CLIENTS[client].title, plan.config.path
    question = f"{title} asks you to review new hooks at its next start. Accept them now, in {path}/config.toml?"
    return INSTALLERS[client].plan_install(path, trusted=True) if output.ask(question, default=False) else plan


def review_notes(plans: Sequence[Plan]) -> list[output.Line]:
    """What the user still has to accept."""
    return [output.line(REVIEW_NOTE.format(CLIENTS[name].title)) for name, plan in plans if needs_review(name, plan)]


def install_hooks(plans: Sequence[Plan], paths: Paths) -> list[Failure]:
    """Install hooks as planned, and record the directories; returns where that failed.

    The installation of one client leaves nothing behind if it fails. Raises if it fails for all clients.
    """
    failures, clients = list[Failure](), list(dict.fromkeys(name for name, _ in plans))
    for client in clients:
        own = [plan for name, plan in plans if name == client]
        try:
            _install_client(client, own, paths)
        except HeadspaceError as error:
            if len(clients) == 1:
                raise
            failures += [(client, plan.config.path, error) for plan in own]
    return failures


def _install_client(client: str, plans: Sequence[Change], paths: Paths) -> None:
    own = (paths.spool, paths.runtime, paths.data, paths.config)
    files = [paths.secret_file, paths.config_dirs_file, *(file for plan in plans for file in plan.files)]
    folders = [*own, *(parent for folder in own for parent in folder.parents)]
    with restored_on_failure(files, [*folders, *(each for plan in plans for each in plan.config.folders)]):
        paths.create_directories()
        token = local_tokens(paths)[Scope.INGEST]
        for plan in plans:
            settings_change.install(plan, paths.state, token)
            update_config_dirs(paths, installed=[plan.config.path], client=client)


@examples("headspace uninstall", "headspace uninstall --client codex", "headspace uninstall --yes -c ~/.claude-team")
def uninstall(client: Clients = None, config_dir: ConfigDirs = None, dry_run: DryRun = False, yes: Yes = False) -> None:
    """Remove the hooks from your clients.

    Unchanged settings are restored byte for byte. If they were edited since, only the hooks of Headspace are removed.
    """
    paths, screen = find_paths(), output.screen()
    targets = find_targets(config_dir, client, paths)
    if not client:
        targets = installed_targets(targets, paths)
    plans, failures = plan_removals(targets)
    if dry_run:
        screen.show(settings_diff([plan for _, plan in plans]))
        _report_failures(failures, "removed from")
        return
    if not yes:
        _confirm(f"Remove the hooks of Headspace from {_directories(plans)}?")
    done = list[Plan]()
    for name, plan in plans:
        try:
            _uninstall(name, plan, paths)
            done.append((name, plan))
        except HeadspaceError as error:
            if len(plans) == 1:
                raise
            failures.append((name, plan.config.path, error))
    screen.show(install_result(done, "removed"))
    _report_failures(failures, "removed from")


def _uninstall(client: str, plan: Change, paths: Paths) -> None:
    settings_change.uninstall(plan)
    if paths.state.exists():
        update_config_dirs(paths, removed=[plan.config.path], client=client)


@examples("headspace doctor", "headspace doctor --json | jq '.places[].checks[] | select(.status != \"ok\")'")
def doctor(client: Clients = None, config_dir: ConfigDirs = None, as_json: AsJson = False) -> None:
    """Check everything from the hooks to the database.

    Sends a test event through the installed hook. Exits with 1 if a check fails; each failure says what to do.
    """
    paths = find_paths()
    report = run_checks(find_targets(config_dir, client, paths), paths)
    found = msgspec.to_builtins(report)
    output.write_result(found, as_json, lambda found, screen: doctor_report(found, screen.width))
    if not report.ok:
        sys.exit(1)


def _daemon_url(paths: Paths) -> str:
    """The address of the running daemon, or the configured one."""
    if (daemon := find_daemon(paths)) is not None:
        return daemon.url
    settings = load_settings(paths)
    return f"http://{settings.host}:{settings.port}"


def _directories(plans: Sequence[Plan]) -> str:
    return ", ".join(str(plan.config.path) for _, plan in plans)


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise BadConfiguration(
            "not_asked", "Confirmation needs a terminal.", "Add --yes, or review the changes with --dry-run."
        )
    if not output.ask(question, default=True):
        sys.exit()
