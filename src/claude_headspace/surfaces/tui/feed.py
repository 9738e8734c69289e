"""Reads the board from the API once, then follows the stream, in its own thread. Survives restarts of the daemon.

The thread blocks in the stream until something happens. After a lost connection the stream continues where it
stopped; if that is not possible, the whole board is read again.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.client.api_client import RETRY_SECONDS, ApiClient, follow
from claude_headspace.surfaces.text.formatting import Json

MAX_TURNS, MAX_STATES = 40, 30


class FeedEvent(NamedTuple):
    """`loaded` with all agents, `lost` when the connection is lost, or a message of the stream."""

    kind: str
    data: Json
    agents: tuple[Json, ...] = ()


class Feed(Protocol):
    """The source of the board."""

    def start(self, on_update: Callable[[], object]) -> None:
        """Start. `on_update` is called from another thread when there are events."""

    def drain(self) -> list[FeedEvent]:
        """Return and remove all events."""

    def reload(self) -> None:
        """Read the whole board again, after an event was missed."""

    def details(self, agent_id: str) -> tuple[Sequence[Json], Sequence[Json]]:
        """The turns of an agent, and its states with their evidence. May block."""


class LiveFeed:
    """The feed of the local daemon."""

    def __init__(self, connect: Callable[[], ApiClient] = ApiClient.local) -> None:
        self._connect = connect
        self._events: deque[FeedEvent] = deque()
        self._on_update: Callable[[], object] = lambda: None
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)

    def follow(self) -> None:
        """Start following before the screen exists. Events are kept until they are drained."""
        self._thread.start()

    def start(self, on_update: Callable[[], object]) -> None:
        self._on_update = on_update
        if self._thread.ident is None:
            self.follow()
        on_update()

    def drain(self) -> list[FeedEvent]:
        events: list[FeedEvent] = []
        while self._events:
            events.append(self._events.popleft())
        return events

    def details(self, agent_id: str) -> tuple[Sequence[Json], Sequence[Json]]:
        client = self._connect()
        return client.turns(agent_id, MAX_TURNS), client.evidence(agent_id, MAX_STATES)

    def reload(self) -> None:
        threading.Thread(target=self._try_load, name="reload", daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                after = self._load()
                for message in follow(
                    self._connect, after, on_lost=lambda: self._put("lost"), on_reconnect=self._try_load
                ):
                    self._put(message.type, message.data)
            except HeadspaceError:
                self._put("lost")
                time.sleep(RETRY_SECONDS)

    def _load(self) -> int:
        """Read all agents. Changes during the read are repeated by the stream, which is harmless."""
        client = self._connect()
        after = client.last_seq()
        self._put("loaded", agents=tuple(client.agents()))
        return after

    def _try_load(self) -> None:
        with suppress(HeadspaceError):
            self._load()

    def _put(self, kind: str, data: Json | None = None, agents: tuple[Json, ...] = ()) -> None:
        self._events.append(FeedEvent(kind, data or {}, agents))
        self._on_update()
