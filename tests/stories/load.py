"""Senders that never rest, and the books that are kept of them: acknowledged is stored, exactly once."""

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
    """Senders that send whole turns until the daemon is gone, and remember what it acknowledged."""

    def __init__(self, daemons: Sequence[RunningDaemon], round_number: int = 0) -> None:
        self._daemons = daemons
        self._round = round_number
        self._halted = False
        self._threads = [threading.Thread(target=self._send, args=(number,)) for number in range(SENDERS)]
        self.sent: list[str] = []
        self.acknowledged: list[str] = []
        self.states: dict[str, str] = {}
        self.strange: list[str] = []

    def start(self) -> None:
        """Begin to send."""
        for thread in self._threads:
            thread.start()

    def is_under_way(self) -> bool:
        """Whether enough was acknowledged; nothing may be refused before the daemon is ended."""
        assert self.strange == []
        assert all(thread.is_alive() for thread in self._threads)
        return len(self.acknowledged) > 200

    def halt(self) -> None:
        """Let every sender end its turn, and wait for that."""
        self._halted = True
        self.join()

    def join(self) -> None:
        """Wait until all senders have noticed that the daemon is gone."""
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
            self.states[session] = reply.json()["state"] or self.states[session]
        else:
            self.strange.append(f"{reply.status} {reply.body!r}")
            raise OSError("refused: the daemon stops")


def stored_marks(home: Path, database: str = "") -> Counter[str]:
    """The marks in the log, read from the database itself."""
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
    """Start a daemon, load it, end it in the middle."""
    with running_daemon(home, **settings) as daemon:
        load = Load([daemon], round_number)
        load.start()
        wait_until(load.is_under_way, "some acknowledged events")
        end(daemon)
        load.join()
    return load


class Ledger:
    """What all senders of a story sent and were told, held against what is stored."""

    def __init__(self) -> None:
        self.sent: set[str] = set()
        self.acknowledged: set[str] = set()

    def enter(self, load: Load) -> None:
        """Add what came of a load."""
        self.sent |= set(load.sent)
        self.acknowledged |= set(load.acknowledged)

    def check(self, stored: Counter[str]) -> set[str]:
        """Acknowledged is stored, exactly once; the sessions that had one on its way when their daemon died."""
        assert max(stored.values()) == 1, "nothing is stored twice"
        assert stored.keys() >= self.acknowledged, "nothing that was acknowledged is lost"
        assert stored.keys() <= self.sent, "nothing is stored that nobody sent"
        unanswered = [mark.split()[0] for mark in stored.keys() - self.acknowledged]
        assert len(unanswered) == len(set(unanswered)), "one each was on its way when the daemon died"
        return set(unanswered)
