"""The config dirs of the clients: the configured ones, the default one, and those with installed hooks."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from claude_headspace.clients.catalog import CLIENTS, DEFAULT
from claude_headspace.config import Paths, Settings, write_private_file

XDG_DEFAULT = "~/.config/"


def known_config_dirs(
    settings: Settings, paths: Paths, env: Mapping[str, str] = os.environ, client: str = DEFAULT
) -> tuple[Path, ...]:
    """All known config dirs of a client, each once. Reads the file of installed config dirs at every call."""
    named = configured_dirs(settings, client)
    return tuple(dict.fromkeys([*named, *default_config_dirs(env, client), *installed_config_dirs(paths, client)]))


def default_config_dirs(env: Mapping[str, str] = os.environ, client: str = DEFAULT) -> list[Path]:
    """The config dir that the environment names, and the default one."""
    return [Path(name).expanduser().absolute() for name in config_dir_names(env, client)]


def config_dir_names(env: Mapping[str, str], client: str) -> list[str]:
    """The same as texts: `~` is not expanded."""
    found = CLIENTS[client]
    named = env.get(found.config_variable or "", "").strip()
    if named and found.config_folder:
        named = f"{named.rstrip('/')}/{found.config_folder}"
    return [name for name in (named, _default(found.default_config_dir, env)) if name]


def config_variables(client: str, config_dir: Path) -> dict[str, str]:
    """The variables that make a client use a config dir; none if that cannot be chosen."""
    found = CLIENTS[client]
    if found.config_variable is None or (found.config_folder and config_dir.name != found.config_folder):
        return {}
    return {found.config_variable: str(config_dir.parent if found.config_folder else config_dir)}


def configured_dirs(settings: Settings, client: str) -> list[Path]:
    """The config dirs of the setting `config_dirs`, which are Claude Code's."""
    configured = settings.config_dirs if client == DEFAULT else ()
    return [Path(name).expanduser().absolute() for name in configured if name.strip()]


def _default(config_dir: str, env: Mapping[str, str]) -> str:
    """A default config dir. $XDG_CONFIG_HOME replaces `~/.config`."""
    base = env.get("XDG_CONFIG_HOME", "").strip()
    return (
        f"{base}/{config_dir.removeprefix(XDG_DEFAULT)}" if base and config_dir.startswith(XDG_DEFAULT) else config_dir
    )


def installed_config_dirs(paths: Paths, client: str = DEFAULT) -> list[Path]:
    """The existing config dirs with installed hooks of a client."""
    return [path for name, path in _recorded(paths) if name == client and path.is_dir()]


def update_config_dirs(
    paths: Paths, *, installed: Iterable[Path] = (), removed: Iterable[Path] = (), client: str = DEFAULT
) -> None:
    """Record in which config dirs hooks are installed. The running daemon reads the file within seconds."""
    kept = [(name, path) for name, path in _recorded(paths) if path.is_dir()]
    recorded = dict.fromkeys([*kept, *((client, path) for path in installed)])
    for path in removed:
        recorded.pop((client, path), None)
    lines = "".join(f"{path}\n" if name == DEFAULT else f"{name}:{path}\n" for name, path in recorded)
    write_private_file(paths.config_dirs_file, lines.encode("utf-8", "surrogateescape"))


def _recorded(paths: Paths) -> list[tuple[str, Path]]:
    """The client and the path in each line. Lines of Claude Code are only a path, as in older versions."""
    try:
        lines = paths.config_dirs_file.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    pairs = ((DEFAULT, line) if line.startswith(os.sep) else tuple(line.split(":", 1)) for line in lines)
    return [(pair[0], Path(pair[1])) for pair in pairs if len(pair) == 2 and Path(pair[1]).is_absolute()]
