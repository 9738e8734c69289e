"""What Headspace shows, as it shows it: every state of every agent, in order, with the moment it was announced.

One reader of the event stream for each home. It outlives the daemon: when another one answers there, it goes on after
the last message that it has seen.
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
class Shown:
    """A state that was announced: `seen` is our clock, `evidence` why it is believed."""

    state: str
    seen: float
    evidence: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.seen:.3f} {self.state}: {self.evidence.get('why')} ({self.told_by})"

    @property
    def told_by(self) -> str:
        """The source that told it."""
        return str(self.evidence.get("source"))

    @property
    def happened(self) -> float:
        """When the source says that it happened."""
        return datetime.fromisoformat(self.evidence["at"]).timestamp()


@dataclass
class History:
    """All that was shown of an agent."""

    agent_id: str
    cwd: str
    shown: list[Shown] = field(default_factory=list)

    def add(self, agent: dict[str, Any]) -> None:
        """Another state; one that was shown already is none."""
        kind = agent.get("waiting_for")
        state = f"{agent['state']}: {kind}" if kind else str(agent["state"])
        if not self.shown or self.shown[-1].state != state:
            self.shown.append(Shown(state, time.time(), agent.get("evidence") or {}))


class Board:
    """Reads along until it is closed."""

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
        """Read until the daemon ends, or the board does."""
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
