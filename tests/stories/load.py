"""A load generator and the check that every acknowledged event is stored exactly once."""

import contextlib
import http.client
import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import psycopg

from tests.support import Client, RunningDaemon, running_daemon, wait_until

SENDERS = 8


class Load:
    """Senders that send complete turns until the daemon stops, and record what it acknowledged."""

    def __init__(self, daemons: Sequence[RunningDaemon], round_number: int = 0) -> None:
        self._daemons = daemons
        self._round = round_number
        self._halted = False
        self._threads = [threading.Thread(target=self._send, args=(number,)) for number in range(SENDERS)]
        self.sent: list[str] = []
        self.acknowledged: list[str] = []
        self.states: dict[str, str] = {}
        self.unexpected: list[str] = []

    def start(self) -> None:
        """Start to send."""
        for thread in self._threads:
            thread.start()

    def is_under_way(self) -> bool:
        """Whether enough events were acknowledged. Nothing may be refused before the daemon stops."""
        assert self.unexpected == []
        assert all(thread.is_alive() for thread in self._threads)
        return len(self.acknowledged) > 200

    def halt(self) -> None:
        """Wait until every sender has finished its turn."""
        self._halted = True
        self.join()

    def join(self) -> None:
        """Wait until all senders have detected that the daemon stopped."""
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()

    def _send(self, number: int) -> None:
        session = f"round-{self._round}-sender-{number}"
        try:
            with self._daemons[number % len(self._daemons)].client() as client:
                for turn in count():
                    if self._halted:
                        return
                    self._one(client, session, turn, "user-prompt-submit", prompt=f"Do number {turn}.")
                    self._one(client, session, turn, "stop", last_assistant_message=f"I did number {turn}.")
        except (OSError, http.client.HTTPException):
            pass

    def _one(self, client: Client, session: str, turn: int, event: str, **fields: object) -> None:
        mark = f"{session} {turn} {event}"
        self.sent.append(mark)
        reply = client.post(event, {"session_id": session, "cwd": f"/projects/{session}", "mark": mark, **fields})
        if reply.status == 200:
            self.acknowledged.append(mark)
            self.states[session] = reply.json()["state"] or self.states.get(session, "")
        else:
            self.unexpected.append(f"{reply.status} {reply.body!r}")
            raise OSError("refused: the daemon is stopping")


def stored_marks(home: Path, database: str = "") -> Counter[str]:
    """The marks in the log, read from the database."""
    query = "SELECT payload FROM events WHERE origin = 'hook' ORDER BY seq"
    if database:
        with psycopg.connect(database) as shared:
            found = [payload for (payload,) in shared.execute(query)]
    else:
        with contextlib.closing(sqlite3.connect(home / "headspace.db")) as own:
            found = [payload for (payload,) in own.execute(query)]
    return Counter(json.loads(payload)["mark"] for payload in found)


def run_under_load(
    home: Path, end: Callable[[RunningDaemon], object], round_number: int = 0, **settings: object
) -> Load:
    """Start a daemon, put load on it, and end it under load."""
    with running_daemon(home, **settings) as daemon:
        load = Load([daemon], round_number)
        load.start()
        wait_until(load.is_under_way, "some acknowledged events")
        end(daemon)
        load.join()
    return load


class Ledger:
    """Compares what all senders sent, and what was acknowledged, with what is stored."""

    def __init__(self) -> None:
        self.sent: set[str] = set()
        self.acknowledged: set[str] = set()

    def add(self, load: Load) -> None:
        """Add the result of a load."""
        self.sent |= set(load.sent)
        self.acknowledged |= set(load.acknowledged)

    def check(self, stored: Counter[str]) -> set[str]:
        """Every acknowledged event is stored exactly once. Return the sessions with an unacknowledged stored event."""
        assert max(stored.values()) == 1, "no event is stored twice"
        assert stored.keys() >= self.acknowledged, "no acknowledged event is lost"
        assert stored.keys() <= self.sent, "only sent events are stored"
        unanswered = [mark.split()[0] for mark in stored.keys() - self.acknowledged]
        assert len(unanswered) == len(set(unanswered)), (
            "each sender had at most one request in flight when the daemon died"
        )
        return set(unanswered)
