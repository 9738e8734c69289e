"""Where `install`, `uninstall`, `doctor` and `up` work: config dirs and their clients."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

from claude_headspace.clients.capabilities import find_client
from claude_headspace.clients.catalog import CLIENTS, DEFAULT
from claude_headspace.clients.config_dirs import installed_config_dirs
from claude_headspace.clients.installation import INSTALLERS, default_config_dir, detected_clients
from claude_headspace.config import Paths, load_settings
from claude_headspace.errors import BadConfiguration
from claude_headspace.surfaces.cli.arguments.parameters import Option

Target = tuple[str, Path]
"""A client, and one of its config dirs."""

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
        help=f"Only this client; repeatable: {', '.join(CLIENTS)}. Default: Claude Code and every client on this "
        "machine.",
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
    """Those to remove hooks from: all of Claude Code, and those of other clients where something is installed."""
    return [each for each in targets if each[0] == DEFAULT or _has_installation(*each, paths)]


def _has_installation(client: str, path: Path, paths: Paths) -> bool:
    files = INSTALLERS[client].files(path)
    return path in installed_config_dirs(paths, client) or any(map(os.path.lexists, (files.record, files.state_link)))


def _config_dirs(client: str, paths: Paths) -> list[Path]:
    configured = map(Path, load_settings(paths).config_dirs) if client == DEFAULT else ()
    return [default_config_dir(client), *configured, *installed_config_dirs(paths, client)]


def _unique(targets: Iterable[Target]) -> list[Target]:
    return list(dict.fromkeys((client, path.expanduser().absolute()) for client, path in targets))
