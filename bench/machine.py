"""A description of the machine and its load, which absolute numbers depend on.

Reads `/proc` if it exists; otherwise (macOS) the description is shorter.
"""

import os
import platform
import statistics
import time
from pathlib import Path

from bench.processes import filesystem, scratch

_WRITES = 50
_PAGE = b"x" * 4096
_LOOK_SECONDS = 0.5


def describe() -> str:
    """One line: cores, Python, system, the time of a durable write in the scratch directory, and the load."""
    fsync_ms, kind = _fsync()
    facts = [
        f"{os.cpu_count()} cores",
        f"Python {platform.python_version()}",
        f"{platform.system()} {platform.machine()}",
        f"4 KiB write + fsync {fsync_ms:.2f} ms" + (f" on {kind}" if kind else ""),
    ]
    interference = Interference([os.getpid()])
    time.sleep(_LOOK_SECONDS)
    others = interference.share()
    return " · ".join(
        facts if others is None else [*facts, f"other programs use {others:.0%} of the CPU before the run"]
    )


class Interference:
    """The share of all cores that other programs use from now on. Only user time: kernel time is mostly our network."""

    def __init__(self, ours: list[int]) -> None:
        self._ours = ours
        self._began = time.perf_counter()
        self._before = self._other_seconds()

    def share(self) -> float | None:
        """The share of all cores that other processes used; None if the system does not report it."""
        after = self._other_seconds()
        if self._before is None or after is None:
            return None
        available = (time.perf_counter() - self._began) * (os.cpu_count() or 1)
        return max(0.0, (after - self._before) / available)

    def _other_seconds(self) -> float | None:
        """Seconds of user time of all other processes since the machine started."""
        try:
            total = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:3]]
            ours = sum(_user_ticks(pid) for pid in self._ours)
        except (OSError, ValueError):
            return None
        return float(sum(total) - ours) / os.sysconf("SC_CLK_TCK")


def _user_ticks(pid: int) -> int:
    """The user time of a process. The process name in parentheses may contain any characters."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])


def _fsync() -> tuple[float, str]:
    with scratch() as home:
        file = os.open(home.root / "fsync", os.O_WRONLY | os.O_CREAT)
        try:
            return statistics.median(_write(file) for _ in range(_WRITES)), filesystem(str(home.root))
        finally:
            os.close(file)


def _write(file: int) -> float:
    began = time.perf_counter()
    os.write(file, _PAGE)
    os.fsync(file)
    return (time.perf_counter() - began) * 1000
