"""The program `headspace`: help, exit codes, imports, `serve` and `db`."""

import json
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from claude_headspace import __version__
from claude_headspace.main import DATABASE, FIRST_COMMANDS
from claude_headspace.surfaces.cli.arguments.tree import Command, Group
from claude_headspace.surfaces.cli.commands import COMMANDS, GROUPS
from tests.support import AWAY, LIMIT_SECONDS, RunningDaemon, environment, running_daemon, start_daemon, wait_until

SHOP = {"session_id": "one", "cwd": "/projects/shop"}


def headspace(home: Path, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in a home."""
    return subprocess.run(
        [sys.executable, "-m", "claude_headspace", *arguments],
        env={**environment(home), **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_SECONDS,
        check=False,
    )


def send_a_turn(daemon: RunningDaemon) -> None:
    """Three events of one agent."""
    for event, fields in (
        ("session-start", {}),
        ("user-prompt-submit", {"prompt": "Fix the login."}),
        ("stop", {"last_assistant_message": "It works."}),
    ):
        assert daemon.post(event, {**SHOP, **fields}).status == 200


# --- help ---


def test_help_lists_all_commands(tmp_path: Path) -> None:
    """Each with one sentence; with -h, --help and without arguments."""
    for arguments in (["-h"], ["--help"]):
        done = headspace(tmp_path, *arguments)
        assert done.returncode == 0
        named = re.findall(r"^  (\w+)  +\S.*\.$", done.stdout, re.MULTILINE)
        assert named == [entry.name for entry in (*FIRST_COMMANDS, *COMMANDS, *GROUPS, DATABASE)]
    bare = headspace(tmp_path)
    assert "Usage: headspace" in bare.stdout + bare.stderr


@pytest.mark.parametrize(
    "name",
    [
        *(entry.name for entry in (*FIRST_COMMANDS, *COMMANDS)),
        *(f"{group.name} {entry.name}" for group in (*GROUPS, DATABASE) for entry in group.commands),
        "token",
    ],
)
def test_every_command_has_help_with_examples(tmp_path: Path, name: str) -> None:
    """With its usage and examples."""
    done = headspace(tmp_path, *name.split(), "--help")
    assert done.returncode == 0
    assert f"Usage: headspace {name}" in done.stdout
    assert re.search(rf"Examples:\n(.*\n)*.*headspace {name}", done.stdout)


def test_the_version(tmp_path: Path) -> None:
    """One line."""
    assert headspace(tmp_path, "--version").stdout == f"headspace {__version__}\n"


def test_an_unknown_command(tmp_path: Path) -> None:
    """The exit code is 2."""
    done = headspace(tmp_path, "fly")
    assert done.returncode == 2
    assert "No such command 'fly'" in done.stderr


ENTRIES: list[Command | Group] = [*FIRST_COMMANDS, *COMMANDS, *GROUPS, *DATABASE.commands]
ENTRIES += [entry for group in GROUPS for entry in group.commands]


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.function], ids=lambda entry: entry.function)
def test_summaries_are_those_of_the_docstrings(entry: Command | Group) -> None:
    """The list of commands and the help of a command begin with the same sentence."""
    assert entry.load().description.split("\n")[0] == entry.summary


def test_commands_with_json_output() -> None:
    """Every command with readable output has the option --json."""
    parameters = {entry.name: [each.name for each in entry.load().parameters] for entry in COMMANDS}
    assert {name for name, taken in parameters.items() if "as_json" not in taken} == {
        "down",
        "export",
        "hook",
        "install",
        "jump",
        "resume",
        "rpc",  # it answers in JSON anyway
        "run",
        "statusline",
        "tmux",
        "top",
        "uninstall",
        "up",
    }


@pytest.mark.parametrize("command", ["--help", "list", "status", "token", "config"])
def test_commands_do_not_import_the_daemon(tmp_path: Path, command: str) -> None:
    """Its libraries would make every command slow to start."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "claude_headspace", command],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    loaded = set(re.findall(r"\| +([\w.]+)$", done.stderr, re.MULTILINE))
    assert "claude_headspace.main" in loaded
    heavy = (
        "typer",
        "click",
        "pydantic",
        "dataclasses",
        "sqlalchemy",
        "alembic",
        "starlette",
        "uvicorn",
        "structlog",
        "rich.console",
        "asyncio",
    )
    assert [name for name in heavy if name in loaded] == []


# --- serve ---


def test_serve_prints_a_banner(tmp_path: Path) -> None:
    """With the address, the database, how to stop, and a first event that works as printed."""
    with running_daemon(tmp_path) as daemon:
        banner = wait_until(lambda: text if "hello" in (text := daemon.output.read_text()) else "", "the banner")
        assert banner.startswith(f"Headspace is listening at {daemon.url}\n")
        assert str(tmp_path / "headspace.db") in banner
        assert "`headspace down`" in banner
        command = banner[banner.index("curl") :]
        done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, timeout=60, check=True)
        assert json.loads(done.stdout)["state"] == "idle"
        assert [agent["cwd"] for agent in daemon.agents()] == [str(tmp_path)]


