"""Stream: the time from a hook until its message arrives on the event stream.

500 hooks per second, evenly spaced, over 250 agents. Each causes a visible change (a tool starts or ends). An agent has
one hook in flight, so the next message about that agent belongs to it. The time starts before the request is written,
so it includes waiting for a free connection. A message that has not arrived some seconds after the last hook is lost.
"""

import asyncio
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import uvloop

from bench import processes, sessions
from bench.daemon import daemon, read_token
from bench.load import percentile
from bench.options import Options
from bench.pool import Pool
from bench.report import BenchError, Row, at_most
from bench.sse import open_stream

AGENTS = 250
RATE = 500
CONNECTIONS = 16
SECONDS = 10.0
WARM_UP_SECONDS = 1.0
LOST_AFTER_SECONDS = 5.0
_LOOK_SECONDS = 0.02
PATH = "/api/events/stream?types=state_changed,agent_updated"


class About(msgspec.Struct):
    """The agent id of a message or a reply."""

    agent_id: str = ""


_decoder = msgspec.json.Decoder(About)


@dataclass
class Agent:
    """An agent and its next hooks."""

    id: str
    requests: Iterator[bytes]
    sent_at: float = 0.0


class Watch:
    """Sends at a constant rate and waits for the messages."""

    def __init__(self, pool: Pool, agents: list[Agent]) -> None:
        self._pool = pool
        self._free = deque(agents)
        self._awaited: dict[str, Agent] = {}
        self.latencies: list[float] = []
        self.sent = 0
        self.errors = 0
        self.starved = 0

    def arrived(self, _event: str, data: bytes, at: float) -> None:
        """Process a message of the stream."""
        agent = self._awaited.pop(_decoder.decode(data).agent_id, None)
        if agent is not None:
            self.latencies.append(at - agent.sent_at)
            self._free.append(agent)

    async def send_for(self, seconds: float) -> None:
        """Send evenly spaced hooks. Timers are coarse, so each wake-up sends all hooks that are due."""
        began = time.perf_counter()
        for number in range(int(seconds * RATE)):
            early = began + number / RATE - time.perf_counter()
            if early > 0:
                await asyncio.sleep(early)
            self._send_one()

    def _send_one(self) -> None:
        if not self._free:
            self.starved += 1
            return
        agent = self._free.popleft()
        self._awaited[agent.id] = agent
        self.sent += 1
        request = next(agent.requests)
        agent.sent_at = time.perf_counter()
        self._pool.send(request, self._answered)

    def _answered(self, status: int, _body: bytes) -> None:
        self.errors += status != 200

    async def settled(self) -> int:
        """Wait for pending messages; return how many are lost."""
        for _ in range(int(LOST_AFTER_SECONDS / _LOOK_SECONDS)):
            if not self._awaited:
                break
            await asyncio.sleep(_LOOK_SECONDS)
        return len(self._awaited)

    def reset(self) -> None:
        """Reset the counts after a warm-up."""
        self.latencies.clear()
        self.sent = self.errors = self.starved = 0


def run(options: Options) -> list[Row]:
    """Measure and return the rows."""
    with processes.scratch() as home, daemon(home) as server:
        token = read_token(home)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_measure(home, server.port, token, options))


async def _measure(home: processes.Scratch, port: int, token: str, options: Options) -> list[Row]:
    pool = await Pool.connected(port, CONNECTIONS)
    try:
        options.progress(f"stream: starting {AGENTS} agents")
        watch = Watch(pool, await _agents(home, port, pool))
        stream = await open_stream(port, PATH, token, watch.arrived)
        try:
            await watch.send_for(WARM_UP_SECONDS)
            await watch.settled()
            watch.reset()
            options.progress(f"stream: {RATE} hooks per second")
            seconds = options.seconds or SECONDS
            await watch.send_for(seconds)
            return _rows(watch, await watch.settled())
        finally:
            stream.close()
    finally:
        pool.close()


async def _agents(home: processes.Scratch, port: int, pool: Pool) -> list[Agent]:
    scripts = [
        sessions.script(n, home.project(f"s{n:03}"), home.root / "home/.claude").as_requests(port)
        for n in range(AGENTS)
    ]
    agents = await asyncio.gather(*(_agent(script, pool) for script in scripts))
    if len({agent.id for agent in agents}) < AGENTS:
        raise BenchError("the daemon assigned several sessions to one agent")
    return agents


async def _agent(script: sessions.Script, pool: Pool) -> Agent:
    """An agent in the middle of a turn."""
    await pool.ask(script.start.filled())
    body = await pool.ask(script.prompt.filled(sessions.prompt_id_of(script.number, 0)))
    agent_id = _decoder.decode(body).agent_id
    if not agent_id:
        raise BenchError("the reply to a hook has no agent_id")
    return Agent(agent_id, sessions.tool_hooks(script))


def _rows(watch: Watch, lost: int) -> list[Row]:
    note = f"{watch.sent:,} hooks" + (f", {watch.starved:,} not sent: every agent was waiting" if watch.starved else "")
    slowest = f"slowest {max(watch.latencies, default=0) * 1000:.1f} ms"
    return [
        Row(f"stream, p99 at {RATE} hooks/s", percentile(watch.latencies, 99), "ms", at_most(20), slowest),
        Row("stream, p50", percentile(watch.latencies, 50), "ms", note=note),
        Row("stream, lost messages", lost, "", at_most(0), f"after {LOST_AFTER_SECONDS:.0f} s"),
        Row("stream, errors", watch.errors + watch.starved, "", at_most(0), "replies other than 200, hooks not sent"),
    ]
