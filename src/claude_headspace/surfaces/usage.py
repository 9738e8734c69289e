"""How full an agent's context was, and what it cost, over time: its newest events are understood anew, in memory.

The same `evolve` makes the board, so the curve ends where the card stands.
"""

import asyncio
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec
from starlette.requests import Request

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.birth import born
from claude_headspace.kernel.decode import decode
from claude_headspace.kernel.evolve import evolve
from claude_headspace.kernel.views import Time, iso
from claude_headspace.ports import UNDERSTANDING_FAILED, Reader, StoredEvent
from claude_headspace.surfaces.openapi import Endpoint

if TYPE_CHECKING:
    from claude_headspace.surfaces.api import Api

MOST_EVENTS = 4_000


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
    for stored in events:
        if stored.anomaly is not None and stored.anomaly.startswith(UNDERSTANDING_FAILED):
            continue
        event = decode(stored.envelope)
        before = then or _beginning(agent, stored)
        then = evolve(before, event).agent
        if _numbers(then) != _numbers(before):
            yield MeasureView(iso(stored.envelope.fired_at), *_numbers(then))


def _beginning(agent: Agent, stored: StoredEvent) -> Agent:
    """The agent before its oldest event that is read; how much its model takes in is what we know now."""
    fresh = born(agent.id, stored.envelope, decode(stored.envelope))
    fresh.model, fresh.context_window = agent.model, agent.context_window
    return fresh


def _numbers(agent: Agent) -> tuple[int | None, float | None, float | None]:
    return agent.tokens, agent.context_percent, agent.cost_usd


async def usage(api: "Api", request: Request) -> list[MeasureView]:
    """Tokens, context and cost over time."""
    agent = await asyncio.to_thread(api.model.resolve, request.path_params["agent"])
    return await asyncio.to_thread(usage_of, agent, api.reader)


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/agents/{agent}/usage",
        "How full the agent's context was, and what it cost, over time.",
        usage,
        list[MeasureView],
    ),
)
