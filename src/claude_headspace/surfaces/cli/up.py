"""The CLI commands `up` and `down`: everything that a first run needs, and how to stop it.

`up` is idempotent: it keeps what exists, updates what is outdated, and replaces a daemon that runs other code.
"""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.clients.installation import INSTALLERS, installer_of, needs_review
from claude_headspace.clients.settings_change import Change
from claude_headspace.config import Paths, find_paths
from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Option
from claude_headspace.surfaces.cli.config_set import store_setting
from claude_headspace.surfaces.cli.hook_targets import (
    Clients,
    ConfigDirs,
    Plan,
    Target,
    find_targets,
    plan_installations,
)
from claude_headspace.surfaces.cli.imports import import_transcripts, pending_transcripts
from claude_headspace.surfaces.cli.install import REVIEW_NOTE, Trust, Yes, agree_on_review, install_hooks
from claude_headspace.surfaces.cli.open import is_agent, open_in_browser
from claude_headspace.surfaces.cli.options import examples
from claude_headspace.surfaces.cli.presentation.setup import hooks_text, transcripts_text, up_result
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.client.running_daemon import DaemonInfo, find_daemon
from claude_headspace.surfaces.launch import background_daemon
from claude_headspace.surfaces.launch.service import Service
from claude_headspace.surfaces.text.formatting import clean_text
from claude_headspace.surfaces.text.labels import is_database_unavailable

STILL_STARTING = (
    "The daemon is still starting. After an upgrade it first rebuilds its projections, which takes a while for a large "
    "journal; see `headspace logs`."
)


@examples("headspace up", "headspace up --yes --no-open", "headspace up --port 5056", "headspace up --service")
def up(
    yes: Yes = False,
    no_hooks: Annotated[bool, Option("--no-hooks", help="Do not change the settings of clients.")] = False,
    no_open: Annotated[bool, Option("--no-open", help="Do not open the dashboard.")] = False,
    service: Annotated[
        bool,
        Option("--service", help="Run as a service that starts at login: systemd on Linux, launchd on macOS."),
    ] = False,
    port: Annotated[
        int | None, Option("--port", min=0, max=65_535, help="Port of the daemon; stored in config.toml.")
    ] = None,
    client: Clients = None,
    config_dir: ConfigDirs = None,
    trust_codex_hooks: Trust = False,
) -> None:
    """Start Headspace, install the hooks and open the dashboard.

    The daemon runs in the background. The command asks before it changes the settings of clients, and shows how to
    undo each step. Run it again after an upgrade: it replaces the running daemon without losing events.
    """
    paths, screen = find_paths(), output.screen()
    paths.create_directories()
    if port is not None:
        _store_port(paths, port)
    targets = [] if no_hooks else find_targets(config_dir, client, paths)
    agreed, hooks = _agree_on_hooks(targets, yes=yes, trusted=trust_codex_hooks)

    def say(text: str) -> None:
        screen.show([output.line(text)])

    with background_daemon.up_lock(paths, lambda: say("Waiting for another `headspace up`.")):
        daemon, how = _start_daemon(paths, lambda: say(STILL_STARTING), service=service, port=port)
        failures = install_hooks(agreed, paths)
    hooks += [_not_installed(path, error) for _, path, error in failures]
    hooks += [REVIEW_NOTE.format(CLIENTS[name].title) for name, plan in agreed if needs_review(name, plan)]
    api = ApiClient.local(paths)
    unavailable = _database_problem(api)
    transcripts = "" if unavailable else _offer_import(api)
    is_open = not no_open and not is_agent() and open_in_browser(api.url + api.create_sign_in_link()["path"])
    screen.show(
        up_result(daemon, how, hooks, transcripts, unavailable, is_open=is_open, paths=paths, width=screen.width)
    )


