"""One line about the machine, since absolute numbers mean nothing without it."""

import os
import platform
import statistics
import time

from bench.processes import filesystem, scratch

_WRITES = 50
_PAGE = b"x" * 4096


def describe() -> str:
    """Cores, Python, system, and what one durable write costs where the benchmarks write."""
    fsync_ms, kind = _fsync()
    where = f" on {kind}" if kind else ""
    return (
        f"{os.cpu_count()} cores · Python {platform.python_version()} · {platform.system()} {platform.machine()} · "
        f"4 KiB write + fsync {fsync_ms:.2f} ms{where}"
    )


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
