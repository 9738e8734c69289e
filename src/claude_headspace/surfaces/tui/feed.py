"""Where the board comes from: the API once, then its stream, in a thread of its own. It outlives the daemon.

Nothing is asked again and again: the thread sleeps in the stream until something happens. When the daemon goes away it
is waited for; when it is back, the stream goes on where it stopped, or the board is read anew if that is not possible.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.client.api_client import RETRY_SECONDS, ApiClient, follow
from claude_headspace.surfaces.text.formatting import Json

DETAIL_TURNS, DETAIL_STATES = 40, 30


class News(NamedTuple):
    """Something arrived: `loaded` with the whole board, `lost`, `back`, or an announcement of the stream."""

    kind: str
    data: Json
    agents: tuple[Json, ...] = ()


class Feed(Protocol):
    """What fills the board."""

    def start(self, ring: Callable[[], None]) -> None:
        """Begin; `ring` is called from another thread when there are news."""

    def take(self) -> list[News]:
        """The news since the last time."""

    def reload(self) -> None:
        """Read the whole board anew: something was missed."""

    def details(self, agent_id: str) -> tuple[Sequence[Json], Sequence[Json]]:
        """What was said, and the reasons of its states. May take a moment."""


class LiveFeed:
    """The daemon of this home."""

    def __init__(self, find: Callable[[], ApiClient] = ApiClient.local) -> None:
        self._find = find
        self._news: deque[News] = deque()
        self._ring: Callable[[], None] = lambda: None
        self._follower = threading.Thread(target=self._run, name="feed", daemon=True)

    def begin(self) -> None:
        """Begin to follow; the news wait for whoever starts to listen."""
        self._follower.start()

    def start(self, ring: Callable[[], None]) -> None:
        """Begin to follow, unless that has begun, and tell of what is there already."""
        self._ring = ring
        if self._follower.ident is None:
            self.begin()
        ring()

    def take(self) -> list[News]:
        """The news since the last time."""
        taken: list[News] = []
        while self._news:
            taken.append(self._news.popleft())
        return taken

    def details(self, agent_id: str) -> tuple[Sequence[Json], Sequence[Json]]:
        """What was said, and the reasons of its states."""
        client = self._find()
        return client.turns(agent_id, DETAIL_TURNS), client.evidence(agent_id, DETAIL_STATES)

    def reload(self) -> None:
        """Read the whole board anew, beside the stream."""
        threading.Thread(target=self._load_quietly, name="reload", daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                after = self._load()
                for message in follow(
                    self._find, after, on_lost=lambda: self._tell("lost"), on_reconnect=self._load_quietly
                ):
                    self._tell(message.type, message.data)
            except HeadspaceError:
                self._tell("lost")
                time.sleep(RETRY_SECONDS)

    def _load(self) -> int:
        """The whole board; what happens while it is read is told again after it, and does no harm."""
        client = self._find()
        after = client.last_seq()
        self._tell("loaded", agents=tuple(client.agents()))
        return after

    def _load_quietly(self) -> None:
        try:
            self._load()
        except HeadspaceError:
            return

    def _tell(self, kind: str, data: Json | None = None, agents: tuple[Json, ...] = ()) -> None:
        self._news.append(News(kind, data or {}, agents))
        self._ring()