def test_serve_without_a_database(tmp_path: Path) -> None:
    """The daemon runs, and the banner has a warning."""
    with running_daemon(tmp_path, database=AWAY) as daemon:
        banner = wait_until(lambda: text if "hello" in (text := daemon.output.read_text()) else "", "the banner")
    assert "waiting          for the database: " in banner


def test_serve_on_the_network(tmp_path: Path) -> None:
    """The first event uses a local address and a token; a warning mentions `allowed_hosts`."""
    with running_daemon(tmp_path, host="0.0.0.0", ingest="token") as daemon:  # noqa: S104  # with tokens
        banner = wait_until(lambda: text if "hello" in (text := daemon.output.read_text()) else "", "the banner")
        assert "set `allowed_hosts`" in banner
        first = banner[banner.index("curl") :]
        command = first.replace("$(headspace token --scope ingest)", daemon.token("ingest"))
        assert command != first
        done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, timeout=60, check=True)
        assert json.loads(done.stdout)["state"] == "idle"


def test_serve_with_host_and_port(tmp_path: Path) -> None:
    """They win over environment and file; invalid values are rejected."""
    done = headspace(tmp_path, "serve", "--host", "0.0.0.0", "--port", "0")  # noqa: S104  # refused
    assert done.returncode == 1
    assert "does not listen on 0.0.0.0 without tokens" in done.stderr
    assert headspace(tmp_path, "serve", "--port", "70000").returncode == 1
    assert headspace(tmp_path, "serve", "--port", "many").returncode == 2


def test_a_second_daemon_is_rejected(tmp_path: Path) -> None:
    """The error names the address of the first."""
    with running_daemon(tmp_path) as daemon:
        done = headspace(tmp_path, "serve")
        assert done.returncode == 1
        assert f"Headspace is already running, at {daemon.url} (pid {daemon.pid})." in done.stderr
        assert "`headspace down`" in done.stderr
        assert daemon.get("/health", scope=None).status == 200


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_serve_stops_on_signals(tmp_path: Path, number: signal.Signals) -> None:
    """All files are closed, and one line is printed."""
    with running_daemon(tmp_path) as daemon:
        send_a_turn(daemon)
        daemon.process.send_signal(number)
        assert daemon.process.wait(LIMIT_SECONDS) == 0
        assert daemon.output.read_text().endswith("\nHeadspace has stopped.\n")
        assert "Traceback" not in daemon.output.read_text()
    assert not (tmp_path / "run" / "daemon.json").exists()
    assert not (tmp_path / "headspace.db-wal").exists()


def test_serve_can_be_stopped_while_it_starts(tmp_path: Path) -> None:
    """Without a traceback."""
    daemon = start_daemon(tmp_path)
    try:
        wait_until((tmp_path / "run" / "daemon.lock").exists, "the lock")
        daemon.process.terminate()
        assert daemon.process.wait(LIMIT_SECONDS) == 0
    finally:
        daemon.process.kill()
        daemon.process.wait(LIMIT_SECONDS)
    assert "Traceback" not in daemon.output.read_text()


@pytest.mark.parametrize(
    ("database", "command", "hint"),
    [
        ("nonsense", ["serve"], "Use `postgresql://user@host/name`, an absolute path"),
        ("nonsense", ["db", "verify"], "Use `postgresql://"),
        ("mysql://me:sesame@db/headspace", ["serve"], "Use `postgresql://"),
        ("mysql://me:sesame@db/headspace", ["db", "upgrade"], "Use `postgresql://"),
        ("foo://", ["db", "verify"], "Use `postgresql://"),
        ("postgresql://me:sesame@127.0.0.1:abc/db", ["serve"], "Use `postgresql://"),
        ("postgresql://me:sesame@127.0.0.1:abc/db", ["db", "verify"], "Use `postgresql://"),
        ("/nowhere/at/all.db", ["serve"], "Its directory must exist"),
        ("/nowhere/at/all.db", ["db", "verify"], "Its directory must exist"),
        (
            "postgresql://me:sesame@127.0.0.1:9/db",
            ["db", "verify"],
            "Check that the server",
        ),  # the daemon starts without it
    ],
)
def test_a_database_that_cannot_be_opened(tmp_path: Path, database: str, command: list[str], hint: str) -> None:
    """The error has its address without the password, the reason and a hint."""
    done = headspace(tmp_path, *command, HEADSPACE_DATABASE_URL=database)
    assert done.returncode == 1
    assert done.stderr.startswith(f"The database {database.replace(':sesame', '')} cannot be opened: ")
    assert hint in done.stderr
    assert "Check the setting `database`" in done.stderr
    assert done.stderr.count("\n") == 2
    assert not (tmp_path / "nonsense").exists()


