"""This installation: its settings, its health, its status, and links that sign a browser in."""

from collections.abc import Mapping

from claude_headspace.clients.claude_code.hooks.installation import ConfigDir
from claude_headspace.config import Paths, Settings, claude_config_dirs
from claude_headspace.surfaces.api.health import DaemonStatus
from claude_headspace.surfaces.auth.sign_in import BrowserSignIn
from claude_headspace.surfaces.client import doctor
from claude_headspace.surfaces.text.settings import SettingsView, settings_view


class Installation:
    """Settings and status of the running daemon."""

    def __init__(
        self,
        settings: Settings,
        origins: Mapping[str, str],
        paths: Paths,
        sign_in: BrowserSignIn,
        status: DaemonStatus,
    ) -> None:
        self._settings = settings
        self._origins = origins
        self._paths = paths
        self.max_body_bytes = settings.max_body_bytes
        self.sign_in = sign_in
        self.status = status

    def settings(self) -> SettingsView:
        """Every setting with its value, its origin and its meaning."""
        return settings_view(self._settings, self._origins, self._paths)

    def examine(self) -> doctor.Report:
        """Run the checks of `headspace doctor`."""
        config_dirs = [ConfigDir(path) for path in claude_config_dirs(self._settings, self._paths)]
        return doctor.run_checks(config_dirs, self._paths)
