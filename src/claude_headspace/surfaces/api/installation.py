"""This installation: its settings, its health, its status, and links that sign a browser in."""

from collections.abc import Mapping
from dataclasses import dataclass

from claude_headspace.clients.claude_code.hooks.installation import ConfigDir
from claude_headspace.config import Paths, Settings, claude_config_dirs
from claude_headspace.surfaces.api.health import DaemonStatus
from claude_headspace.surfaces.auth.sign_in import BrowserSignIn
from claude_headspace.surfaces.client import doctor
from claude_headspace.surfaces.text.settings import SettingsView, settings_view


@dataclass(frozen=True)
class Installation:
    """Settings and status of the running daemon."""

    settings: Settings
    origins: Mapping[str, str]
    paths: Paths
    sign_in: BrowserSignIn
    status: DaemonStatus

    def describe_settings(self) -> SettingsView:
        """Every setting with its value, its origin and its meaning."""
        return settings_view(self.settings, self.origins, self.paths)

    def examine(self) -> doctor.Report:
        """Run the checks of `headspace doctor`."""
        config_dirs = [ConfigDir(path) for path in claude_config_dirs(self.settings, self.paths)]
        return doctor.run_checks(config_dirs, self.paths)
