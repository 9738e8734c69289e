"""Whether hooks of Headspace are registered in a config dir. Status, dashboard and doctor all use this function.

Never raises: settings that cannot be read are a problem that the result names. Claude Code cannot read them either.
"""

import re
from pathlib import Path

import msgspec

from claude_headspace.clients.claude_code.hooks import settings_file
from claude_headspace.clients.claude_code.hooks.installation import ConfigDir, find_plugins
from claude_headspace.clients.claude_code.hooks.settings_file import Json
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
        settings = settings_file.parse(config.settings.read_text(encoding="utf-8"), str(config.settings))
    except FileNotFoundError:
        return Registration(config, plugins=plugins)
    except (HeadspaceError, OSError, UnicodeDecodeError) as error:
        return Registration(config, plugins=plugins, problem=str(error))
    hooks = tuple(settings_file.registered_hooks(settings))
    return Registration(
        config, settings, hooks, tuple(_reporting_events(settings)), plugins, _problem(config, state, settings, hooks)
    )


def _problem(config: ConfigDir, state: Path, settings: Json, hooks: tuple[tuple[str, Json], ...]) -> str | None:
    if settings.get("disableAllHooks"):
        return "`disableAllHooks` turns all hooks off"
    if any("command" in hook for _, hook in hooks) and not _leads_to(config.state_link, state):
        return f"{config.state_link} does not point to {state}, the state directory of this installation"
    return None


def _leads_to(link: Path, state: Path) -> bool:
    try:
        return link.readlink() == state
    except OSError:
        return False


def _reporting_events(settings: Json) -> list[str]:
    hooks = settings_file.all_hooks(settings)
    return [event for event, hook in hooks if _REPORTING_COMMAND.search(str(hook.get("command", "")))]
