"""PostgreSQL is away, hangs, or is restarted under load: hooks are answered, and everything is there afterwards."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import Postgres, running_postgres
from tests.stories.load import Ledger, Load, stored_marks
from tests.stories.trouble import all_taken, begin, health, marks, prompt
from tests.support import RunningDaemon, running_daemon, wait_until


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """A server of its own, as durable as any: it will be ended without warning."""
    with running_postgres(durable=True) as running:
        yield running


def statuses(daemon: RunningDaemon, numbers: range) -> set[str]:
    """Send prompts; what became of them."""
    return {prompt(daemon, number).json()["status"] for number in numbers}


def test_a_daemon_starts_without_its_database(tmp_path: Path, server: Postgres) -> None:
    """It comes up, says what is missing, answers hooks, and takes up the database when it is there."""
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
            wait_until(lambda: all_taken(daemon), "the database to be taken up")
            with daemon.stream() as stream:
                assert statuses(daemon, range(5, 6)) == {"ok"}
                assert stream.until_type("turn_created").data["text"] == "Number 5."
            assert marks(daemon) == list(range(6))
            assert [trouble["spooled"] for trouble in daemon.status["troubles"]] == [5]
            assert daemon.verified()
    finally:
        server.start()


def test_a_database_that_hangs_is_not_felt(tmp_path: Path, server: Postgres) -> None:
    """It answers nothing and closes nothing: hooks are answered from the spool, and counted once when it goes on."""
    with running_daemon(tmp_path, database=server.database(), patience_seconds=0.3) as daemon:
        begin(daemon)
        server.freeze()
        try:
            assert statuses(daemon, range(1, 20)) == {"spooled"}
            assert "within 0.3 s" in daemon.get("/health", scope=None).json()["parts"]["journal"]["detail"]
        finally:
            server.thaw()
        wait_until(lambda: all_taken(daemon), "the database to go on")
        assert marks(daemon) == list(range(20))
        assert daemon.verified()


def test_a_daemon_stops_although_its_database_hangs(tmp_path: Path, server: Postgres) -> None:
    """It gives up what it waits for; what was acknowledged meanwhile is taken at the next start."""
    database = server.database()
    with running_daemon(tmp_path, database=database, patience_seconds=0.3) as daemon:
        begin(daemon)
        server.freeze()
        try:
            assert statuses(daemon, range(1, 4)) == {"spooled"}
            assert daemon.stop() == 0
        finally:
            server.thaw()
    with running_daemon(tmp_path, database=database) as again:
        wait_until(lambda: all_taken(again), "the spool to be emptied")
        assert marks(again) == list(range(4))


def test_a_database_that_goes_and_comes_back(tmp_path: Path, server: Postgres) -> None:
    """Nothing is sent while it is away, and nothing has to be for the daemon to find it again."""
    with running_daemon(tmp_path, database=server.database()) as daemon, daemon.stream() as stream:
        assert prompt(daemon, 0).json()["status"] == "ok"
        server.stop()
        assert prompt(daemon, 1).json()["status"] == "spooled"
        server.start()
        wait_until(lambda: all_taken(daemon), "the database to be found again")
        assert prompt(daemon, 2).json()["status"] == "ok"
        heard = [stream.until_type("turn_created").data["text"] for _ in range(3)]
        assert heard == ["Number 0.", "Number 1.", "Number 2."]


def test_a_restart_that_nobody_was_there_for_is_not_felt(tmp_path: Path, server: Postgres) -> None:
    """The first who writes afterwards is served, whatever it is: a hook, or something that is asked for."""
    with running_daemon(tmp_path, database=server.database()) as daemon:
        begin(daemon)
        for number in (1, 2):
            server.restart()
            assert prompt(daemon, number).json()["status"] == "ok"
        for path, body in (("/api/admin/tokens", {"name": "ci", "scopes": ["read"]}), ("/api/admin/db/rebuild", {})):
            server.restart()
            assert daemon.send("POST", path, body, scope="admin").status == 200
        assert daemon.status["troubles"] == []
        assert marks(daemon) == [0, 1, 2]


def test_a_database_that_may_only_be_read_is_told(tmp_path: Path, server: Postgres) -> None:
    """The cause is the reason that is told, not what the statements after it met with."""
    database = server.database()
    name = database.partition("?")[0].rpartition("/")[2]
    with running_daemon(tmp_path, database=database) as daemon:
        begin(daemon)
        server.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        server.restart()
        newcomer = {"session_id": "two", "cwd": "/projects/two", "prompt": "Go.", "mark": 1}
        assert daemon.post("user-prompt-submit", newcomer).json()["status"] == "spooled"
        assert "in a read-only transaction" in daemon.status["troubles"][-1]["reason"]
        server.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = off")
        server.restart()
        wait_until(lambda: all_taken(daemon), "the database to be writable")
        assert marks(daemon) == [0, 1]


def restarts(home: Path, server: Postgres, times: int) -> None:
    """Restart the server under load, again and again, and compare what was acknowledged with what is there."""
    database = server.database()
    with running_daemon(home, database=database, patience_seconds=0.5) as daemon:
        load = Load([daemon])
        load.start()
        for _ in range(times):
            before = len(load.acknowledged)
            wait_until(lambda before=before: len(load.acknowledged) > before + 200, "some acknowledged events")  # type: ignore[misc]
            server.stop()
            time.sleep(0.5)  # let some hooks find nobody there
            server.start()
        load.halt()
        wait_until(lambda: all_taken(daemon), "everything to be taken from the spool")
        assert load.strange == []
        assert daemon.verified()
        states = {agent["session_id"]: agent["state"] for agent in daemon.agents()}
        assert set(states.values()) == {"idle"}
        assert daemon.status["troubles"]
    ledger = Ledger()
    ledger.enter(load)
    assert ledger.check(stored_marks(home, database)) == set()


def test_a_database_that_is_restarted_under_load(tmp_path: Path, server: Postgres) -> None:
    """No hook is refused; what was acknowledged is stored, exactly once, and every agent is where it should be."""
    restarts(tmp_path, server, 2)


@pytest.mark.full
def test_a_database_that_is_restarted_all_day(tmp_path: Path, server: Postgres) -> None:
    """The same, twenty times."""
    restarts(tmp_path, server, 20)
