"""The programs under test: the real Codex, opencode, Copilot CLI and Gemini CLI, from npm.

Each is installed into the cache of the real clients (`tests/real_client/program.py`), one folder for each version.
"""

import fcntl
import platform
import shutil
import tempfile
from pathlib import Path

from claude_headspace.clients.catalog import CLIENTS
from tests.real_client.program import Unavailable, cache, run_npm


def find_program(name: str, version: str = "") -> Path:
    """The program of a client, installed if it is missing; by default the newest version that was tested."""
    client = CLIENTS[name]
    version = version or client.tested_versions[-1]
    folder = cache() / f"{name}-{version}"
    if (program := _program(folder, client.program)) is not None:
        return program
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _program(folder, client.program) is None:
            _install(f"{client.package}@{version}", folder)
    if (program := _program(folder, client.program)) is None:
        raise Unavailable(f"{client.title} {version} has no program for this machine in its npm package")
    return program


def _program(folder: Path, name: str) -> Path | None:
    """The native program in the package of the platform, if there is one; otherwise the script that npm links."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    native = folder / "node_modules" / f"{name}-{platform.system().lower()}-{machine}" / "bin" / name
    linked = folder / "node_modules" / ".bin" / name
    return next((path for path in (native, linked) if path.exists()), None)


def _install(package: str, folder: Path) -> None:
    """Install into a temporary folder first, so that an aborted installation is never used."""
    with tempfile.TemporaryDirectory(dir=cache()) as scratch:
        run_npm("install", "--prefix", scratch, package)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        shutil.move(Path(scratch) / "node_modules", folder / "node_modules")
