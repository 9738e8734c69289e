"""Publishes committed changes to subscribers: the agents, efforts and stream messages of each batch.

The writer publishes agents and efforts as it committed them. Stream messages come from the writer, or from the follower
if several daemons share the journal, so that they are always in the journal's order.

Rules
- Only committed changes are published.
- A subscriber that raises is logged and does not affect the others: everything can be read from the journal.
- Subscribers return immediately. Work that takes time belongs to a background task.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence, Set
from typing import TypeVar

import structlog

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort.model import Effort
from claude_headspace.ports import StreamMessage

log = structlog.get_logger(__name__)

Published = TypeVar("Published")


class ChangePublisher:
    """Holds the subscribers, so that the writer and the subscribers do not depend on each other."""

    def __init__(self) -> None:
        self._agents: list[Callable[[Agent], None]] = []
        self._observations: list[Callable[[Agent], None]] = []
        self._efforts: list[Callable[[Effort], None]] = []
        self._events: list[asyncio.Event] = []
        self._messages: list[tuple[Callable[[Sequence[StreamMessage]], None], Set[str] | None]] = []

    def on_agent(self, *subscribers: Callable[[Agent], None]) -> None:
        """Call these with every agent that changed."""
        self._agents.extend(subscribers)

    def on_observation(self, *subscribers: Callable[[Agent], None]) -> None:
        """Call these with every agent that was observed in a file or the process table. Hooks do not call them."""
        self._observations.extend(subscribers)

    def on_effort(self, *subscribers: Callable[[Effort], None]) -> None:
        """Call these with every effort that changed."""
        self._efforts.extend(subscribers)

    def on_messages(
        self, *subscribers: Callable[[Sequence[StreamMessage]], None], types: Set[str] | None = None
    ) -> None:
        """Call these with the stream messages of a batch.

        With `types`, only for batches with at least one message of these types; all messages of the batch are passed.
        """
        self._messages.extend((subscriber, types) for subscriber in subscribers)

    def wake_on_messages(self, *events: asyncio.Event) -> None:
        """Set these after each batch that has stream messages, for background tasks that only need to run again."""
        self._events.extend(events)

    def publish(self, agents: Iterable[Agent], efforts: Iterable[Effort]) -> None:
        """Call the subscribers with the agents and efforts of a committed batch."""
        for agent in agents:
            _publish(agent, self._agents)
        for effort in efforts:
            _publish(effort, self._efforts)

    def publish_observation(self, agent: Agent) -> None:
        """Call the subscribers with an agent after an observation."""
        _publish(agent, self._observations)

    def publish_messages(self, messages: Sequence[StreamMessage]) -> None:
        """Call the subscribers with committed stream messages."""
        if messages:
            for event in self._events:
                event.set()
            found = {message.type for message in messages}
            _publish(messages, [each for each, types in self._messages if types is None or types & found])


def _publish(published: Published, subscribers: Iterable[Callable[[Published], None]]) -> None:
    for subscriber in subscribers:
        try:
            subscriber(published)
        except Exception:
            log.exception("subscriber_failed", subscriber=getattr(subscriber, "__qualname__", str(subscriber)))
