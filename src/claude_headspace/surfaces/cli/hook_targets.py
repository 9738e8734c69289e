"""Where `install`, `uninstall`, `doctor` and `up` work: config dirs and their clients."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from claude_headspace.clients.capabilities import find_client
from claude_headspace.clients.catalog import CLIENTS, DEFAULT
from claude_headspace.clients.config_dirs import configured_dirs, installed_config_dirs
from claude_headspace.clients.hook_files import SCRIPT_NAME
from claude_headspace.clients.installation import INSTALLERS, Installer, default_config_dir, detected_clients
from claude_headspace.clients.settings_change import Change, read_if_possible
from claude_headspace.config import Paths, load_settings
from claude_headspace.errors import BadConfiguration, HeadspaceError
from claude_headspace.surfaces.cli.arguments.parameters import Option

Target = tuple[str, Path]
"""A client, and one of its config dirs."""

Plan = tuple[str, Change]
"""A client, and the change of one of its config dirs."""
Failure = tuple[str, Path, HeadspaceError]
"""A client, one of its config dirs, and why its hooks were not installed."""

ConfigDirs = Annotated[
    list[Path] | None,
    Option(
        "--config-dir",
        "-c",
        metavar="DIR",
        help="Config dir of Claude Code, or of the one client that --client names; repeatable. Default: the one that "
        "the client uses, every directory with installed hooks, and for Claude Code the setting config_dirs.",
    ),
]
Clients = Annotated[
    list[str] | None,
    Option(
        "--client",
        metavar="NAME",
        help=f"Only this client; repeatable: {', '.join(CLIENTS)}. Default: every client on this machine, or "
        "Claude Code if there is none.",
    ),
]


def find_targets(config_dirs: Sequence[Path] | None, clients: Sequence[str] | None, paths: Paths) -> list[Target]:
    """The given config dirs, or all config dirs of the given clients, or those of all clients, each once."""
    names = [find_client(name).name for name in clients or ()]
    if config_dirs and len(names) > 1:
        raise BadConfiguration(
            "several_clients", "--config-dir belongs to one client.", "Name one client, or run the command for each."
        )
    if config_dirs:
        return _unique((names[0] if names else DEFAULT, path) for path in config_dirs)
    found = names or [name for name in CLIENTS if name in detected_clients() or installed_config_dirs(paths, name)]
    return _unique((name, path) for name in found for path in _config_dirs(name, paths))


def installed_targets(targets: Sequence[Target], paths: Paths) -> list[Target]:
    """Those to remove hooks from: where something is installed. If nothing is, all of them."""
    return [each for each in targets if _has_installation(*each, paths)] or list(targets)


def _has_installation(client: str, path: Path, paths: Paths) -> bool:
    installer = INSTALLERS[client]
    files = installer.files(path)
    if path in installed_config_dirs(paths, client) or any(map(os.path.lexists, (files.record, files.state_link))):
        return True
    try:
        return installer.has_hooks(path)
    except BadConfiguration:  # the removal says what is wrong with the settings
        return SCRIPT_NAME.encode() in (read_if_possible(files.settings) or b"")


def plan_installations(
    targets: Sequence[Target], installers: Mapping[str, Installer], *, trusted: bool
) -> tuple[list[Plan], list[Failure]]:
    """The changes that install hooks, and where that is not possible: in all config dirs of a client, or in none.

    Raises if it is possible for no client.
    """
    plans, failures = list[Plan](), list[Failure]()
    for name, installer in installers.items():
        paths = [path for client, path in targets if client == name]
        try:
            plans += [(name, installer.plan_install(path, trusted=trusted)) for path in paths]
        except BadConfiguration as error:
            failures += [(name, path, error) for path in paths]
    if failures and not plans:
        raise failures[0][2]
    return plans, failures


def plan_removals(targets: Sequence[Target]) -> tuple[list[Plan], list[Failure]]:
    """The changes that remove hooks, and where that is not possible. Raises if it is possible nowhere."""
    plans, failures = list[Plan](), list[Failure]()
    for name, path in targets:
        try:
            plans.append((name, INSTALLERS[name].plan_uninstall(path)))
        except BadConfiguration as error:
            failures.append((name, path, error))
    if failures and not plans:
        raise failures[0][2]
    return plans, failures


def _config_dirs(client: str, paths: Paths) -> list[Path]:
    configured = configured_dirs(load_settings(paths), client)
    return [default_config_dir(client), *configured, *installed_config_dirs(paths, client)]


def _unique(targets: Iterable[Target]) -> list[Target]:
    return list(dict.fromkeys((client, path.expanduser().absolute()) for client, path in targets))
