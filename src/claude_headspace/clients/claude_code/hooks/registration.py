"""Whether hooks of Headspace are registered in a config dir. Status, dashboard and doctor all use this function.

Never raises: settings that cannot be read are a problem that the result names. Claude Code cannot read them either.
"""

import re
from pathlib import Path

import msgspec

from claude_headspace.clients.claude_code.hooks.inspection import managed_files, switch_problems
from claude_headspace.clients.claude_code.hooks.installation import ConfigDir, find_plugins
from claude_headspace.clients.files import read_file
from claude_headspace.clients.hook_inspection import unusable_files
from claude_headspace.clients.hook_settings import Json, all_hooks, parse, registered_hooks
from claude_headspace.errors import HeadspaceError

_REPORTING_COMMAND = re.compile(r"(^|[\s/'\"])(claude-)?headspace['\"]? hook [\w-]+")
"""`headspace hook TYPE`: records events and never asks. For settings that were written for plate-spinner."""


class Registration(msgspec.Struct, frozen=True):
    """The hooks of Headspace in one config dir."""

    config: ConfigDir
    settings: Json | None = None
    """The settings of the client; None if there are none, or if they cannot be read."""
    hooks: tuple[tuple[str, Json], ...] = ()
    """The hooks that `headspace install` registered, each with its event."""
    reporting_events: tuple[str, ...] = ()
    """The events for which `headspace hook` is registered."""
    plugins: tuple[Path, ...] = ()
    problem: str | None = None
    """Why no hook runs, whether or not one is registered."""

    @property
    def is_active(self) -> bool:
        """Whether the client runs hooks of Headspace."""
        return self.problem is None and bool(self.hooks or self.reporting_events or self.plugins)


def read_registration(config: ConfigDir, state: Path) -> Registration:
    """Read the settings and the plugins of a config dir. `state` is the state directory of this installation."""
    plugins = tuple(find_plugins(config))
    try:
        content = read_file(config.settings)
        settings = parse(content.decode(), str(config.settings)) if content is not None else None
    except (HeadspaceError, OSError, UnicodeDecodeError) as error:
        return Registration(config, plugins=plugins, problem=str(error))
    hooks = tuple(registered_hooks(settings or {}))
    reporting = tuple(_reporting_events(settings or {}))
    return Registration(config, settings, hooks, reporting, plugins, _problem(config, state, hooks))


def _problem(config: ConfigDir, state: Path, hooks: tuple[tuple[str, Json], ...]) -> str | None:
    """Why the client runs no hook: a setting turns them off, or the script cannot run."""
    for path in (config.settings, *managed_files()):
        if (found := next(switch_problems(path, path.name), None)) is not None:
            return found.text
    if all("command" not in hook for _, hook in hooks):
        return None
    return unusable_files(config, state)


def _reporting_events(settings: Json) -> list[str]:
    hooks = all_hooks(settings)
    return [event for event, hook in hooks if _REPORTING_COMMAND.search(str(hook.get("command", "")))]
