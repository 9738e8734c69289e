"""A reader of the event stream: every state of every agent, in order, with the time at which it was published.

Each installation has one reader. It outlives the daemon: after a restart it continues with the message after the last
one that it received.
"""

import contextlib
import http.client
import threading
import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.support import Message, RunningDaemon, Stream


@dataclass(frozen=True)
class ShownState:
    """A published state. `seen_at` is the local time of its arrival, `evidence` is the agent's evidence."""

    state: str
    seen_at: float
    evidence: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.seen_at:.3f} {self.state}: {self.evidence.get('why')} ({self.source})"

    @property
    def source(self) -> str:
        """The source that reported the state."""
        return str(self.evidence.get("source"))

    @property
    def happened_at(self) -> float:
        """The time of the change according to its source."""
        return datetime.fromisoformat(self.evidence["at"]).timestamp()


@dataclass
class History:
    """All states that were shown for one agent."""

    agent_id: str
    cwd: str
    shown: list[ShownState] = field(default_factory=list)

    def add(self, agent: dict[str, Any]) -> None:
        """Append a state. No-op if it equals the last one."""
        kind = agent.get("waiting_for")
        state = f"{agent['state']}: {kind}" if kind else str(agent["state"])
        if not self.shown or self.shown[-1].state != state:
            self.shown.append(ShownState(state, time.time(), agent.get("evidence") or {}))


class Board:
    """Reads the event stream until it is closed."""

    def __init__(self) -> None:
        self._histories: dict[str, History] = {}
        self._last: int | None = 0
        self._stream: Stream | None = None
        self._closed = False
        self._thread: threading.Thread | None = None
        self.daemon: RunningDaemon | None = None

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._closed = True
        if self._stream is not None:
            self._stream.close()
        if self._thread is not None:
            self._thread.join()

    def histories(self, project: Path) -> list[History]:
        """The agents of a project, in the order in which they appeared."""
        return [history for history in list(self._histories.values()) if history.cwd == str(project)]

    def _read(self) -> None:
        while not self._closed:
            if (daemon := self.daemon) is not None:
                with contextlib.suppress(AttributeError, EOFError, OSError, ValueError, http.client.HTTPException):
                    self._follow(daemon)
            time.sleep(0.02)

    def _follow(self, daemon: RunningDaemon) -> None:
        """Read until the daemon ends or the board is closed."""
        with daemon.stream(last_event_id=self._last) as self._stream:
            while not self._closed:
                self._take(self._stream.next())

    def _take(self, message: Message) -> None:
        self._last = message.id or self._last
        data = message.data
        if message.type == "agent_created":
            agent = data["agent"]
            self._histories[agent["id"]] = History(agent["id"], agent["cwd"])
            self._histories[agent["id"]].add(agent)
        elif message.type == "state_changed":
            self._histories[data["agent_id"]].add(data)
