"""Starts and stops the components, in order.

Rules
- Hooks are answered from the start, even while the database is unavailable or damaged (limited mode). Everything else
  starts with the database. It is tried again until it can be used.
- Events in the spool are stored before observations from other sources.
- The stop does not wait for a database that does not respond.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog

from claude_headspace.background import Loop
from claude_headspace.daemon.components import Base, Hooks, Inputs, Outputs, Stream
from claude_headspace.errors import JournalUnavailable
from claude_headspace.inputs.receive.socket import RpcServer
from claude_headspace.journal.dialects import UNAVAILABLE, UNUSABLE
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Micros

log = structlog.get_logger(__name__)

GRACE_SECONDS = 3
"""How long the stop may take; then connections are cut."""
NEWEST_EVENTS = 100
"""How many of the newest events are searched, at the start, for the last one of this machine."""
RETRY_SECONDS = 1.0
"""How soon an unavailable database is tried again."""
UNUSABLE_RETRY_SECONDS = 10.0
"""The same for a database that has to be repaired first."""
DAMAGED_HINT = "Run `headspace db verify` with the daemon stopped, or restore a backup. See `headspace logs`."
FIRST_DRAIN_SECONDS = 0.5
"""How long the start waits for the spool. The rest is stored while the daemon already answers."""


class Stoppable(Protocol):
    """A component that runs until it is stopped."""

    async def stop(self) -> None:
        """Stop, and wait for the end."""


@dataclass
class Lifecycle:
    """The daemon from its start to its stop."""

    base: Base
    stream: Stream
    inputs: Inputs
    hooks: Hooks
    outputs: Outputs
    socket: RpcServer
    independent: Sequence[Loop]
    """What runs with and without the database, from the start to the stop."""

    def __post_init__(self) -> None:
        self._last_seq = 0
        """The newest sequence number, before the start."""
        self._starting: asyncio.Task[None] | None = None
        self._retry_seconds = RETRY_SECONDS

    @property
    def is_starting(self) -> bool:
        """Whether the daemon still waits for its database."""
        return self._starting is not None and not self._starting.done()

    @contextlib.asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Run the components."""
        self.inputs.engine.start()
        if not await self._try_start():
            self._starting = asyncio.create_task(self._start_later(), name="start")
        await self.socket.start()
        for component in self.independent:
            component.start()
        try:
            yield
        finally:
            await self._stop()

    # --- start ---

    async def _try_start(self) -> bool:
        """Open the journal and start everything that needs it. Whatever is wrong with it, hooks are answered."""
        try:
            await asyncio.to_thread(self.base.journal.open)
            if self.stream.listener is not None:
                await self.stream.listener.acquire_host_name()
            await asyncio.to_thread(self._load)
            self.inputs.engine.resume()
            if self._starting is None:
                self.base.outages.end()  # before the spool is read: its events belong to the outage
            await self._start()
        except JournalUnavailable as error:
            self._wait_for_journal(error)
            return False
        except Exception as error:  # a damaged database can contain anything
            log.exception("start_failed")
            problem = f"The database cannot be used: {type(error).__name__} while it was read."
            self._wait_for_journal(JournalUnavailable(UNUSABLE, problem, DAMAGED_HINT))
            return False
        self.base.outages.end()
        return True

    def _wait_for_journal(self, error: JournalUnavailable) -> None:
        """Run in limited mode: events go to the spool, and nothing is written to the journal."""
        reason = f"{error.message.rstrip('.')}. {error.hint}"
        self.inputs.engine.pause(JournalUnavailable(error.code, reason, error.hint))
        self.base.outages.begin(reason)
        self._retry_seconds = RETRY_SECONDS if error.code == UNAVAILABLE else UNUSABLE_RETRY_SECONDS

    def _load(self) -> None:
        self._last_seq = self.base.journal.counts().last_seq
        if (last_hook_at := self.base.journal.last_hook_at(self.base.host)) is not None:
            self.inputs.reconciler.hook_arrived(last_hook_at)
        self.base.clock.continue_after(self._last_received())

    def _last_received(self) -> Micros:
        """When the last event of this machine was received."""
        envelopes = (stored.envelope for stored in self.base.journal.events(limit=NEWEST_EVENTS))
        return max((each.received_at for each in envelopes if each.host == self.base.host), default=0)

    async def _start_later(self) -> None:
        """Start as soon as the database is available."""
        while True:
            await asyncio.sleep(self._retry_seconds)
            if await self._try_start():
                return

    async def _start(self) -> None:
        inputs, hooks, outputs, stream = self.inputs, self.hooks, self.outputs, self.stream
        await inputs.sources.load_agents()
        await asyncio.to_thread(hooks.efforts.load)
        await asyncio.to_thread(outputs.prompts.mission_reports.load)
        await asyncio.to_thread(outputs.prompts.queue.load)
        await self._release_hooks()
        await asyncio.to_thread(outputs.answer_channels.load)
        if self.base.spool.depth:
            await inputs.sources.read_backlog()
        stream.events.start(self._last_seq)
        if stream.follower is not None:
            stream.follower.start()
            stream.follower.read_soon()
        hooks.spool.start()
        await hooks.spool.first_drain(FIRST_DRAIN_SECONDS)
        inputs.sources.start(hooks.spool.first_drain)
        for component in (
            inputs.reconciler,
            outputs.notifier,
            outputs.displays,
            outputs.prompts.mission_reports,
            outputs.answer_channels,
            outputs.pane_views,
            outputs.prompts.queue,
        ):
            component.start()

    async def _release_hooks(self) -> None:
        """Record that no hook is held. The registry is read first: it shows which answers the last daemon delivered."""
        agents = await asyncio.to_thread(self._own_agents)
        if any(wait.answered is not None for agent in agents for wait in agent.waits):
            await self.inputs.sources.registries.check()
            agents = await asyncio.to_thread(self._own_agents)
        await self.hooks.held.release_all(agents)

    def _own_agents(self) -> list[Agent]:
        return [agent for agent in self.base.journal.agents() if agent.host == self.base.host]

    # --- stop ---

    def release_clients(self) -> None:
        """End the streams and the held hooks, before the server waits for its connections."""
        self.stream.events.close()
        self.stream.screens.close()
        self.hooks.held.close()

    async def _stop(self) -> None:
        inputs, hooks, outputs, journal = self.inputs, self.hooks, self.outputs, self.base.journal
        deadline = asyncio.get_running_loop().call_later(GRACE_SECONDS, journal.abort_connections)
        for each in self.independent:
            await each.stop()
        await self.socket.stop()
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        components: tuple[Stoppable, ...] = (
            outputs.notifier,
            outputs.prompts.mission_reports,
            outputs.prompts.queue,
            outputs.answer_channels,
            outputs.remote_actions,
            outputs.displays,
            outputs.pane_views,
            inputs.reconciler,
            inputs.sources,
            hooks.spool,
            inputs.engine,
            *(each for each in (self.stream.listener, self.stream.follower) if each is not None),
        )
        for component in components:
            await component.stop()
        inputs.locations.close()
        hooks.injection.close()
        inputs.guard.close()
        await asyncio.to_thread(journal.close)
        deadline.cancel()
        journal.abort_connections()
