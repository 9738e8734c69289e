"""How full an agent's context was, and what it cost, over time: its newest events are understood anew, in memory.

The same `evolve` makes the board, so the curve ends where the card stands.
"""

import asyncio
from collections.abc import Iterable, Iterator

import msgspec
from starlette.requests import Request

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.replay import retell
from claude_headspace.kernel.views import Time, iso
from claude_headspace.ports import Reader, StoredEvent
from claude_headspace.surfaces.api.openapi import Endpoint
from claude_headspace.surfaces.api.services import Serving

MOST_EVENTS = 4_000
Numbers = tuple[int | None, float | None, float | None]
NOTHING: Numbers = (None, None, None)


class MeasureView(msgspec.Struct, frozen=True):
    """What was known at a moment."""

    at: Time
    tokens: int | None
    context_percent: float | None
    cost_usd: float | None


def usage_of(agent: Agent, reader: Reader) -> list[MeasureView]:
    """Every measurement in the newest events of an agent."""
    return list(_measured(agent, reader.events(agent_id=agent.id, limit=MOST_EVENTS)))


def _measured(agent: Agent, events: Iterable[StoredEvent]) -> Iterator[MeasureView]:
    then: Agent | None = None
    known = NOTHING
    for stored in events:
        retold = retell(then, agent.id, stored.envelope, decode(stored.envelope), stored.strategy, stored.anomaly)
        if retold is None:
            continue
        then = retold.change.agent
        if _numbers(then) != known:
            known = _numbers(then)
            yield MeasureView(iso(stored.envelope.fired_at), *known)


def _numbers(agent: Agent) -> Numbers:
    return agent.tokens, agent.context_percent, agent.cost_usd


async def usage(api: Serving, request: Request) -> list[MeasureView]:
    """Tokens, context and cost over time."""
    agent = await asyncio.to_thread(api.services.model.resolve, request.path_params["agent"])
    return await asyncio.to_thread(usage_of, agent, api.services.journal)


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/agents/{agent}/usage",
        "How full the agent's context was, and what it cost, over time.",
        usage,
        list[MeasureView],
    ),
)
