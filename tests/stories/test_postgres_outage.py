"""PostgreSQL is down, hangs, or restarts under load: hooks get replies, and all events are stored afterwards."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import Postgres, running_postgres
from tests.stories.load import Ledger, Load, stored_marks
from tests.stories.outage import all_stored, health, marks, prompt, store_first_prompt
from tests.support import RunningDaemon, running_daemon, wait_until


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """A separate, fully durable server, because it will be killed."""
    with running_postgres(durable=True) as running:
        yield running


def statuses(daemon: RunningDaemon, numbers: range) -> set[str]:
    """Send prompts; return their statuses."""
    return {prompt(daemon, number).json()["status"] for number in numbers}


def test_a_daemon_starts_without_its_database(tmp_path: Path, server: Postgres) -> None:
    """It starts, reports the outage, replies to hooks, and uses the database as soon as it is available."""
    database = server.database()
    server.stop()
    try:
        with running_daemon(tmp_path, database=database) as daemon:
            assert statuses(daemon, range(5)) == {"spooled"}
            assert health(daemon) == "degraded"
            status = daemon.status
            assert status["journal"]["status"] == "failing"
            assert status["spool"]["depth"] == 5
            assert daemon.get("/api/agents").error["code"] == "journal_unavailable"
            assert daemon.get("/api/events/stream").error["code"] == "journal_unavailable"
            server.start()
            wait_until(lambda: all_stored(daemon), "the connection to the database")
            with daemon.stream() as stream:
                assert statuses(daemon, range(5, 6)) == {"ok"}
                assert stream.until_type("turn_created").data["text"] == "Number 5."
            assert marks(daemon) == list(range(6))
            assert [outage["spooled"] for outage in daemon.status["troubles"]] == [5]
            assert daemon.verified()
    finally:
        server.start()


def test_a_database_that_hangs_does_not_block_hooks(tmp_path: Path, server: Postgres) -> None:
    """Without any reply from the database, hooks are spooled. When it continues, each is stored once."""
    with running_daemon(tmp_path, database=server.database(), patience_seconds=0.3) as daemon:
        store_first_prompt(daemon)
        server.freeze()
        try:
            assert statuses(daemon, range(1, 20)) == {"spooled"}
            assert "within 0.3 s" in daemon.get("/health", scope=None).json()["parts"]["journal"]["detail"]
        finally:
            server.thaw()
        wait_until(lambda: all_stored(daemon), "the database to continue")
        assert marks(daemon) == list(range(20))
        assert daemon.verified()


def test_a_daemon_stops_although_its_database_hangs(tmp_path: Path, server: Postgres) -> None:
    """It aborts pending work. Events that were acknowledged are stored at the next start."""
    database = server.database()
    with running_daemon(tmp_path, database=database, patience_seconds=0.3) as daemon:
        store_first_prompt(daemon)
        server.freeze()
        try:
            assert statuses(daemon, range(1, 4)) == {"spooled"}
            assert daemon.stop() == 0
        finally:
            server.thaw()
    with running_daemon(tmp_path, database=database) as again:
        wait_until(lambda: all_stored(again), "the spool to be emptied")
        assert marks(again) == list(range(4))


def test_the_daemon_reconnects_to_its_database(tmp_path: Path, server: Postgres) -> None:
    """The daemon finds the database again without a new hook."""
    with running_daemon(tmp_path, database=server.database()) as daemon, daemon.stream() as stream:
        assert prompt(daemon, 0).json()["status"] == "ok"
        server.stop()
        assert prompt(daemon, 1).json()["status"] == "spooled"
        server.start()
        wait_until(lambda: all_stored(daemon), "the database to be found again")
        assert prompt(daemon, 2).json()["status"] == "ok"
        received = [stream.until_type("turn_created").data["text"] for _ in range(3)]
        assert received == ["Number 0.", "Number 1.", "Number 2."]


def test_a_restart_of_the_database_without_traffic_has_no_effect(tmp_path: Path, server: Postgres) -> None:
    """The first write afterwards succeeds, whether it is a hook or an API request."""
    with running_daemon(tmp_path, database=server.database()) as daemon:
        store_first_prompt(daemon)
        for number in (1, 2):
            server.restart()
            assert prompt(daemon, number).json()["status"] == "ok"
        for path, body in (("/api/admin/tokens", {"name": "ci", "scopes": ["read"]}), ("/api/admin/db/rebuild", {})):
            server.restart()
            assert daemon.send("POST", path, body, scope="admin").status == 200
        assert daemon.status["troubles"] == []
        assert marks(daemon) == [0, 1, 2]


def test_a_read_only_database_is_reported(tmp_path: Path, server: Postgres) -> None:
    """The reported reason is the root cause, not a later error."""
    database = server.database()
    name = database.partition("?")[0].rpartition("/")[2]
    with running_daemon(tmp_path, database=database) as daemon:
        store_first_prompt(daemon)
        server.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        server.restart()
        newcomer = {"session_id": "two", "cwd": "/projects/two", "prompt": "Go.", "mark": 1}
        assert daemon.post("user-prompt-submit", newcomer).json()["status"] == "spooled"
        assert "in a read-only transaction" in daemon.status["troubles"][-1]["reason"]
        server.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = off")
        server.restart()
        wait_until(lambda: all_stored(daemon), "the database to be writable")
        assert marks(daemon) == [0, 1]


def restarts(home: Path, server: Postgres, times: int) -> None:
    """Restart the server under load several times, and compare acknowledged with stored events."""
    database = server.database()
    with running_daemon(home, database=database, patience_seconds=0.5) as daemon:
        load = Load([daemon])
        load.start()
        for _ in range(times):
            before = len(load.acknowledged)
            wait_until(lambda before=before: len(load.acknowledged) > before + 200, "some acknowledged events")  # type: ignore[misc]
            server.stop()
            time.sleep(0.5)  # some hooks arrive while the server is down
            server.start()
        load.halt()
        wait_until(lambda: all_stored(daemon), "the spool to be empty")
        assert load.unexpected == []
        assert daemon.verified()
        states = {agent["session_id"]: agent["state"] for agent in daemon.agents()}
        assert set(states.values()) == {"idle"}
        assert daemon.status["troubles"]
    ledger = Ledger()
    ledger.add(load)
    assert ledger.check(stored_marks(home, database)) == set()


def test_a_database_restart_under_load(tmp_path: Path, server: Postgres) -> None:
    """No hook is refused, every acknowledged event is stored exactly once, and every agent has the right state."""
    restarts(tmp_path, server, 2)


@pytest.mark.full
def test_many_database_restarts_under_load(tmp_path: Path, server: Postgres) -> None:
    """The same, twenty times."""
    restarts(tmp_path, server, 20)