def _agree_on_hooks(targets: Sequence[Target], *, yes: bool, trusted: bool) -> tuple[list[Plan], list[str]]:
    """The hooks to install, and what to print about each directory. Asks once, if some have no hooks yet.

    A client whose settings cannot be changed is left out, unless it is the only one.
    """
    if not targets:
        return [], ["not changed; `headspace install` installs them"]
    installers = {name: installer_of(name) for name, _ in targets}
    plans, failures = plan_installations(targets, installers, trusted=trusted)
    outcomes = [(name, plan, _known_outcome(name, plan)) for name, plan in plans]
    new = [plan for _, plan, outcome in outcomes if outcome is None]
    asked = _ask(new, yes=yes) if new else "updated"
    agreed = [(name, plan) for name, plan, outcome in outcomes if (outcome or asked) in ("installed", "updated")]
    if asked == "installed" and not yes:
        agreed = agree_on_review(agreed)
    done = [hooks_text(name, outcome or asked, str(plan.config.path)) for name, plan, outcome in outcomes]
    return agreed, [*done, *(_not_installed(path, error) for _, path, error in failures)]


def _not_installed(path: Path, error: HeadspaceError) -> str:
    return clean_text(f"not installed in {path}: {error.message} {error.hint}")


def _known_outcome(client: str, plan: Change) -> str | None:
    """What happens to the hooks of a directory without a question: plugin or updated."""
    installer = INSTALLERS[client]
    if installer.has_hooks(plan.config.path):
        return "updated"
    return "plugin" if installer.is_provided(plan.config.path) else None


def _ask(new: Sequence[Change], *, yes: bool) -> str:
    """Whether to install hooks in these directories: installed, declined or not asked."""
    if yes:
        return "installed"
    if not sys.stdin.isatty():
        return "not asked"
    files = [str(edit.path) for plan in new for edit in plan.edits]
    where = files[0] if len(files) == 1 else "".join(f"\n  {file}" for file in files) + "\n"
    return "installed" if output.ask(f"Install the hooks of Headspace in {where}?", default=True) else "declined"


def _start_daemon(
    paths: Paths, on_slow: Callable[[], None], *, service: bool, port: int | None
) -> tuple[DaemonInfo, str]:
    """Start or replace the daemon if necessary; the daemon, and what was done. `on_slow` is called if it takes long."""
    running, unit = find_daemon(paths), Service()
    is_wanted = running is not None and background_daemon.is_current(running) and _has_port(running, port)
    if running is not None and is_wanted and not (service and not unit.is_installed):
        return running, "already running"
    if running is not None:
        background_daemon.stop(paths)
    how = "started" if running is None else f"replaced version {running.version}"
    if service or unit.is_installed:
        unit.install()
        return background_daemon.wait_until_running(paths, on_slow=on_slow), f"{how}, as a service ({unit.path})"
    return background_daemon.start(paths, on_slow), f"{how}, in the background"


def _store_port(paths: Paths, port: int) -> None:
    """Store the port as a setting. The environment must not override it."""
    if (given := os.environ.get("HEADSPACE_PORT")) not in (None, "", str(port)):
        raise BadRequest("two_ports", f"HEADSPACE_PORT is {given} in the environment.", "Unset it, or omit --port.")
    store_setting(paths, "port", str(port))


def _has_port(daemon: DaemonInfo, port: int | None) -> bool:
    """Whether a daemon listens on a port; None and 0 are any port."""
    return not port or port == urlsplit(daemon.url).port


def _database_problem(client: ApiClient) -> str:
    """Why the daemon cannot use its database; empty if it can."""
    parts = client.health()["parts"]
    return clean_text(str(parts["journal"]["detail"])) if is_database_unavailable(parts) else ""


def _offer_import(client: ApiClient) -> str:
    """Offer to import earlier sessions; what to print about them."""
    files = [file for file in pending_transcripts(client) if not file["followed"]]
    text = transcripts_text(files)
    if not files or not sys.stdin.isatty() or not output.ask(f"{text} Import them?", default=False):
        return f"{text} `headspace import` imports them." if files else ""
    done = import_transcripts(client, files)
    return f"Imported {done['events']:,} events of {done['agents']:,} earlier agents."


@examples("headspace down", "headspace down --service")
def down(
    service: Annotated[bool, Option("--service", help="Also remove the service.")] = False,
) -> None:
    """Stop the daemon.

    Waits until it has stopped. Hook events are stored until the next start.
    """
    unit, lines = Service(), []
    if service and unit.is_installed:
        unit.remove()
        lines.append(output.line(f"Removed the service ({unit.path})."))
    daemon = background_daemon.stop(find_paths())
    text = "Headspace is not running." if daemon is None else f"Headspace has stopped (pid {daemon.pid})."
    output.screen().show([*lines, output.line(text)])
