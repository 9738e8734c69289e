"""Plays the schedule in a sandbox: events before the start become history, later ones happen when they are due.

History is written as if Headspace had not been running: hooks in the spool with the time at which they fired, and
transcripts. Later hooks are delivered as their client does it, and the reply reaches the simulated agent. Dialogs that
are open at the start have running hooks, so they can be answered from any surface if their client allows it.
"""

import asyncio
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from claude_headspace.clients.simulation import Reply, ScheduledEvent
from claude_headspace.demo.delivery import Delivery
from claude_headspace.demo.sandbox import Sandbox
from claude_headspace.demo.schedule import Schedule, SimulatedAgent
from claude_headspace.errors import HeadspaceError

HISTORY_GAP_SECONDS = 65.0
"""How long before the start the history ends.

The gap keeps spooled history out of the hook latency statistics, which ignore events older than a minute.
"""
TRANSCRIPT_DELAY_SECONDS = 0.05
"""How long after a hook its lines are written."""
SEEN_STATES = ("idle", "working", "ended")
"""States whose agents are marked as seen."""
IMPORT_TIMEOUT_SECONDS = 60.0


class Player:
    """Plays the events of all agents."""

    def __init__(self, sandbox: Sandbox, agents: Sequence[SimulatedAgent], speed: float = 1.0) -> None:
        self._sandbox = sandbox
        self._agents = agents
        self._speed = speed
        self._schedule = Schedule(agents)
        self._started_at = time.time()
        self._open_at_start: list[SimulatedAgent] = []
        self._delivery = Delivery(sandbox)
        self._schedule_changed = asyncio.Event()

    def _wall_time(self, at: float) -> float:
        return self._started_at + (at / self._speed if at > 0 else at - HISTORY_GAP_SECONDS)

    def _now(self) -> float:
        return (time.time() - self._started_at) * self._speed

    # --- history ---

    def write_history(self) -> None:
        """Write all events before the start. The daemon imports them when it starts."""
        while self._schedule.next_at < 0:
            agent = self._schedule.start_next()
            if agent is None:
                continue
            if agent.is_waiting and agent.due_at > 0:
                self._open_at_start.append(agent)
                continue
            event, fired_at = agent.event, self._wall_time(agent.event.at)
            _write_lines(agent, event, fired_at + TRANSCRIPT_DELAY_SECONDS)
            if event.hook:
                self._delivery.write(agent, event, fired_at)
            if not agent.is_waiting:
                agent.finish(event, Reply(event.at))

    def finish_setup(self) -> None:
        """Wait until the history is imported, then name the agents and mark those without a need as seen."""
        self._wait_for_import()
        client = self._sandbox.client
        found = {agent["session_id"]: agent for agent in client.agents(include_old=True)}
        names = {simulated.scenario.profile.name for simulated in self._agents}
        for number, agent in enumerate(found.values()):
            if agent["name"] in names:  # a generated name can be the name of another agent
                client.rename(agent["id"], f"unnamed-{number}")
        for simulated in self._agents:
            agent = found[simulated.session.id]
            client.rename(agent["id"], simulated.scenario.profile.name)
            if agent["state"] in SEEN_STATES:
                client.mark_seen(agent["id"])

    def _wait_for_import(self) -> None:
        client = self._sandbox.client
        deadline = time.monotonic() + IMPORT_TIMEOUT_SECONDS
        while client.status()["spool"]["depth"] or len(client.agents(include_old=True)) < len(self._agents):
            if time.monotonic() > deadline:
                raise HeadspaceError("demo_failed", "The history of the demo was not imported.", "Try again.")
            time.sleep(0.05)

    # --- playing ---

    async def play(self, seconds: float | None = None) -> None:
        """Play until the time is up, or without end. At speed 0, only the dialogs that are open at the start."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds), asyncio.TaskGroup() as hooks:
                for agent in self._open_at_start:
                    hooks.create_task(self._run_event(agent))
                while True:
                    await self._wait_until_due()
                    for agent in self._due_agents():
                        hooks.create_task(self._run_event(agent))

    async def _wait_until_due(self) -> None:
        """Wait for the time of the next event, or until the schedule changes."""
        at = self._schedule.next_at if self._speed > 0 else math.inf
        with suppress(TimeoutError):
            await asyncio.wait_for(
                self._schedule_changed.wait(), None if at == math.inf else self._wall_time(at) - time.time()
            )
        self._schedule_changed.clear()

    def _due_agents(self) -> Iterator[SimulatedAgent]:
        while self._speed > 0 and self._schedule.next_at <= self._now():
            if (agent := self._schedule.start_next()) is not None:
                yield agent

    async def _run_event(self, agent: SimulatedAgent) -> None:
        """Run the hook of the current event, write its lines, and schedule the next event."""
        event = agent.event
        output = await self._delivery.run(agent, event) if event.hook else {}
        _write_lines(agent, event, time.time())
        if output or not event.dialog:
            agent.finish(event, Reply(self._now() if event.dialog else event.at, output))
        self._schedule_changed.set()


def _write_lines(agent: SimulatedAgent, event: ScheduledEvent, at: float) -> None:
    """Append the lines of an event to the transcript."""
    if not event.lines:
        return
    path = Path(agent.session.transcript)
    path.parent.mkdir(parents=True, exist_ok=True)
    timestamp = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    with path.open("ab") as file:
        file.writelines(msgspec.json.encode({**line, "timestamp": timestamp}) + b"\n" for line in event.lines)
