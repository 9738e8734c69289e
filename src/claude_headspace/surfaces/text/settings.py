"""The settings in force and the places of files, explained: the same for the command line and the page."""

from collections.abc import Mapping
from typing import Any

import msgspec

from claude_headspace.config import Paths, Settings, describe_settings, without_password

FILES = ("config_file", "policy_file", "notify_file", "database", "log_file", "spool", "secret_file", "daemon_file")


class SettingView(msgspec.Struct, frozen=True, kw_only=True):
    """A setting: what it is, what it would be, where it comes from, what it is for."""

    name: str
    value: Any
    default: Any
    origin: str
    environment: str
    description: str


class SettingsView(msgspec.Struct, frozen=True):
    """Every setting, and where files live."""

    settings: list[SettingView]
    places: dict[str, str]


def settings_view(settings: Settings, origins: Mapping[str, str], places: Paths) -> SettingsView:
    """Every setting in force, with where it comes from; a password in it is not shown."""
    files = {name.removesuffix("_file"): str(getattr(places, name)) for name in FILES}
    return SettingsView([_view(settings, origins, *described) for described in describe_settings()], files)


def _view(settings: Settings, origins: Mapping[str, str], name: str, default: Any, description: str) -> SettingView:
    value = getattr(settings, name)
    return SettingView(
        name=name,
        value=without_password(value) if name == "database" else value,
        default=default,
        origin=origins.get(name, "default"),
        environment=f"HEADSPACE_{name.upper()}",
        description=description,
    )
