"""Evolve: the kernel alone, in this process, over a generated history in memory.

The history is that of `ingest`: many agents in realistic turns, with interleaved events. It is replayed repeatedly,
each time for new agents. The budget applies to `evolve` alone, with events that are already decoded. The second row
includes their decoding: like a replay, it decodes one event after the other and keeps none.
"""

import statistics
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from bench import sessions
from bench.options import Options
from bench.report import Row, at_least
from claude_headspace.clients.claude_code.wire import WireHook
from claude_headspace.clients.decode import decode
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import create_agent
from claude_headspace.kernel.envelope import Envelope, Observations, Origin
from claude_headspace.kernel.evolve import evolve
from claude_headspace.kernel.facts import Event

AGENTS = 200
EVENTS_EACH = 200
SECONDS = 4.0
START_AT = 1_750_000_000_000_000
"""The start of the history, in microseconds since 1970."""
INTERVAL_MICROS = 10_000
"""Microseconds between two events of the history."""


def run(options: Options) -> list[Row]:
    """Measure and return the rows."""
    options.progress("evolve")
    seconds = (options.seconds or SECONDS) / 2
    envelopes = history()
    agents, events = create_agents(envelopes), [decode(envelope) for envelope in envelopes]
    evolved = _rates(lambda: evolve_all(agents, events), seconds)
    replayed = _rates(lambda: evolve_all(agents, map(decode, envelopes)), seconds)
    note = f"{len(events):,} events of {AGENTS} agents, median of {len(evolved)} passes"
    return [
        Row("evolve, events per second", statistics.median(evolved), "/s", at_least(50_000), note),
        Row("decode and evolve", statistics.median(replayed), "/s", note="a replay without reading the journal"),
    ]


def history() -> list[Envelope]:
    """The events of all agents, interleaved."""
    walks = [sessions.walk(sessions.script(n, Path(f"/srv/p{n:03}"), Path("/srv/.claude"))) for n in range(AGENTS)]
    payloads = (next(walk) for _ in range(EVENTS_EACH) for walk in walks)
    return [_envelope(number, payload) for number, payload in enumerate(payloads)]


def _envelope(number: int, payload: bytes) -> Envelope:
    shape = msgspec.json.decode(payload, type=WireHook)
    at = START_AT + number * INTERVAL_MICROS
    return Envelope(
        id=f"e{number:08}",
        name=shape.hook_event_name or "",
        origin=Origin.HOOK,
        client="claude-code",
        host="bench",
        fired_at=at,
        received_at=at,
        payload=payload,
        observations=Observations(project_root=shape.cwd, branch="main"),
    )


def create_agents(envelopes: list[Envelope]) -> list[Agent]:
    """The agents at the start of the history, each created from its first event."""
    return [create_agent(envelope.id, envelope, decode(envelope)) for envelope in envelopes[:AGENTS]]


def evolve_all(agents: list[Agent], events: Iterable[Event]) -> list[Agent]:
    """The agents after the history."""
    now = list(agents)
    for number, event in enumerate(events):
        now[number % AGENTS] = evolve(now[number % AGENTS], event).agent
    return now


def _rates(replay: Callable[[], list[Agent]], seconds: float) -> list[float]:
    """Events per second of each pass, at least three passes."""
    rates: list[float] = []
    deadline = time.perf_counter() + seconds
    while len(rates) < 3 or time.perf_counter() < deadline:
        began = time.perf_counter()
        replay()
        rates.append(AGENTS * EVENTS_EACH / (time.perf_counter() - began))
    return rates
