"""Whether the clients run the hooks of Headspace, by config dir."""

from collections.abc import Iterable
from pathlib import Path

from claude_headspace.clients.hook_installer import HookRegistration
from claude_headspace.clients.installation import INSTALLERS


def find_registrations(config_dirs: Iterable[tuple[str, Path]], state: Path) -> list[HookRegistration]:
    """The hooks in each config dir of a client. `state` is the state directory of this installation."""
    return [INSTALLERS[client].registration(path, state) for client, path in config_dirs]
