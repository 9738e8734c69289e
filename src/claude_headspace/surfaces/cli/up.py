"""The commands `up` and `down`: everything that a first run needs, in one go, and its end.

`up` may be run again at any time: what is there stays, what is old is brought up to date, and a daemon of other code is
replaced under the clients that use it.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from claude_headspace.config import Paths
from claude_headspace.surfaces.cli.install import ConfigDirs, Yes
from claude_headspace.surfaces.cli.options import places

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from claude_headspace.clients.claude_code.hooks.installation import Change, ConfigDir
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.client.running_daemon import DaemonInfo

STILL_STARTING = (
    "It is still starting. A large journal that another version wrote is made anew first; `headspace logs` says so."
)


def up(
    yes: Yes = False,
    no_hooks: Annotated[bool, typer.Option("--no-hooks", help="Leave Claude Code's settings alone.")] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the page.")] = False,
    service: Annotated[
        bool,
        typer.Option("--service", help="As a service that starts at login: systemd on Linux, launchd on macOS."),
    ] = False,
    config_dir: ConfigDirs = None,
) -> None:
    """Start Headspace in the background, let Claude Code report to it, and open the page.

    Asks before it changes Claude Code's settings, and says how to undo what it did. Run it again after an upgrade: it
    replaces the running daemon, and no event is lost meanwhile.
    """
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.install import carry_out, config_dirs
    from claude_headspace.surfaces.cli.presentation.setup import risen
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.launch import background_daemon as background

    home, screen = places(), terminal.screen()
    home.create_directories()
    configs = [] if no_hooks else config_dirs(config_dir, home)
    agreed, hooks = _agree_on_hooks(configs, yes=yes)

    def say(text: str) -> None:
        screen.show([terminal.line(text)])

    with background.up_lock(home, lambda: say("Another `headspace up` is at work; I wait.")):
        daemon, how = _raise_daemon(home, lambda: say(STILL_STARTING), service=service)
        carry_out(agreed, home)
    client = ApiClient.local(home)
    away = _why_away(client)
    past = "" if away else _offer_import(client)
    is_open = not no_open and _open(client)
    screen.show(risen(daemon, how, hooks, past, away, is_open=is_open, home=home, width=screen.width))


def _agree_on_hooks(configs: "Sequence[ConfigDir]", *, yes: bool) -> "tuple[list[Change], list[str]]":
    """What is to be installed, with the user's consent where there is nothing of ours yet; and what to say of it."""
    from claude_headspace.clients.claude_code.hooks import installation as installed
    from claude_headspace.clients.claude_code.hooks.events import events_for
    from claude_headspace.clients.claude_code.hooks.version import find_version
    from claude_headspace.surfaces.cli.presentation.setup import hooks_outcome

    if not configs:
        return [], ["left alone; `headspace install` lets Claude Code report"]
    events = events_for(find_version())
    agreed, told = list[installed.Change](), list[str]()
    for config in configs:
        plan = installed.plan_install(config, events)
        outcome = _outcome(plan, yes=yes)
        told.append(hooks_outcome(outcome, str(config.path)))
        if outcome in ("installed", "updated"):
            agreed.append(plan)
    return agreed, told


def _outcome(plan: "Change", *, yes: bool) -> str:
    """What becomes of the hooks of a directory: plugin, updated, installed, declined, not asked."""
    import sys

    from claude_headspace.clients.claude_code.hooks import installation as installed

    if installed.has_hooks(plan.config):
        return "updated"
    if installed.find_plugins(plan.config):
        return "plugin"
    if yes:
        return "installed"
    if not sys.stdin.isatty():
        return "not asked"
    question = f"Let Claude Code report to Headspace, by hooks in {plan.config.settings}?"
    return "installed" if typer.confirm(question, default=True) else "declined"


def _raise_daemon(home: Paths, slow: "Callable[[], None]", *, service: bool) -> "tuple[DaemonInfo, str]":
    """The daemon, and how it came to be there; `slow` is called if that takes long."""
    from claude_headspace.surfaces.client.running_daemon import find_daemon
    from claude_headspace.surfaces.launch import background_daemon as background
    from claude_headspace.surfaces.launch.service import Service

    running, unit = find_daemon(home), Service()
    if running is not None and background.is_current(running) and not (service and not unit.is_installed):
        return running, "runs already"
    if running is not None:
        background.stop(home)
    how = "started" if running is None else f"replaced the one of version {running.version}"
    if service or unit.is_installed:
        unit.install()
        return background.wait_until_running(home, slow=slow), f"{how}, as a service ({unit.path})"
    return background.start(home, slow), f"{how}, in the background"


def _why_away(client: "ApiClient") -> str:
    """Why the daemon cannot use its database, if it cannot."""
    from claude_headspace.surfaces.text.components import is_database_unavailable
    from claude_headspace.surfaces.text.labels import clean_text

    parts = client.health()["parts"]
    return clean_text(str(parts["journal"]["detail"])) if is_database_unavailable(parts) else ""


def _offer_import(client: "ApiClient") -> str:
    """What there is of earlier sessions; brought in if the user wants that."""
    import sys

    from claude_headspace.surfaces.cli.imports import bring_in
    from claude_headspace.surfaces.cli.presentation.setup import past_sessions

    files = [file for file in client.transcript_files() if file["done"] < file["size"]]
    told = past_sessions(files)
    if not files or not sys.stdin.isatty() or not typer.confirm(f"{told} Bring them in?", default=False):
        return f"{told} `headspace import` brings them in." if files else ""
    done = bring_in(client, files)
    return f"{done['events']:,} events of {done['agents']:,} earlier agents were brought in."


def _open(client: "ApiClient") -> bool:
    from claude_headspace.surfaces.cli.open import is_agent, opened

    return not is_agent() and opened(client.url + client.create_sign_in_link()["path"])


def down(
    service: Annotated[bool, typer.Option("--service", help="Take the service away too.")] = False,
) -> None:
    """Stop the daemon, and wait until it is gone.

    What hooks tell meanwhile waits for the next start.
    """
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.launch import background_daemon as background
    from claude_headspace.surfaces.launch.service import Service

    unit, lines = Service(), []
    if service and unit.is_installed:
        unit.remove()
        lines.append(terminal.line(f"The service is gone ({unit.path})."))
    daemon = background.stop(places())
    told = "Headspace is not running." if daemon is None else f"Headspace has stopped (pid {daemon.pid})."
    terminal.screen().show([*lines, terminal.line(told)])
