"""Settings and file locations, as the command line and the dashboard show them."""

from collections.abc import Mapping
from typing import Any

import msgspec

from claude_headspace.config import Paths, Settings, describe_settings, without_password

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


class SettingsView(msgspec.Struct, frozen=True):
    """All settings and file locations."""

    settings: list[SettingView]
    places: dict[str, str]


def settings_view(settings: Settings, origins: Mapping[str, str], paths: Paths) -> SettingsView:
    """All settings with their sources. Passwords are removed."""
    files = {name.removesuffix("_file"): str(getattr(paths, name)) for name in FILES}
    values = {**msgspec.structs.asdict(settings), "database": without_password(settings.database)}
    views = [
        SettingView(
            name=name,
            value=values[name],
            default=default,
            origin=origins.get(name, "default"),
            environment=f"HEADSPACE_{name.upper()}",
            description=description,
        )
        for name, default, description in describe_settings()
    ]
    return SettingsView(views, files)
