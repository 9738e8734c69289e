"""Headspace as a service of the user: systemd on Linux, launchd on macOS.

The service starts the daemon at login and after a crash. After `headspace down` the daemon exits with 0 and stays down
until it is started again, or until the next login.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from claude_headspace.clients.environment import CONFIG_VARIABLES
from claude_headspace.errors import HeadspaceError

UNIT = "headspace.service"
LABEL = "dev.headspace.daemon"
KEPT_VARIABLES = ("HEADSPACE_HOME", *CONFIG_VARIABLES)
"""Environment variables that are written into the service."""


def command() -> list[str]:
    """The command that the service runs: the daemon of this installation."""
    return [sys.executable, "-m", "claude_headspace", "serve"]


# --- texts ---


def systemd_unit(program: Sequence[str], env: Mapping[str, str]) -> str:
    """The unit file for systemd."""
    variables = [f"Environment={_quoted(f'{name}={value}')}\n" for name, value in env.items()]
    words = [_quoted(word).replace("$", "$$") for word in program]
    return (
        "[Unit]\n"
        "Description=Headspace, mission control for coding agents\n"
        "\n"
        "[Service]\n"
        f"ExecStart={' '.join(words)}\n"
        f"{''.join(variables)}"
        "Restart=on-failure\n"
        "RestartSec=2\n"
        "\n"
        "[Install]\n"
        "WantedBy=default.target\n"
    )


def _quoted(word: str) -> str:
    """A word quoted for systemd. Percent signs are special there; callers escape dollar signs in commands."""
    safe = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{safe}"'


def launchd_plist(program: Sequence[str], env: Mapping[str, str]) -> str:
    """The property list for launchd."""
    words = "".join(f"    <string>{escape(word)}</string>\n" for word in program)
    variables = "".join(
        f"    <key>{escape(name)}</key>\n    <string>{escape(value)}</string>\n" for name, value in env.items()
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n'
        '<plist version="1.0">\n<dict>\n'
        f"  <key>Label</key>\n  <string>{LABEL}</string>\n"
        f"  <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n"
        f"  <key>EnvironmentVariables</key>\n  <dict>\n{variables}  </dict>\n"
        "  <key>RunAtLoad</key>\n  <true/>\n"
        "  <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n"
        "</dict>\n</plist>\n"
    )


# --- the service itself ---


class Service:
    """The service of this user, on this system."""

    def __init__(self, env: Mapping[str, str] = os.environ, platform: str = sys.platform) -> None:
        self._env = env
        self._is_mac = platform == "darwin"
        self._manager = "launchctl" if self._is_mac else "systemctl"

    @property
    def path(self) -> Path:
        """The path of the service file."""
        home = Path(self._env.get("HOME") or Path.home())
        if self._is_mac:
            return home / "Library/LaunchAgents" / f"{LABEL}.plist"
        return Path(self._env.get("XDG_CONFIG_HOME") or home / ".config") / "systemd/user" / UNIT

    @property
    def is_installed(self) -> bool:
        """Whether the service file exists."""
        return self.path.exists()

    @property
    def text(self) -> str:
        """The content of the service file."""
        kept = {name: self._env[name] for name in KEPT_VARIABLES if self._env.get(name)}
        return launchd_plist(command(), kept) if self._is_mac else systemd_unit(command(), kept)

    def install(self) -> None:
        """Write the service file, and start the service now and at every login."""
        self._require()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(self.text, encoding="utf-8")
        if self._is_mac:
            self._try("bootout", self._domain)
            self._run("bootstrap", f"gui/{os.getuid()}", str(self.path))
        else:
            self._run("--user", "daemon-reload")
            self._run("--user", "enable", UNIT)
            self._run("--user", "restart", UNIT)

    def remove(self) -> None:
        """Stop the service and remove its file."""
        if self._is_mac:
            self._try("bootout", self._domain)
        else:
            self._try("--user", "disable", "--now", UNIT)
        self.path.unlink(missing_ok=True)
        if not self._is_mac:
            self._try("--user", "daemon-reload")

    @property
    def _domain(self) -> str:
        return f"gui/{os.getuid()}/{LABEL}"

    def _require(self) -> None:
        if shutil.which(self._manager) is None:
            raise HeadspaceError(
                "no_service_manager",
                f"A service needs {self._manager}, which was not found.",
                "Run without --service: `headspace up` starts the daemon in the background.",
            )

    def _run(self, *arguments: str) -> None:
        done = subprocess.run([self._manager, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise HeadspaceError(
                "service_failed",
                f"`{self._manager} {' '.join(arguments)}` failed: {done.stderr.strip() or done.returncode}",
                "Run without --service: `headspace up` starts the daemon in the background.",
            )

    def _try(self, *arguments: str) -> None:
        """Run a command whose failure does not matter, for example because the service is not loaded."""
        if shutil.which(self._manager) is not None:
            subprocess.run([self._manager, *arguments], capture_output=True, check=False)
