"""Homes of opencode that start fast.

At its first start with a plugin, opencode installs a package into its config dir with npm, which takes longer than a
scenario. Here it is installed once, into the cache of the real clients.
"""

import fcntl
import shutil
from pathlib import Path

from tests.real_client.program import cache, run_npm
from tests.real_clients.homes import OpencodeHome

PACKAGE = "@opencode-ai/plugin"
MODULES, LISTS = "node_modules", ("package.json", "package-lock.json")


class PreparedHome(OpencodeHome):
    """A home whose config dir has the package already."""

    def __init__(self, root: Path, version: str = "") -> None:
        super().__init__(root, version)
        installed = find_modules(self.version)
        (self.config_dir / MODULES).symlink_to(installed / MODULES)
        for name in LISTS:
            shutil.copy(installed / name, self.config_dir)


def find_modules(version: str) -> Path:
    """The folder with the package, installed if it is missing. Safe for parallel processes."""
    folder = cache() / f"opencode-plugin-{version}"
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / LISTS[-1]).exists():
            folder.mkdir(exist_ok=True)
            run_npm("install", "--prefix", str(folder), "--save-exact", f"{PACKAGE}@{version}")
    return folder
