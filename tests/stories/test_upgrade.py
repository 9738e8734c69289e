"""An upgrade while clients run: hooks and readers continue, and no event is lost or duplicated."""

import json
import socket
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from claude_headspace.config import find_paths
from claude_headspace.surfaces.client.api_client import ApiClient, follow
from claude_headspace.surfaces.client.running_daemon import find_daemon
from tests.support import wait_until
from tests.support_hooks import Hooks
from tests.surfaces.cli.conftest import run_headspace
from tests.surfaces.cli.test_up import copy_of_the_code

EVENTS = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")


class Traffic:
    """Clients that send hooks continuously."""

    def __init__(self, hooks: Hooks, clients: int = 3) -> None:
        self._hooks = hooks
        self._halted = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(number,)) for number in range(clients)]
        self.fired: list[str] = []

    def __enter__(self) -> "Traffic":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._halted.set()
        for thread in self._threads:
            thread.join(60)

    def _work(self, number: int) -> None:
        for turn in count():
            for event in EVENTS:
                if self._halted.is_set():
                    return
                self._fire(number, turn, event)

    def _fire(self, number: int, turn: int, event: str) -> None:
        mark = f"{number} {turn} {event}"
        call = {"tool_name": "Bash", "tool_input": {"command": "true"}, "tool_use_id": f"{number}-{turn}"}
        payload = {"session_id": f"client-{number}", "cwd": f"/projects/{number}", "mark": mark, "prompt": mark, **call}
        self._hooks.fire(event, payload, CLAUDE_PID="0", TMUX_PANE=f"%{number}")
        self.fired.append(mark)


def stored_marks(home: Path) -> Counter[str]:
    """The marks in the journal."""
    with closing(sqlite3.connect(home / "headspace.db")) as database:
        rows = database.execute("SELECT payload FROM events WHERE origin = 'hook'").fetchall()
    return Counter(json.loads(payload).get("mark") for (payload,) in rows)


@pytest.fixture
def port() -> str:
    """A free port, the same before and after."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return str(listener.getsockname()[1])


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home whose daemon is stopped at the end."""
    place = tmp_path / "home"
    place.mkdir()
    yield place
    run_headspace(place, "down")


def test_an_upgrade_loses_no_events(home: Path, tmp_path: Path, port: str) -> None:
    """`up` of a newer version runs while hooks arrive and a reader follows. Both have every event exactly once."""
    run_headspace(home, "up", "--yes", "--no-open", HEADSPACE_PORT=port)
    paths, hooks = find_paths({"HEADSPACE_HOME": str(home)}), Hooks(home)
    received: list[int] = []
    reader = threading.Thread(target=listen, args=(lambda: ApiClient.local(paths), received), daemon=True)
    reader.start()
    with Traffic(hooks) as traffic:
        wait_until(lambda: len(traffic.fired) > 40, "some traffic")
        newer = copy_of_the_code(tmp_path / "newer", "99.0")
        done = run_headspace(home, "up", "--yes", "--no-open", HEADSPACE_PORT=port, PYTHONPATH=str(newer))
        assert "replaced" in done.stdout, done.stderr
        after = len(traffic.fired) + 40
        wait_until(lambda: len(traffic.fired) > after, "some more traffic")
    daemon = find_daemon(paths)
    assert daemon is not None
    assert daemon.version == "99.0"
    client = ApiClient.local(paths)
    wait_until(lambda: client.status()["spool"]["depth"] == 0, "the spool to be empty")
    assert stored_marks(home) == Counter(traffic.fired)
    wait_until(
        lambda: bool(received) and received[-1] >= client.status()["last_seq"], "the reader to receive all messages"
    )
    assert received == sorted(set(received))
    assert client.db_verify()["ok"]


def listen(find: Callable[[], ApiClient], received: list[int]) -> None:
    """Follow the stream across restarts."""
    received.extend(message.id for message in follow(find, 0) if message.id is not None)
