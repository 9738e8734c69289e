"""What is read without being told: transcripts, the clients' registry, the process table, wired and started in order.

They need each other: the registry knows which process has a session open, the process table whether it lives, and both
tell whose a transcript's lines are. All share one memory of the agents (`KnownAgents`).
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import structlog

from claude_headspace.clients.claude_code.locations import CLAUDE_CODE
from claude_headspace.clients.client import Client
from claude_headspace.inputs.receive.receiver import LocateProject
from claude_headspace.inputs.receive.sanitize import Sanitizer
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.inputs.watch.processes import ProcessAncestry, ProcessWatch
from claude_headspace.inputs.watch.reconcile import Check
from claude_headspace.inputs.watch.session_registry import RegistryWatch
from claude_headspace.inputs.watch.transcripts import TranscriptFollower
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.ports import Clock, Journal

log = structlog.get_logger(__name__)

Submit = Callable[[Envelope, str | None], Awaitable[Agent]]


class Sources:
    """All that looks for itself."""

    def __init__(
        self,
        host: str,
        clock: Clock,
        config_dirs: Callable[[], Sequence[Path]],
        journal: Journal,
        submit: Submit,
        surroundings: LocateProject,
        known: AgentCache,
        keep: Sanitizer | None = None,
        client: Client = CLAUDE_CODE,
    ) -> None:
        self._submit = submit
        self._journal = journal
        self.agents = known
        self.ancestry = ProcessAncestry()
        self.registry = RegistryWatch(
            host, clock, config_dirs, self.agents, self._hand_in, surroundings, self.ancestry, client
        )
        self.envelopes = EnvelopeBuilder(host, clock, surroundings, self.registry.find_client, keep, client)
        self.transcripts = TranscriptFollower(
            host,
            clock,
            config_dirs,
            self.agents,
            journal,
            self._hand_in,
            self.envelopes,
            self.registry.find_client,
            self.registry.exists,
        )
        self.processes = ProcessWatch(host, clock, journal, self._hand_in, self.agents, self.registry.was_killed)
        self._starting: asyncio.Task[None] | None = None

    @property
    def checks(self) -> list[Check]:
        """What the reconciler asks, in this order: who ended by himself is not missed."""
        return [self.registry.check, self.transcripts.check, self.processes]

    async def load_agents(self) -> None:
        """Know again who was there."""
        for agent in await asyncio.to_thread(self._journal.agents):
            self.agents.add_if_missing(agent)

    async def read_backlog(self) -> None:
        """Read what was written while nobody was there: it is told with the hooks of that time."""
        await self.registry.check()
        await self.transcripts.read_backlog()

    def start(self) -> None:
        """Begin: first who is there, then what was said meanwhile, then who is gone."""
        self._starting = asyncio.create_task(self._start(), name="sources")

    async def _start(self) -> None:
        self.registry.start()
        await self.registry.first_check()
        self.transcripts.start()
        await self.transcripts.caught_up()
        await self.processes()
        self.processes.start()

    def health_of(self, name: str) -> tuple[bool, str | None, str]:
        """The health of one part, by its name."""
        return self.health()[name]

    def health(self) -> dict[str, tuple[bool, str | None, str]]:
        """Of each part: whether it runs, what fails, and what it has to do."""
        registry, transcripts, processes = self.registry, self.transcripts, self.processes
        starting = self._starting is not None and not self._starting.done()
        refused = f", {len(transcripts.refused)} outside the known config dirs" if transcripts.refused else ""
        return {
            "registry": (
                registry.running,
                registry.failure or registry.watch.failure,
                f"{registry.client_count} clients, {registry.watch.watching} directories watched",
            ),
            "transcripts": (
                transcripts.running or starting,
                transcripts.failure or transcripts.watch.failure,
                f"{transcripts.file_count} files known, {transcripts.watch.watching} directories watched{refused}",
            ),
            "processes": (
                processes.running or starting,
                processes.failure,
                f"{sum(1 for _ in self.agents.with_client())} clients",
            ),
        }

    async def stop(self) -> None:
        """Look no more."""
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        await self.processes.stop()
        await self.transcripts.stop()
        await self.registry.stop()
        self.ancestry.close()

    async def _hand_in(self, envelope: Envelope, agent_id: str | None = None) -> Agent:
        return await self._submit(envelope, agent_id)
