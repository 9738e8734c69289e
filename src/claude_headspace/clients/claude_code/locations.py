"""The session registry of Claude Code: `sessions/<pid>.json` below a config dir, for every running client."""

from pathlib import Path

REGISTRY = "sessions"
"""The directory of the session registry, below a configuration directory."""


def is_entry(path: Path) -> bool:
    """Whether a file is a registry entry. The directory also has key files of the clients, which are never read."""
    return path.suffix == ".json" and path.stem.isascii() and path.stem.isdigit()


def entry_name(pid: int) -> str:
    """The file name of a process's registry entry."""
    return f"{pid}.json"
