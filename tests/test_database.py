"""The commands `headspace db …`."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import NullPool, create_engine, text

from claude_headspace.config import without_password
from claude_headspace.database import resumable
from claude_headspace.errors import HeadspaceError, JournalUnavailable
from claude_headspace.journal.dialects import dialect_for
from tests.postgres import Postgres
from tests.support import running_daemon
from tests.surfaces.cli.conftest import run_headspace


def fill(home: Path) -> None:
    """A home whose daemon received two events and stopped."""
    with running_daemon(home) as daemon:
        daemon.post("session-start", {"session_id": "s", "cwd": "/p"})
        daemon.post("user-prompt-submit", {"session_id": "s", "cwd": "/p", "prompt": "Remember the needle"})


def database_of(kind: str, home: Path, request: pytest.FixtureRequest) -> str:
    """The URL of the SQLite database of a home, or of a new PostgreSQL database."""
    return f"sqlite:///{home}/headspace.db" if kind == "sqlite" else request.getfixturevalue("postgres").database()


def test_a_backup_is_taken_while_the_daemon_runs(tmp_path: Path) -> None:
    """It is complete, does not overwrite a file, and can be used by another home."""
    home, copy = tmp_path / "home", tmp_path / "backup.db"
    with running_daemon(home) as daemon:
        daemon.post("session-start", {"session_id": "s", "cwd": "/p"})
        done = run_headspace(home, "db", "backup", str(copy))
        assert (done.returncode, done.stderr) == (0, "")
        assert "backup.db" in done.stdout
        again = run_headspace(home, "db", "backup", str(copy))
        assert again.returncode == 1
        assert "already exists" in again.stderr
        assert daemon.verified()
    other = {"HEADSPACE_DATABASE": f"sqlite:///{copy}"}
    assert "projections match the log" in run_headspace(tmp_path / "other", "db", "verify", **other).stdout


def test_postgresql_has_its_own_backup(tmp_path: Path) -> None:
    """The error names `pg_dump` with the address, and where the password comes from."""
    database = {"HEADSPACE_DATABASE": "postgresql+psycopg://me:secret@db/hs"}
    done = run_headspace(tmp_path, "db", "backup", "x.dump", **database)
    assert done.returncode == 1
    assert "pg_dump" in done.stderr
    assert "'postgresql://me@db/hs'" in done.stderr
    assert "~/.pgpass" in done.stderr


def test_a_journal_moves_to_postgresql(tmp_path: Path, postgres: Postgres) -> None:
    """It is copied, compared and used there; repeating the copy is harmless; a running daemon prevents it."""
    home, target = tmp_path / "home", postgres.empty()
    fill(home)
    with running_daemon(home):
        busy = run_headspace(home, "db", "copy", str(home / "headspace.db"), target)
        assert busy.returncode == 1
        assert "headspace down" in busy.stderr
    done = run_headspace(home, "db", "copy", str(home / "headspace.db"), target)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 events in the target, and both databases are equal" in done.stdout
    assert f'Set database = "{without_password(target)}"' in done.stdout
    assert "~/.pgpass" in done.stdout
    again = json.loads(run_headspace(home, "db", "copy", str(home / "headspace.db"), target, "--json").stdout)
    assert again == {"copied": 0, "events": 2, "differing": []}
    with running_daemon(tmp_path / "team", database=target) as daemon:
        assert [agent["session_id"] for agent in daemon.agents()] == ["s"]
        assert daemon.get("/api/search?q=needle").json()["hits"]


def test_a_database_in_use_is_not_copied(tmp_path: Path, postgres: Postgres) -> None:
    """Neither as source nor as target; nor a database to itself."""
    home, other, target = tmp_path / "home", tmp_path / "other", postgres.empty()
    fill(home)
    database = str(home / "headspace.db")
    itself = run_headspace(other, "db", "copy", database, database)
    assert (itself.returncode, itself.stdout) == (1, "")
    assert "the same database" in itself.stderr
    with running_daemon(home), running_daemon(tmp_path / "team", database=target):
        for paths in ((database, str(tmp_path / "new.db")), (target, str(tmp_path / "new.db"))):
            done = run_headspace(other, "db", "copy", *paths)
            assert (done.returncode, done.stdout) == (1, "")
            assert "is in use" in done.stderr
            assert "headspace down" in done.stderr
    fill(other)
    with running_daemon(tmp_path / "team", database=target):
        done = run_headspace(home, "db", "copy", str(other / "headspace.db"), target)
        assert "is in use" in done.stderr


def test_a_daemon_refuses_an_unfinished_copy(tmp_path: Path) -> None:
    """The error says how to continue it."""
    fill(tmp_path)
    with closing(sqlite3.connect(tmp_path / "headspace.db")) as database, database:
        database.execute("INSERT INTO counters VALUES ('copying', 1)")
    for command in (("serve", "--port", "0"), ("db", "verify")):
        done = run_headspace(tmp_path, *command)
        assert (done.returncode != 0, done.stdout) == (True, "")
        assert "db copy" in done.stderr


@pytest.mark.parametrize(
    "trouble", [KeyboardInterrupt(), JournalUnavailable("journal_unavailable", "It is gone.", "See the logs.")]
)
def test_an_interrupted_copy_says_how_to_continue(trouble: BaseException) -> None:
    """With the same command."""
    with pytest.raises(HeadspaceError) as refusal, resumable():
        raise trouble
    assert "same command again" in refusal.value.hint


def test_a_missing_source_is_refused(tmp_path: Path) -> None:
    """And no empty database is created."""
    done = run_headspace(tmp_path, "db", "copy", str(tmp_path / "missing.db"), str(tmp_path / "new.db"))
    assert done.returncode == 1
    assert "missing.db" in done.stderr
    assert not (tmp_path / "missing.db").exists()


@pytest.mark.parametrize(
    ("address", "hint"),
    [
        ("mysql://db/headspace", "Use `postgresql://"),
        ("postgresql://me:sesame@127.0.0.1:9/db", "Check that the server"),
    ],
)
def test_a_bad_argument_does_not_blame_the_settings(tmp_path: Path, address: str, hint: str) -> None:
    """The error names the argument and what to do."""
    fill(tmp_path)
    done = run_headspace(tmp_path, "db", "copy", str(tmp_path / "headspace.db"), address)
    assert done.returncode == 1
    assert hint in done.stderr
    assert "sesame" not in done.stderr
    assert "setting" not in done.stderr


def test_pruning_needs_a_retention(tmp_path: Path) -> None:
    """With or without a daemon; here nothing is that old."""
    fill(tmp_path)
    unset = run_headspace(tmp_path, "db", "prune")
    assert unset.returncode == 1
    assert "retention_days" in unset.stderr
    done = run_headspace(tmp_path, "db", "prune", "--json", HEADSPACE_RETENTION_DAYS="30")
    assert json.loads(done.stdout) == {"events": 0, "announcements": 0, "agents": 0, "up_to": 0, "efforts": 0}
    with running_daemon(tmp_path) as daemon:
        assert "no events that old" in run_headspace(tmp_path, "db", "prune", "--days", "1", "--dry-run").stdout
        assert daemon.verified()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_running_daemon_verifies_and_rebuilds(tmp_path: Path, kind: str, request: pytest.FixtureRequest) -> None:
    """A deleted row is named, the exit code is 1, and rebuild restores it."""
    address = database_of(kind, tmp_path, request)
    with running_daemon(tmp_path, database=address) as daemon:
        daemon.post("user-prompt-submit", {"session_id": "s", "cwd": "/p", "prompt": "Remember the needle"})
        with create_engine(dialect_for(address)[1], poolclass=NullPool).begin() as connection:
            connection.execute(text("DELETE FROM turns"))
        found = run_headspace(tmp_path, "db", "verify", "--json")
        assert found.returncode == 1
        [difference] = json.loads(found.stdout)["differences"]
        assert (difference["table"], difference["problem"]) == ("turns", "is missing")
        assert "is missing" in run_headspace(tmp_path, "db", "verify").stdout
        assert run_headspace(tmp_path, "db", "rebuild").returncode == 0
        assert daemon.verified()


def test_the_time_of_the_last_hook_survives_a_restart(tmp_path: Path) -> None:
    """Also before the new daemon receives one."""
    with running_daemon(tmp_path) as daemon:
        daemon.post("session-start", {"session_id": "s", "cwd": "/p"})
        before = daemon.status["last_event_at"]
    with running_daemon(tmp_path) as daemon:
        assert before is not None
        assert daemon.status["last_event_at"] == before
        assert daemon.status["events_since_start"] == 0
