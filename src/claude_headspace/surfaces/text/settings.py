"""Settings and file locations, as the command line and the dashboard show them."""

from collections.abc import Mapping
from typing import Any

import msgspec

from claude_headspace.config import (
    COMMAND_LINE,
    PLACES,
    Paths,
    Settings,
    choices_of,
    describe_settings,
    load_settings,
    without_password,
)
from claude_headspace.errors import BadConfiguration

EDITABLE = frozenset({"policy_preset", "hold_seconds", "hold_headless", "tmux_colours", "log_level"})
"""The settings that the dashboard can change. A mistake in another one could lock you out or lose events."""

FILES = (
    "config_file",
    "policy_file",
    "notify_file",
    "contacts_file",
    "database",
    "log_file",
    "spool",
    "secret_file",
    "daemon_file",
    "socket_file",
)


class SettingView(msgspec.Struct, frozen=True, kw_only=True):
    """A setting: its value, default, source and description."""

    name: str
    value: Any
    default: Any
    origin: str
    environment: str
    description: str
    choices: list[str]
    """The possible values, if only some are."""
    editable: bool
    """Whether the dashboard can change it. Not while the environment or the command line sets it."""
    next_value: Any
    """Its value after the next start of the daemon."""


class SettingsView(msgspec.Struct, frozen=True):
    """All settings and file locations."""

    settings: list[SettingView]
    places: dict[str, str]


def settings_view(settings: Settings, origins: Mapping[str, str], paths: Paths) -> SettingsView:
    """All settings with their sources. Passwords are removed."""
    files = {name.removesuffix("_file"): str(getattr(paths, name)) for name in FILES}
    values, next_values = _values(settings), _next_values(settings, origins, paths)
    views = [
        SettingView(
            name=name,
            value=values[name],
            default=default,
            origin=origins.get(name, "default"),
            environment=f"HEADSPACE_{name.upper()}",
            description=description,
            choices=choices_of(name),
            editable=name in EDITABLE and origins.get(name) not in PLACES,
            next_value=next_values[name],
        )
        for name, default, description in describe_settings()
    ]
    return SettingsView(views, files)


def _values(settings: Settings) -> dict[str, Any]:
    return {**msgspec.structs.asdict(settings), "database": without_password(settings.database)}


def _next_values(settings: Settings, origins: Mapping[str, str], paths: Paths) -> dict[str, Any]:
    """The values after the next start. The command line of the running daemon is assumed to stay."""
    values = _values(settings)
    try:
        found = _values(load_settings(paths))
    except BadConfiguration:
        return values
    return {name: values[name] if origins.get(name) == COMMAND_LINE else found[name] for name in values}
