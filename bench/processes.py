"""Real processes in a scratch home.

Nothing outlives its `with` block: a process is ended by its pid (a signal, then a kill of its own group), and a scratch
home is deleted. This also holds for Ctrl+C, SIGTERM and errors, because `interrupt_on_signals` turns those signals into
the exception that unwinds every `with`. The environment is isolated, so no benchmark uses the user's configuration,
tmux server, desktop or Claude Code.
"""

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from bench.report import BenchError

STOP_SECONDS = 10.0
LOCK_SECONDS = 600.0
CHECKOUT = Path(__file__).resolve().parent.parent

_INHERITED = ("PATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "PYTHONPATH")
_MEMORY_FILESYSTEMS = {"tmpfs", "ramfs"}


@dataclass(frozen=True)
class Scratch:
    """A scratch home. The measured processes write only here."""

    root: Path
    env: dict[str, str]

    def project(self, name: str) -> Path:
        """A directory that looks like a Git repository, for a session."""
        path = self.root / "projects" / name
        (path / ".git").mkdir(parents=True, exist_ok=True)
        (path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        return path


@contextmanager
def scratch() -> Iterator[Scratch]:
    """A scratch home on a real disk, deleted at the end."""
    root = Path(tempfile.mkdtemp(prefix="hs-bench-", dir=_disk_directory()))
    try:
        yield Scratch(root, _environment(root))
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _environment(root: Path) -> dict[str, str]:
    homes = {
        "HOME": root / "home",
        "HEADSPACE_HOME": root / "headspace",
        "XDG_CONFIG_HOME": root / "home/.config",
        "XDG_DATA_HOME": root / "home/.local/share",
        "XDG_STATE_HOME": root / "home/.local/state",
        "XDG_CACHE_HOME": root / "home/.cache",
        "XDG_RUNTIME_DIR": root / "run",
        "CLAUDE_CONFIG_DIR": root / "home/.claude",
        "TMUX_TMPDIR": root / "run",
        "TMPDIR": root / "tmp",
    }
    for path in homes.values():
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    return {name: os.environ[name] for name in _INHERITED if name in os.environ} | {k: str(v) for k, v in homes.items()}


def _disk_directory() -> str:
    """The temporary directory, or `/var/tmp` if the former is in memory, where an fsync costs nothing."""
    usual = tempfile.gettempdir()
    if filesystem(usual) not in _MEMORY_FILESYSTEMS or filesystem("/var/tmp") in _MEMORY_FILESYSTEMS | {""}:
        return usual
    return "/var/tmp"


@contextmanager
def exclusive(progress: Callable[[str], None]) -> Iterator[None]:
    """Allow one bench at a time on a machine, because two would disturb each other. Waits for the other one."""
    path = Path(tempfile.gettempdir()) / f"headspace-bench-{os.getuid()}.lock"
    deadline = time.monotonic() + LOCK_SECONDS
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        while not _locked(handle):
            if time.monotonic() > deadline:
                raise BenchError(f"another bench has been running for {LOCK_SECONDS:.0f} s")
            progress("waiting for another bench to end")
            time.sleep(0.5)
        yield
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def filesystem(path: str) -> str:
    """The file system type of a path; empty if unknown (macOS)."""
    try:
        mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    except OSError:
        return ""
    real = Path(path).resolve()
    around = [(len(point), kind) for _, point, kind, *_ in mounts if real.is_relative_to(point)]
    return max(around, default=(0, ""))[1]


@contextmanager
def process(
    argv: list[str], env: dict[str, str], log: Path, stop: signal.Signals = signal.SIGTERM
) -> Iterator[subprocess.Popen[bytes]]:
    """A process in its own session (so that Ctrl+C does not reach it), with its output in `log`."""
    with log.open("ab") as output:
        child = subprocess.Popen(
            argv,
            env=env,
            cwd=CHECKOUT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield child
    finally:
        _end(child, stop)


def _end(child: subprocess.Popen[bytes], stop: signal.Signals) -> None:
    if child.poll() is not None:
        return
    child.send_signal(stop)
    try:
        child.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def run(argv: list[str], env: dict[str, str], timeout: float = 30.0) -> str:
    """Run a command to its end and return its output."""
    try:
        done = subprocess.run(
            argv,
            check=False,
            env=env,
            cwd=CHECKOUT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        raise BenchError(f"{_shown(argv)} took longer than {timeout:.0f} s") from None
    if done.returncode != 0:
        raise BenchError(f"{_shown(argv)} ended with {done.returncode}: {last_line(done.stderr or done.stdout)}")
    return done.stdout


def _shown(argv: list[str]) -> str:
    return " ".join(["python" if argv[0] == sys.executable else Path(argv[0]).name, *argv[1:]])


def last_line(text: str) -> str:
    """The last line with letters or digits, which is where Python prints the reason. Frame characters are removed."""
    lines = (line.strip(" │|") for line in reversed(text.splitlines()))
    return next((line for line in lines if any(map(str.isalnum, line))), "no output")


def free_port() -> int:
    """A port on 127.0.0.1 that is currently free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def interrupt_on_signals() -> None:
    """Make SIGTERM and SIGHUP do the same as Ctrl+C: unwind and end every process."""

    def interrupt(_signal: int, frame: FrameType | None) -> None:
        handler = signal.getsignal(signal.SIGINT)  # read here, because asyncio replaces it while a loop runs
        if callable(handler):
            handler(signal.SIGINT, frame)

    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, interrupt)
