"""Installs and checks the hooks of Claude Code, as the table in `clients/installation.py` expects it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from claude_headspace.clients.claude_code.hooks import inspection, installation
from claude_headspace.clients.claude_code.hooks.events import NOT_REGISTERED, REGISTERED, events_for
from claude_headspace.clients.claude_code.hooks.installation import ConfigDir
from claude_headspace.clients.claude_code.hooks.registration import read_registration
from claude_headspace.clients.claude_code.hooks.version import find_version
from claude_headspace.clients.hook_files import HookFiles
from claude_headspace.clients.hook_inspection import Problem, file_problems, repair
from claude_headspace.clients.hook_installer import HookRegistration
from claude_headspace.clients.settings_change import Change


class ClaudeCodeInstaller:
    """Installs, removes and checks the hooks of Claude Code."""

    registered: Mapping[str, str] = REGISTERED
    not_registered: Mapping[str, str] = NOT_REGISTERED

    def files(self, path: Path) -> ConfigDir:
        """The files in a config dir."""
        return ConfigDir(path)

    def plan_install(self, path: Path, *, trusted: bool = False) -> Change:
        """The change that installs the hooks that the installed version knows."""
        return installation.plan_install(ConfigDir(path), events_for(find_version()))

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

    def repair(self, path: Path, state: Path, token: str) -> list[str]:
        """Restore our files, if the settings name the script. Returns what was restored."""
        config = ConfigDir(path)
        return repair(config, state, token) if inspection.registers_script(config) else []

    def switch_files(self, _files: HookFiles) -> list[Path]:
        """The settings themselves turn hooks off."""
        return []


INSTALLER = ClaudeCodeInstaller()
