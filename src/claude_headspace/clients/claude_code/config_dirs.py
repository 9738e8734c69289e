"""The config dirs of Claude Code: the configured ones, the default one, and those with installed hooks."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from claude_headspace.clients.claude_code.environment import CONFIG_VARIABLE, DEFAULT_CONFIG_DIR
from claude_headspace.config import Paths, Settings, write_private_file


def known_config_dirs(settings: Settings, paths: Paths, env: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """All known config dirs of Claude Code, each once. Reads the file of installed config dirs at every call."""
    named = [*settings.config_dirs, env.get(CONFIG_VARIABLE, ""), DEFAULT_CONFIG_DIR]
    configured = [Path(name).expanduser().absolute() for name in named if name.strip()]
    return tuple(dict.fromkeys([*configured, *installed_config_dirs(paths)]))


def installed_config_dirs(paths: Paths) -> list[Path]:
    """The existing config dirs with installed hooks."""
    try:
        lines = paths.config_dirs_file.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    return [path for path in map(Path, lines) if path.is_absolute() and path.is_dir()]


def update_config_dirs(paths: Paths, *, installed: Iterable[Path] = (), removed: Iterable[Path] = ()) -> None:
    """Record in which config dirs hooks are installed. The running daemon reads the file within seconds."""
    recorded = dict.fromkeys([*installed_config_dirs(paths), *installed])
    for path in removed:
        recorded.pop(path, None)
    lines = "".join(f"{path}\n" for path in recorded)
    write_private_file(paths.config_dirs_file, lines.encode("utf-8", "surrogateescape"))
