"""Starting a client anew when its context window is spent: `headspace run --supervise`.

Rules
- Only a window that works on an effort is ever spent: what it handed over is what the next one begins with. Without an
  effort the client is left alone.
- Only what we ended ourselves is started anew. Who leaves the client (`/exit`, Ctrl+C twice), or sends us a signal,
  ends both for good.
- No loops: at most `MOST` restarts within `WITHIN_SECONDS`, each after a longer pause. Then the client is left alone,
  and compacts as it always did.
- Every restart, and the end of it all, is told to the daemon before it happens: a fact of the log, seen on every board.
  While the daemon is away nothing is restarted.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.surfaces.text.labels import Json

MAX_RESTARTS = 3
RESTART_PERIOD_SECONDS = 600.0
PAUSE_SECONDS = (0.0, 5.0, 15.0)
"""How long to wait before each of them, in seconds."""
TERMINATE_SECONDS = 10.0
"""A client that is asked to end has so long; then it is killed."""

RESTART_PROMPT = "Go on with the effort that you work on: what the session before handed over is in your context."
"""The first prompt of a client that was started anew."""

SESSION_OPTIONS = ("-c", "--continue", "-r", "--resume", "--session-id", "--from-pr", "--teleport")
"""Options of Claude Code that name a session: with them a new start would bring the full context back."""

Sleep = Callable[[float], bool]
"""Waits so long; whether somebody ended it meanwhile."""


class Client(Protocol):
    """What is asked of the daemon."""

    def efforts(self, *, agent: str) -> Sequence[Json]: ...

    def effort(self, reference: str) -> Json: ...

    def restart(self, reference: str, reason: str) -> Json: ...

    def unsupervise(self, reference: str, reason: str) -> Json: ...


class Process(Protocol):
    """The client that runs."""

    @property
    def pid(self) -> int: ...

    def wait(self) -> int: ...

    @property
    def was_asked_to_end(self) -> bool: ...


def reject_session_options(arguments: Sequence[str]) -> None:
    """A supervised client begins its sessions anew, so it cannot be told to have a certain one."""
    for given in arguments:
        name = given.partition("=")[0]
        if name in SESSION_OPTIONS:
            raise BadRequest(
                "not_supervised",
                f"{name} goes on with a session, and --supervise begins new ones.",
                "Leave one of them out.",
            )


def spent_window(effort: Json, agent_id: str) -> Json | None:
    """The window of an agent that works on an effort and is spent."""
    if effort["lifecycle"] != "active":
        return None
    main = [each for each in effort["sessions"] if each["agent_id"] == agent_id and not each["subagent_id"]]
    return next((each for each in reversed(main) if each["spent"] and not each["ended_at"]), None)


class RestartBudget:
    """How often a client may be started anew."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._past: list[float] = []

    def next_pause(self) -> float | None:
        """The pause before the next restart; None if there were too many."""
        now = self._clock()
        self._past = [moment for moment in self._past if now - moment < RESTART_PERIOD_SECONDS]
        if len(self._past) >= MAX_RESTARTS:
            return None
        self._past.append(now)
        return PAUSE_SECONDS[min(len(self._past), len(PAUSE_SECONDS)) - 1]


class Supervisor:
    """Ends a client whose window is spent, and says whether another one should follow."""

    def __init__(self, find: Callable[[], Client], agent_id: str, budget: RestartBudget | None = None) -> None:
        self._find = find
        self._agent_id = agent_id
        self._budget = budget or RestartBudget()
        self._process: Process | None = None
        self._pause: float | None = None
        self._handled: set[str] = set()
        self._gave_up = False

    def check_each(self, efforts: Iterable[str]) -> None:
        """Look at each effort that something happened to, by its id, for as long as there are any. In a thread."""
        for effort_id in efforts:
            self._look_at(effort_id)

    def check_all(self) -> None:
        """Look at every effort of the agent: something may have happened that nobody told."""
        with contextlib.suppress(HeadspaceError):
            for effort in self._find().efforts(agent=self._agent_id):
                self._look_at(effort["id"])

    def run(self, start: Callable[[bool], Process], sleep: Sleep) -> tuple[int, int]:
        """Run clients, one after the other, until one ends by itself; its exit code and its process."""
        again = False
        while True:
            self._process = process = start(again)
            code = process.wait()
            pause = self._take_pause()
            if pause is None or process.was_asked_to_end or sleep(pause):
                return code, process.pid
            again = True

    def _take_pause(self) -> float | None:
        """How long to wait before the next client; None if the last one was not ended by us."""
        pause, self._pause, self._process = self._pause, None, None
        return pause

    def _look_at(self, effort_id: str) -> None:
        """The news may be old: what counts is how the effort is now. Without an answer nothing is done."""
        with contextlib.suppress(HeadspaceError):
            client, process = self._find(), self._process
            window = spent_window(client.effort(effort_id), self._agent_id)
            if window is not None and process is not None and not self._gave_up and window["id"] not in self._handled:
                self._replace(client, process, window)

    def _replace(self, client: Client, process: Process, window: Json) -> None:
        """End a client, so that another one follows; or leave it alone from now on, if there were too many."""
        pause = self._budget.next_pause()
        if pause is None:
            client.unsupervise(self._agent_id, f"it was started anew {MAX_RESTARTS} times within ten minutes")
            self._gave_up = True
            return
        client.restart(self._agent_id, window["spent"])
        self._handled.add(window["id"])
        self._pause = pause
        self._end(process)

    def _end(self, process: Process) -> None:
        """Ask the client to end, and see to it that it does."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGTERM)
        killer = threading.Timer(TERMINATE_SECONDS, self._kill, [process])
        killer.daemon = True
        killer.start()

    def _kill(self, process: Process) -> None:
        if self._process is process:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
