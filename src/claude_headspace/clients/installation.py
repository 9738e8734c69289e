"""Installs the hooks of all clients: one installer per client, and which clients are on this machine."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from claude_headspace.clients.catalog import CLIENTS, DEFAULT
from claude_headspace.clients.claude_code.hooks import installer as claude_code
from claude_headspace.clients.codex import installation as codex
from claude_headspace.clients.config_dirs import default_config_dirs
from claude_headspace.clients.copilot import installation as copilot
from claude_headspace.clients.gemini import installation as gemini
from claude_headspace.clients.hook_checks import Check
from claude_headspace.clients.hook_files import HookFiles
from claude_headspace.clients.hook_inspection import Problem
from claude_headspace.clients.hook_installer import HookRegistration
from claude_headspace.clients.opencode import installation as opencode
from claude_headspace.clients.settings_change import Change


class Installer(Protocol):
    """Installs, removes and checks the hooks of one client."""

    @property
    def registered(self) -> Mapping[str, str]:
        """The registered events, and what each reports."""

    @property
    def not_registered(self) -> Mapping[str, str]:
        """The events that are not registered, and why."""

    def files(self, path: Path, /) -> HookFiles:
        """The files in a config dir."""

    def plan_install(self, path: Path, *, trusted: bool = False) -> Change:
        """The change that installs the hooks. `trusted`: the user accepts them now, if the client asks for that."""

    def plan_uninstall(self, path: Path) -> Change:
        """The change that removes the hooks."""

    def has_hooks(self, path: Path) -> bool:
        """Whether the settings of a config dir contain Headspace's hooks. Raises if they cannot be read."""

    def registration(self, path: Path, state: Path) -> HookRegistration:
        """Whether the client runs the hooks of a config dir. Never raises."""

    def problems(self, path: Path, state: Path) -> Iterator[Problem]:
        """Why hooks of an installation do not run."""

    def is_provided(self, path: Path) -> bool:
        """Whether something else already sends the events of a config dir, such as a plugin."""

    def repair(self, path: Path, state: Path, token: str) -> list[str]:
        """Restore our files, if the settings register our hooks. Returns what was restored."""

    def checks(self, path: Path, state: Path) -> Iterator[Check]:
        """What `headspace doctor` finds in the settings of a config dir."""

    def files_in_use(self, path: Path, state: Path) -> HookFiles | None:
        """The files that the hooks of a config dir use; None if they use none."""

    def shared_files(self, directories: Iterable[str]) -> list[Path]:
        """Settings outside of a config dir that can turn hooks off: of an administrator, or of these projects."""

    def switches_in(self, path: Path) -> Iterator[Problem]:
        """What one of these settings, or the settings of a config dir without our hooks, turns off."""

    def switch_files(self, files: HookFiles, /) -> Iterable[Path]:
        """More files that can turn hooks off."""


INSTALLERS: dict[str, Installer] = {
    "claude-code": claude_code.INSTALLER,
    "codex": codex.INSTALLER,
    "opencode": opencode.INSTALLER,
    "copilot": copilot.INSTALLER,
    "gemini": gemini.INSTALLER,
}
"""The installers by client."""

REVIEWING_CLIENTS = frozenset({"codex"})
"""Clients that ask the user to review new hooks before they run them."""


def needs_review(client: str, plan: Change) -> bool:
    """Whether the client will ask the user to review the hooks of an installation."""
    return client in REVIEWING_CLIENTS and not plan.also and codex.is_unreviewed(plan)


def installer_of(
    client: str, *, version: str | None = None, url: str | None = None, status_line: bool = False
) -> Installer:
    """The installer of a client. The options apply only to Claude Code."""
    return claude_code.installer_for(version, url, status_line=status_line) if client == DEFAULT else INSTALLERS[client]


def default_config_dir(client: str, env: Mapping[str, str] = os.environ) -> Path:
    """The config dir that a client uses in this environment."""
    return default_config_dirs(env, client)[0]


def detected_clients(env: Mapping[str, str] = os.environ) -> list[str]:
    """The clients on this machine: their program is installed, or they have a config dir. Without any, Claude Code."""
    return [name for name in CLIENTS if _is_detected(name, env)] or [DEFAULT]


def _is_detected(client: str, env: Mapping[str, str]) -> bool:
    is_installed = shutil.which(CLIENTS[client].program, path=env.get("PATH", "")) is not None
    return is_installed or default_config_dir(client, env).is_dir()
