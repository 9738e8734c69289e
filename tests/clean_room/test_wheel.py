"""The wheel in a new environment outside of the checkout, with only Python, bash and git.

If its dependencies cannot be fetched, the tests are skipped with the reason.
"""

import os
import pwd
import re
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

import pytest

from claude_headspace import __version__

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("bash", "git")
OFFLINE = re.compile(r"Connection|Temporary failure|timed out|Could not fetch|Network is unreachable", re.IGNORECASE)
MINUTES = 60


def run(*command: object, **env: str) -> "subprocess.CompletedProcess[str]":
    """Run a program that may fail, with the home of the current user, which has the pip configuration."""
    home = pwd.getpwuid(os.getuid()).pw_dir
    return subprocess.run(
        [str(word) for word in command],
        env={**os.environ, "HOME": home, **env},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=10 * MINUTES,
        check=False,
    )


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    built = run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    assert built.returncode == 0, built.stderr[-2000:]
    [found] = folder.glob("*.whl")
    return found


class Room:
    """An environment with the wheel, and an empty home."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.programs = root / "programs"

    def headspace(self, *arguments: str, **env: str) -> "subprocess.CompletedProcess[str]":
        """Run a command outside of the checkout."""
        return subprocess.run(
            [str(self.root / "venv/bin/headspace"), *arguments],
            env={"HOME": str(self.home), "PATH": str(self.programs), "LANG": "C.UTF-8", "HEADSPACE_PORT": "0", **env},
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=3 * MINUTES,
            check=False,
        )


@pytest.fixture(scope="session")
def room(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Room:
    """The wheel in an empty environment. Its PATH has only Python, bash and git."""
    room = Room(tmp_path_factory.mktemp("room"))
    made = run(sys.executable, "-m", "venv", room.root / "venv")
    assert made.returncode == 0, made.stderr
    pip = (room.root / "venv/bin/python", "-m", "pip", "install", "--disable-pip-version-check", "--no-input")
    done = run(*pip, "-c", ROOT / "constraints.txt", wheel)
    if done.returncode and OFFLINE.search(done.stderr):
        pytest.skip(f"the dependencies cannot be fetched: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr[-2000:]
    room.home.mkdir()
    room.programs.mkdir()
    (room.programs / "python3").symlink_to(room.root / "venv/bin/python")
    for name in PROGRAMS:
        found = shutil.which(name)
        assert found is not None
        (room.programs / name).symlink_to(found)
    return room


def test_everything_is_in_the_wheel(wheel: Path) -> None:
    """The built page, the scripts, the migrations, the styles and the rules, but no tests."""
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in (
        "claude_headspace/surfaces/page/built/index.html",
        "claude_headspace/clients/notify-headspace.sh",
        "claude_headspace/clients/claude_code/hooks/statusline-headspace.sh",
        "claude_headspace/inputs/policy/defaults.toml",
        "claude_headspace/surfaces/tui/top.tcss",
        "claude_headspace/py.typed",
    ):
        assert wanted in names
    assert any(name.startswith("claude_headspace/journal/migrations/versions/0001") for name in names)
    assert any(re.search(r"surfaces/page/built/assets/.*\.js$", name) for name in names)
    assert not [name for name in names if name.startswith(("tests", "bench", "web/", "docs"))]
    assert f"-{__version__}-" in wheel.name


def test_the_command_is_installed(room: Room) -> None:
    """It prints its version and has shell completion."""
    assert room.headspace("--version").stdout == f"headspace {__version__}\n"
    script = room.headspace(_HEADSPACE_COMPLETE="source_bash").stdout
    assert "complete" in script
    assert "headspace" in script


def test_the_demo_runs(room: Room, tmp_path: Path) -> None:
    """After five seconds it ends and leaves no files."""
    done = room.headspace("demo", "--for", "5s", "--print", TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Demo with simulated agents" in done.stdout
    assert "http://127.0.0.1:" in done.stdout
    assert "The demo has ended. All its files were removed." in done.stdout
    assert list(room.home.iterdir()) == []
    assert list(tmp_path.iterdir()) == []


def test_a_first_run_works_from_beginning_to_end(room: Room) -> None:
    """`up`, `doctor`, the page, `down` and `uninstall` work with the content of the wheel."""
    raised = room.headspace("up", "--yes", "--no-open")
    try:
        assert raised.returncode == 0, raised.stdout + raised.stderr
        url = re.findall(r"Headspace is running at (\S+)", raised.stdout)[0]
        checked = room.headspace("doctor")
        assert checked.returncode == 0, checked.stdout
        with urllib.request.urlopen(url) as page:  # noqa: S310  # our own daemon
            assert b"<script" in page.read()
        assert room.headspace("list").returncode == 0
        assert "already running" in room.headspace("up", "--yes", "--no-open").stdout
    finally:
        stopped = room.headspace("down")
    assert "has stopped" in stopped.stdout
    assert room.headspace("uninstall", "--yes").returncode == 0
    assert not (room.home / ".claude/settings.json").exists()
