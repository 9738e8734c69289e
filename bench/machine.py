"""What the machine is and what else it does, since absolute numbers mean nothing without that.

Reads `/proc` where there is one; elsewhere (macOS) it says less.
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
    """One line: cores, Python, system, what a durable write costs where the benchmarks write, and how busy it is."""
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
    return " · ".join(facts if others is None else [*facts, f"other programs take {others:.0%} of it before the run"])


class Interference:
    """How much of all cores others take from now on. Only user time: what the kernel does for the network is ours."""

    def __init__(self, ours: list[int]) -> None:
        self._ours = ours
        self._began = time.perf_counter()
        self._before = self._theirs()

    def share(self) -> float | None:
        """The share of all cores that went to processes other than ours, None where the system does not tell."""
        after = self._theirs()
        if self._before is None or after is None:
            return None
        available = (time.perf_counter() - self._began) * (os.cpu_count() or 1)
        return max(0.0, (after - self._before) / available)

    def _theirs(self) -> float | None:
        """Seconds of user time that everybody else has had since the machine started."""
        try:
            everybody = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:3]]
            ours = sum(_user_ticks(pid) for pid in self._ours)
        except (OSError, ValueError):
            return None
        return float(sum(everybody) - ours) / os.sysconf("SC_CLK_TCK")


def _user_ticks(pid: int) -> int:
    """The user time of a process; the name in parentheses before it may hold anything."""
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
