"""Supervision: what is spent is ended and started anew, within limits, and only what we ended ourselves."""

import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from claude_headspace.errors import BadRequest, DaemonMissing
from claude_headspace.surfaces.launch.supervise import (
    MAX_RESTARTS,
    PAUSE_SECONDS,
    RESTART_PERIOD_SECONDS,
    RestartBudget,
    Supervisor,
    reject_session_options,
)

AGENT = "agent-1"


def window(name: str, spent: str | None = "full", **known: Any) -> dict[str, Any]:
    """A window of an effort, as the API shows it."""
    return {"id": name, "agent_id": AGENT, "subagent_id": None, "spent": spent, "ended_at": None, **known}


class Daemon:
    """What a supervisor is told, and what it tells."""

    def __init__(self) -> None:
        self.sessions: list[dict[str, Any]] = []
        self.lifecycle = "active"
        self.told: list[str] = []
        self.away = False

    def efforts(self, *, agent: str) -> list[dict[str, Any]]:
        """The efforts of an agent."""
        return [{"id": "e1"}] if agent == AGENT else []

    def effort(self, reference: str) -> dict[str, Any]:
        """One effort."""
        if self.away:
            raise DaemonMissing("daemon_missing", "It is away.", "")
        return {"id": reference, "lifecycle": self.lifecycle, "sessions": self.sessions}

    def restart(self, reference: str, reason: str) -> dict[str, Any]:
        """A restart begins."""
        self.told.append(f"restart {reference}: {reason}")
        return {}

    def unsupervise(self, reference: str, reason: str) -> dict[str, Any]:
        """No more of them."""
        self.told.append(f"no more {reference}: {reason}")
        return {}


class Sleeper:
    """A process that waits to be ended; `meanwhile` happens as soon as somebody waits for it."""

    def __init__(self, meanwhile: Callable[[], None], told_to_end: bool = False) -> None:
        self._process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        self._meanwhile = meanwhile
        self.was_asked_to_end = told_to_end

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def wait(self) -> int:
        """Until it ends; one that nobody ended is ended here."""
        self._meanwhile()
        try:
            return self._process.wait(1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def run(daemon: Daemon, sessions: list[dict[str, Any]], **more: Any) -> tuple[list[bool], int, list[float]]:
    """Run clients, each of which comes to a window; how they were started, the last exit code, the pauses."""
    starts: list[bool] = []
    pauses: list[float] = []
    supervisor = Supervisor(lambda: daemon, AGENT)

    def start(again: bool) -> Sleeper:
        starts.append(again)
        daemon.sessions = sessions[len(starts) - 1 :][:1]
        return Sleeper(lambda: supervisor.check_each(["e1"]), more.get("told_to_end", False))

    def sleep(seconds: float) -> bool:
        pauses.append(seconds)
        return bool(more.get("ended"))

    code, _ = supervisor.run(start, sleep)
    return starts, code, pauses


def test_a_spent_window_is_followed_by_another_client() -> None:
    """It is told to the board, the client is asked to end, the next one begins anew; one that is not spent stays."""
    daemon = Daemon()
    starts, code, pauses = run(daemon, [window("w1"), window("w2", None)])
    assert (starts, code) == ([False, True], -signal.SIGKILL)
    assert daemon.told == ["restart agent-1: full"]
    assert pauses == [PAUSE_SECONDS[0]]


def test_too_many_restarts_end_the_supervision() -> None:
    """No loops: the client is left alone, and the board says so."""
    daemon = Daemon()
    starts, _, pauses = run(daemon, [window(f"w{number}") for number in range(9)])
    assert starts == [False, *[True] * MAX_RESTARTS]
    assert pauses == list(PAUSE_SECONDS)
    assert daemon.told[-1] == "no more agent-1: restarted 3 times within ten minutes"


def test_restarts_long_ago_do_not_count() -> None:
    """The budget is one of the last ten minutes."""
    now = 0.0
    budget = RestartBudget(lambda: now)
    assert [budget.next_pause() for _ in range(MAX_RESTARTS + 1)] == [*PAUSE_SECONDS, None]
    now = RESTART_PERIOD_SECONDS + 1
    assert budget.next_pause() == PAUSE_SECONDS[0]


@pytest.mark.parametrize("more", [{"told_to_end": True}, {"ended": True}])
def test_who_is_told_to_end_starts_nothing(more: dict[str, bool]) -> None:
    """By a signal while the client ran, or by Ctrl+C in the pause after it."""
    assert run(Daemon(), [window("w1")], **more)[0] == [False]


@pytest.mark.parametrize(
    "session",
    [
        window("w1", None),
        window("w1", subagent_id="s1"),
        window("w1", agent_id="another"),
        window("w1", ended_at="2026-01-01T00:00:00+00:00"),
    ],
)
def test_other_windows_end_no_client(session: dict[str, Any]) -> None:
    """One that is not spent, a sub-agent's, another agent's, one that is over."""
    daemon = Daemon()
    assert run(daemon, [session])[0] == [False]
    assert daemon.told == []


def test_a_finished_effort_ends_no_client() -> None:
    """There is nothing to go on with."""
    daemon = Daemon()
    daemon.lifecycle = "finished"
    assert run(daemon, [window("w1")])[0] == [False]


def test_without_a_daemon_nothing_is_restarted() -> None:
    """Nobody would know; when it is back it is asked again."""
    daemon = Daemon()
    daemon.away = True
    assert run(daemon, [window("w1")])[0] == [False]


@pytest.mark.parametrize("given", [["-c"], ["--model", "x", "--resume", "id"], ["--session-id=1"]])
def test_a_certain_session_cannot_be_supervised(given: list[str]) -> None:
    """A new start would bring its full context back."""
    with pytest.raises(BadRequest, match="starts new sessions"):
        reject_session_options(given)
    reject_session_options(["--model", "x", "--verbose"])