def test_the_log_names_the_database_in_use(tmp_path: Path) -> None:
    """Without its password, also if it is unavailable."""
    with running_daemon(tmp_path, database="postgresql://me:sesame@127.0.0.1:9/db") as daemon:
        [listening] = [line for line in daemon.log.splitlines() if '"listening"' in line]
        assert json.loads(listening)["database"] == "postgresql://me@127.0.0.1:9/db"
        assert "sesame" not in daemon.log


def test_a_file_that_is_not_a_database(tmp_path: Path) -> None:
    """The error has two lines."""
    (tmp_path / "headspace.db").write_bytes(b"no database at all" * 100)
    done = headspace(tmp_path, "db", "verify")
    assert done.returncode == 1
    assert "file is not a database" in done.stderr
    assert "Restore a backup" in done.stderr


def test_a_directory_that_cannot_be_used(tmp_path: Path) -> None:
    """The error names the file."""
    home = tmp_path / "file"
    home.touch()
    for command in ("status", "token"):
        done = headspace(home, command)
        assert done.returncode == 1
        assert done.stderr.startswith("A file cannot be used: ")
        assert str(home) in done.stderr


# --- db ---


def spoil(home: Path) -> None:
    """Change a projection without the journal."""
    with sqlite3.connect(home / "headspace.db") as database:
        database.execute("UPDATE roster SET name = 'impostor'")
    database.close()


@pytest.fixture
def used(tmp_path: Path) -> Path:
    """A home in which a daemon has been at work."""
    with running_daemon(tmp_path) as daemon:
        send_a_turn(daemon)
    return tmp_path


def test_db_commands_without_a_daemon(used: Path) -> None:
    """`verify` finds a changed row and exits with 1, `rebuild` restores it."""
    assert headspace(used, "db", "verify").stdout == "The projections match the log.\n"
    spoil(used)
    found = headspace(used, "db", "verify")
    assert found.returncode == 1
    assert found.stdout.startswith("1 difference between the log and the projections:\n  roster ")
    assert headspace(used, "db", "rebuild").stdout == "Rebuilt from 3 events.\n"
    assert headspace(used, "db", "verify").returncode == 0


def test_db_commands_in_json(used: Path) -> None:
    """The output is that of the API."""
    spoil(used)
    found = headspace(used, "db", "verify", "--json")
    assert found.returncode == 1
    result = json.loads(found.stdout)
    assert result["ok"] is False
    assert result["differences"][0]["table"] == "roster"
    assert json.loads(headspace(used, "db", "rebuild", "--json").stdout) == {"events": 3}
    assert json.loads(headspace(used, "db", "verify", "--json").stdout) == {"ok": True, "differences": []}
    assert json.loads(headspace(used, "db", "upgrade", "--json").stdout) == {"up_to_date": True}


def test_db_commands_with_a_daemon(tmp_path: Path) -> None:
    """The daemon does the work and keeps running."""
    with running_daemon(tmp_path) as daemon:
        send_a_turn(daemon)
        assert headspace(tmp_path, "db", "upgrade").stdout == "The database is up to date.\n"
        assert headspace(tmp_path, "db", "verify").returncode == 0
        spoil(tmp_path)
        assert headspace(tmp_path, "db", "verify").returncode == 1
        assert headspace(tmp_path, "db", "rebuild").stdout == "Rebuilt from 3 events.\n"
        assert headspace(tmp_path, "db", "verify").returncode == 0
        assert daemon.agents()[0]["name"] != "impostor"


def test_upgrade_creates_the_database(tmp_path: Path) -> None:
    """It is private to the user."""
    assert headspace(tmp_path, "db", "upgrade").returncode == 0
    assert (tmp_path / "headspace.db").stat().st_mode & 0o077 == 0
    assert headspace(tmp_path, "db", "verify").returncode == 0
