"""Whether the clients run the hooks of Headspace, by config dir."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from claude_headspace.clients.claude_code.hooks.installation import ConfigDir
from claude_headspace.clients.claude_code.hooks.registration import read_registration


class HookRegistration(msgspec.Struct, frozen=True):
    """The hooks of Headspace in one config dir."""

    path: Path
    is_active: bool
    """Whether the client runs them."""
    problem: str | None
    """Why it runs none, whether or not they are registered."""


def find_registrations(config_dirs: Iterable[Path], state: Path) -> list[HookRegistration]:
    """The hooks in each config dir. `state` is the state directory of this installation."""
    found = (read_registration(ConfigDir(path), state) for path in config_dirs)
    return [HookRegistration(each.config.path, each.is_active, each.problem) for each in found]
