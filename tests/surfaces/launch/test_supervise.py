"""Supervision: a client whose context is used up is restarted, within limits."""

import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from claude_headspace.errors import BadRequest, DaemonMissing
from claude_headspace.surfaces.launch.restart_prompt import HANDED_OVER
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
    fields = {"id": name, "agent_id": AGENT, "subagent_id": None, "spent": spent, "dehydrated": True, "ended_at": None}
    return {**fields, **known}


class Daemon:
    """The answers that a supervisor gets, and what it records."""

    def __init__(self) -> None:
        self.sessions: list[dict[str, Any]] = []
        self.lifecycle = "active"
        self.recorded: list[str] = []
        self.away = False
        self.command: dict[str, Any] | None = None

    def efforts(self, *, agent: str) -> list[dict[str, Any]]:
        """The efforts of an agent."""
        return [{"id": "e1"}] if agent == AGENT else []

    def effort(self, reference: str) -> dict[str, Any]:
        """One effort."""
        if self.away:
            raise DaemonMissing("daemon_missing", "It is away.", "")
        return {"id": reference, "lifecycle": self.lifecycle, "dehydrated": None, "sessions": self.sessions}

    def agent(self, reference: str) -> dict[str, Any]:
        """An agent with its command."""
        return {"id": reference, "command": self.command}

    def command_turns(self, command_id: str) -> list[dict[str, Any]]:
        """The turns of its command."""
        return [{"actor": "USER", "text": f"the prompt of {command_id}"}]

    def tool_calls(self, reference: str, limit: int) -> list[dict[str, Any]]:
        """Its tool calls."""
        return [{"started_at": "2026-01-01T00:00:00+00:00", "agent": reference}][:limit]

    def restart(self, reference: str, reason: str) -> dict[str, Any]:
        """Record a restart."""
        self.recorded.append(f"restart {reference}: {reason}")
        return {}

    def unsupervise(self, reference: str, reason: str) -> dict[str, Any]:
        """Record the end of the supervision."""
        self.recorded.append(f"no more {reference}: {reason}")
        return {}


class Sleeper:
    """A process that runs until it is ended. `on_wait` is called when the supervisor waits for it."""

    def __init__(self, on_wait: Callable[[], None], asked_to_end: bool = False) -> None:
        self._process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        self._meanwhile = on_wait
        self.was_asked_to_end = asked_to_end

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def wait(self) -> int:
        """Wait until it ends."""
        self._meanwhile()
        try:
            return self._process.wait(1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def run(daemon: Daemon, sessions: list[dict[str, Any]], **more: Any) -> tuple[list[str | None], int, list[float]]:
    """Run clients with these windows; returns how they were started, the last exit code and the pauses."""
    starts: list[str | None] = []
    pauses: list[float] = []
    supervisor = Supervisor(lambda: daemon, AGENT)

    def start(prompt: str | None) -> Sleeper:
        starts.append(prompt)
        daemon.sessions = sessions[len(starts) - 1 :][:1]
        return Sleeper(lambda: supervisor.check_each(["e1"]), more.get("asked_to_end", False))

    def sleep(seconds: float) -> bool:
        pauses.append(seconds)
        return bool(more.get("ended"))

    code, _ = supervisor.run(start, sleep)
    return starts, code, pauses


def test_a_used_up_window_restarts_the_client() -> None:
    """The restart is reported first; a window with context left does nothing."""
    daemon = Daemon()
    starts, code, pauses = run(daemon, [window("w1"), window("w2", None)])
    assert (starts, code) == ([None, HANDED_OVER], -signal.SIGKILL)
    assert daemon.recorded == ["restart agent-1: full"]
    assert pauses == [PAUSE_SECONDS[0]]


def test_the_next_client_gets_the_prompt_that_triggered_the_compaction() -> None:
    """Nothing was done about it yet, so it is sent again, unchanged."""
    daemon = Daemon()
    daemon.command = {"id": "c1", "started_at": "2026-01-01T00:00:01+00:00", "ended_at": None}
    assert run(daemon, [window("w1"), window("w2", None)])[0] == [None, "the prompt of c1"]


def test_too_many_restarts_end_the_supervision() -> None:
    """The client continues without supervision, and the end is recorded."""
    daemon = Daemon()
    starts, _, pauses = run(daemon, [window(f"w{number}") for number in range(9)])
    assert starts == [None, *[HANDED_OVER] * MAX_RESTARTS]
    assert pauses == list(PAUSE_SECONDS)
    assert daemon.recorded[-1] == "no more agent-1: restarted 3 times within ten minutes"


def test_old_restarts_do_not_count() -> None:
    """Only those of the last ten minutes count."""
    now = 0.0
    budget = RestartBudget(lambda: now)
    assert [budget.next_pause() for _ in range(MAX_RESTARTS + 1)] == [*PAUSE_SECONDS, None]
    now = RESTART_PERIOD_SECONDS + 1
    assert budget.next_pause() == PAUSE_SECONDS[0]


@pytest.mark.parametrize("more", [{"asked_to_end": True}, {"ended": True}])
def test_a_signal_ends_the_supervision(more: dict[str, bool]) -> None:
    """While the client runs, or during the pause."""
    assert run(Daemon(), [window("w1")], **more)[0] == [None]


@pytest.mark.parametrize(
    "session",
    [
        window("w1", None),
        window("w1", subagent_id="s1"),
        window("w1", agent_id="another"),
        window("w1", ended_at="2026-01-01T00:00:00+00:00"),
    ],
)
def test_other_windows_do_not_restart_the_client(session: dict[str, Any]) -> None:
    """Windows with context left, of sub-agents, of other agents, and ended ones."""
    daemon = Daemon()
    assert run(daemon, [session])[0] == [None]
    assert daemon.recorded == []


def test_a_finished_effort_does_not_restart_the_client() -> None:
    """There is nothing to continue."""
    daemon = Daemon()
    daemon.lifecycle = "finished"
    assert run(daemon, [window("w1")])[0] == [None]


def test_without_a_daemon_nothing_is_restarted() -> None:
    """After it is back, efforts are checked again."""
    daemon = Daemon()
    daemon.away = True
    assert run(daemon, [window("w1")])[0] == [None]


@pytest.mark.parametrize("given", [["-c"], ["--model", "x", "--resume", "id"], ["--session-id=1"]])
def test_session_options_are_rejected(given: list[str]) -> None:
    """A restart would restore the full context."""
    with pytest.raises(BadRequest, match="starts new sessions"):
        reject_session_options("claude-code", given)
    reject_session_options("claude-code", ["--model", "x", "--verbose"])
