"""Ends turns whose end a client reported and no transcript confirmed.

Some clients report the end of a turn, but not whether it was completed, interrupted or failed. The transcript shows it,
usually at once. If it cannot be read or says nothing, the agent would look busy for ever. So the end counts as
completed after a while, with low confidence.
"""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
import structlog

from claude_headspace.background import Loop
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.evolve.reported_ends import UNCONFIRMED_AFTER

log = structlog.get_logger(__name__)

Submit = Callable[[Envelope, str], Awaitable[object]]

INTERVAL_SECONDS = 1.0


class TurnEndWatch(Loop):
    """Reports ends of turns that were not confirmed in time."""

    def __init__(self, submit: Submit, envelopes: EnvelopeBuilder, agents: AgentCache) -> None:
        super().__init__()
        self._submit = submit
        self._envelopes = envelopes
        self._agents = agents

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(INTERVAL_SECONDS)
            try:
                await self.check()
                self.failure = None
            except Exception as error:  # the next round tries again
                self.failure = str(error)
                log.exception("turn_end_watch_failed")

    async def check(self) -> None:
        """End the turns whose reported end is old enough."""
        latest = self._envelopes.clock() - UNCONFIRMED_AFTER
        for agent in [each for each in self._agents.with_reported_end() if each.ended_at is None]:
            if agent.reported_end is not None and agent.reported_end.at <= latest and agent.is_in_turn:
                envelope = self._envelopes.turn_end_assumed()
                await self._submit(msgspec.structs.replace(envelope, client=agent.client), agent.id)
