"""The context of the endpoints. Every handler is called with it and the request."""

from collections.abc import Mapping
from dataclasses import dataclass

from claude_headspace.clients.catalog import CLIENTS, DEFAULT
from claude_headspace.clients.config_dirs import installed_config_dirs, known_config_dirs
from claude_headspace.config import Paths, Settings
from claude_headspace.outputs.notify.notifier import Notifier
from claude_headspace.surfaces.api.administration import Administration
from claude_headspace.surfaces.api.agent_actions import AgentActions
from claude_headspace.surfaces.api.answers import Answers
from claude_headspace.surfaces.api.health import DaemonStatus
from claude_headspace.surfaces.auth.requester import RequesterLookup
from claude_headspace.surfaces.auth.sign_in import BrowserSignIn
from claude_headspace.surfaces.client import doctor
from claude_headspace.surfaces.live.stream import EventStream
from claude_headspace.surfaces.read.model import ReadModel
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
        installed = [(name, path) for name in CLIENTS for path in installed_config_dirs(self.paths, name)]
        own = [(DEFAULT, path) for path in known_config_dirs(self.settings, self.paths)]
        return doctor.run_checks(list(dict.fromkeys([*own, *installed])), self.paths)


@dataclass(frozen=True, kw_only=True)
class ApiContext:
    """Reading (`read`, `stream`), acting (`actions`, `answers`, `notifier`), and the daemon itself."""

    read: ReadModel
    stream: EventStream
    actions: AgentActions
    answers: Answers
    notifier: Notifier
    requesters: RequesterLookup
    installation: Installation
    administration: Administration
