"""Installs and checks the hooks of Claude Code, as the table in `clients/installation.py` expects it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from claude_headspace.clients.claude_code.hooks import inspection, installation
from claude_headspace.clients.claude_code.hooks.checks import check_settings
from claude_headspace.clients.claude_code.hooks.events import NOT_REGISTERED, REGISTERED, SINCE, Version, events_for
from claude_headspace.clients.claude_code.hooks.installation import ConfigDir
from claude_headspace.clients.claude_code.hooks.registration import read_registration
from claude_headspace.clients.claude_code.hooks.version import find_version, parse_version
from claude_headspace.clients.hook_checks import Check
from claude_headspace.clients.hook_files import HookFiles
from claude_headspace.clients.hook_inspection import Problem, file_problems, repair
from claude_headspace.clients.hook_installer import HookRegistration
from claude_headspace.clients.settings_change import Change

UNSUPPORTED = "not supported by your version of Claude Code"


@dataclass(frozen=True)
class ClaudeCodeInstaller:
    """Installs, removes and checks the hooks of Claude Code."""

    version: Callable[[], Version | None] = find_version
    """Finds the version of the client, which decides about the newest hooks."""
    url: str | None = None
    """Hooks over HTTP go to this address."""
    status_line: bool = False
    """Whether the status line is installed, too."""

    @property
    def registered(self) -> Mapping[str, str]:
        """The registered events, and what each reports."""
        return {event: REGISTERED[event] for event in events_for(self.version())}

    @property
    def not_registered(self) -> Mapping[str, str]:
        """The events that are not registered, and why."""
        known = events_for(self.version())
        return {**NOT_REGISTERED, **{event: UNSUPPORTED for event in SINCE if event not in known}}

    def files(self, path: Path) -> ConfigDir:
        """The files in a config dir."""
        return ConfigDir(path)

    def plan_install(self, path: Path, *, trusted: bool = False) -> Change:
        """The change that installs the hooks that the installed version knows."""
        events = events_for(self.version())
        return installation.plan_install(ConfigDir(path), events, self.url, status_line=self.status_line)

    def plan_uninstall(self, path: Path) -> Change:
        """The change that removes the hooks from a config dir."""
        return installation.plan_uninstall(ConfigDir(path))

    def has_hooks(self, path: Path) -> bool:
        """Whether the settings of a config dir contain Headspace's hooks. Raises if they cannot be read."""
        return installation.has_hooks(ConfigDir(path))

    def registration(self, path: Path, state: Path) -> HookRegistration:
        """Whether the client runs the hooks of a config dir, or a plugin of it. Never raises."""
        found = read_registration(ConfigDir(path), state)
        return HookRegistration(path, found.is_active, found.problem)

    def problems(self, path: Path, state: Path) -> Iterator[Problem]:
        """Why hooks of an installation do not run."""
        config = ConfigDir(path)
        yield from inspection.hook_problems(config, str(config.settings))
        yield from file_problems(config, state)
        yield from inspection.switch_problems(config.settings, str(config.settings))

    def is_provided(self, path: Path) -> bool:
        """Whether a plugin of Claude Code already sends the events."""
        return bool(installation.find_plugins(ConfigDir(path)))

    def repair(self, path: Path, state: Path, token: str) -> list[str]:
        """Restore our files, if the settings name the script. Returns what was restored."""
        config = ConfigDir(path)
        return repair(config, state, token) if inspection.registers_script(config) else []

    def checks(self, path: Path, state: Path) -> Iterator[Check]:
        """What `headspace doctor` finds in the settings of a config dir."""
        return check_settings(read_registration(ConfigDir(path), state))

    def files_in_use(self, path: Path, state: Path) -> ConfigDir | None:
        """The files of the config dir; for a plugin those in the state directory. Hooks that only report use none."""
        config = ConfigDir(path)
        registration = read_registration(config, state)
        if registration.reporting_events and not registration.hooks:
            return None
        return ConfigDir(state) if not config.script.exists() and registration.plugins else config

    def shared_files(self, directories: Iterable[str]) -> list[Path]:
        """The settings of the administrator and of these projects."""
        return [*inspection.managed_files(), *inspection.project_files(directories)]

    def switches_in(self, path: Path) -> Iterator[Problem]:
        """What one of these settings turns off."""
        return inspection.switch_problems(path, str(path))

    def switch_files(self, _files: HookFiles) -> list[Path]:
        """The settings themselves turn hooks off."""
        return []


INSTALLER = ClaudeCodeInstaller()


def installer_for(version: str | None, url: str | None, *, status_line: bool) -> ClaudeCodeInstaller:
    """An installer with options. Without a version, the installed client is asked once."""
    find = cache(find_version) if version is None else lambda: parse_version(version)
    return ClaudeCodeInstaller(find, url, status_line)
