"""Restarts a client whose context window is used up: `headspace run --supervise`.

Rules
- A window counts as used up only while it works on an effort, because the next window starts with the handover of the
  effort. Without an effort the client is never restarted.
- Only a client that the supervisor ended is restarted. If the user leaves the client (`/exit`, Ctrl+C twice) or sends a
  signal, supervision ends, too.
- No loops: at most `MAX_RESTARTS` within `RESTART_PERIOD_SECONDS`, each after a longer pause. Then the client is left
  alone, and compacts its context as usual.
- The prompt that the client had not finished is not lost: the next client gets it (`restart_prompt`).
- Every restart, and the end of supervision, is reported to the daemon first, so that the log contains it. Nothing is
  restarted while the daemon does not answer.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from claude_headspace.clients.command_lines import program_of
from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.surfaces.launch.restart_prompt import UnfinishedPrompt, restart_prompt, unfinished_prompt
from claude_headspace.surfaces.text.formatting import Json

MAX_RESTARTS = 3
RESTART_PERIOD_SECONDS = 600.0
PAUSE_SECONDS = (0.0, 5.0, 15.0)
"""How long to wait before the first, second and third restart."""
TERMINATE_SECONDS = 10.0
"""How long a client has to end before it is killed."""

Sleep = Callable[[float], bool]
"""Waits this many seconds. True if the wait was ended by a signal."""


class Client(Protocol):
    """The part of the API client that is used here."""

    def efforts(self, *, agent: str) -> Sequence[Json]: ...

    def effort(self, reference: str) -> Json: ...

    def agent(self, reference: str) -> Json: ...

    def command_turns(self, command_id: str) -> Sequence[Json]: ...

    def tool_calls(self, reference: str, limit: int) -> Sequence[Json]: ...

    def restart(self, reference: str, reason: str) -> Json: ...

    def unsupervise(self, reference: str, reason: str) -> Json: ...


class Process(Protocol):
    """A running client."""

    @property
    def pid(self) -> int: ...

    def wait(self) -> int: ...

    @property
    def was_asked_to_end(self) -> bool: ...


def reject_session_options(client: str, arguments: Sequence[str]) -> None:
    """Raise an error for options that continue a session: a restart with them would restore the full context."""
    for given in arguments:
        name = given.partition("=")[0]
        if name in program_of(client).session_options:
            raise BadRequest(
                "not_supervised",
                f"{name} continues a session, but --supervise starts new sessions.",
                "Use only one of them.",
            )


def spent_window(effort: Json, agent_id: str) -> Json | None:
    """The used-up window of an agent in an effort, if any."""
    if effort["lifecycle"] != "active":
        return None
    main = [each for each in effort["sessions"] if each["agent_id"] == agent_id and not each["subagent_id"]]
    return next((each for each in reversed(main) if each["spent"] and not each["ended_at"]), None)


class RestartBudget:
    """Limits how often a client is restarted."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._past: list[float] = []

    def next_pause(self) -> float | None:
        """The pause before the next restart; None if there were too many restarts."""
        now = self._clock()
        self._past = [time for time in self._past if now - time < RESTART_PERIOD_SECONDS]
        if len(self._past) >= MAX_RESTARTS:
            return None
        self._past.append(now)
        return PAUSE_SECONDS[min(len(self._past), len(PAUSE_SECONDS)) - 1]


class Supervisor:
    """Ends a client whose window is used up, and starts the next one."""

    def __init__(self, find: Callable[[], Client], agent_id: str, budget: RestartBudget | None = None) -> None:
        self._find = find
        self._agent_id = agent_id
        self._budget = budget or RestartBudget()
        self._process: Process | None = None
        self._pause: float | None = None
        self._prompt = ""
        self._handled: set[str] = set()
        self._gave_up = False

    def check_each(self, efforts: Iterable[str]) -> None:
        """Check each effort of an endless stream of effort ids. Runs in a thread."""
        for effort_id in efforts:
            self._check(effort_id)

    def check_all(self) -> None:
        """Check all efforts of the agent, after events may have been missed."""
        with contextlib.suppress(HeadspaceError):
            for effort in self._find().efforts(agent=self._agent_id):
                self._check(effort["id"])

    def run(self, start: Callable[[str | None], Process], sleep: Sleep) -> tuple[int, int]:
        """Run clients one after the other, until one ends by itself; its exit code and its pid.

        `start` gets the prompt of a restarted client, and None for the first client.
        """
        prompt: str | None = None
        while True:
            self._process = process = start(prompt)
            code = process.wait()
            pause = self._take_pause()
            if pause is None or process.was_asked_to_end or sleep(pause):
                return code, process.pid
            prompt = self._prompt

    def _take_pause(self) -> float | None:
        """The pause before the next client; None if the last one ended by itself."""
        pause, self._pause, self._process = self._pause, None, None
        return pause

    def _check(self, effort_id: str) -> None:
        """Restart the client if its window is used up. Reads the current effort, because the event may be old."""
        with contextlib.suppress(HeadspaceError):
            client, process = self._find(), self._process
            effort = client.effort(effort_id)
            window = spent_window(effort, self._agent_id)
            if window is not None and process is not None and not self._gave_up and window["id"] not in self._handled:
                self._replace(client, process, effort, window)

    def _replace(self, client: Client, process: Process, effort: Json, window: Json) -> None:
        """End a client, so that the next one starts; or stop supervising after too many restarts."""
        pause = self._budget.next_pause()
        if pause is None:
            client.unsupervise(self._agent_id, f"restarted {MAX_RESTARTS} times within ten minutes")
            self._gave_up = True
            return
        self._prompt = restart_prompt(effort, window, self._unfinished(client))
        client.restart(self._agent_id, window["spent"])
        self._handled.add(window["id"])
        self._pause = pause
        self._terminate(process)

    def _unfinished(self, client: Client) -> UnfinishedPrompt | None:
        command = client.agent(self._agent_id)["command"]
        turns = client.command_turns(command["id"]) if command else []
        return unfinished_prompt(command, turns, client.tool_calls(self._agent_id, limit=1))

    def _terminate(self, process: Process) -> None:
        """Ask the client to end, and kill it if it does not."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGTERM)
        killer = threading.Timer(TERMINATE_SECONDS, self._kill, [process])
        killer.daemon = True
        killer.start()

    def _kill(self, process: Process) -> None:
        if self._process is process:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
