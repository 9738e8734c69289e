"""The sources that the daemon reads by itself: session registry, transcripts, process table. Connects and starts them.

They depend on each other: the registry knows which process has a session open, and the process table whether that
process runs. Both say which agent a line of a transcript belongs to.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.client_processes import ProcessAncestry
from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.inputs.watch.processes import ProcessWatch
from claude_headspace.inputs.watch.reconcile import Check
from claude_headspace.inputs.watch.session_registry import RegistryWatch
from claude_headspace.inputs.watch.transcripts import TranscriptFollower
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.text import count
from claude_headspace.ports import Journal

Submit = Callable[[Envelope, str | None], Awaitable[Agent]]
"""Submits an envelope, to a given agent if one is named."""


class Sources:
    """All sources, connected."""

    def __init__(
        self,
        config_dirs: Callable[[], Sequence[Path]],
        journal: Journal,
        submit: Submit,
        envelopes: EnvelopeBuilder,
        agents: AgentCache,
    ) -> None:
        self._journal = journal
        self.agents = agents
        self.envelopes = envelopes
        self.ancestry = ProcessAncestry()
        self.registry = RegistryWatch(config_dirs, agents, submit, envelopes, self.ancestry)
        self.transcripts = TranscriptFollower(config_dirs, agents, journal, submit, envelopes, self.registry)
        self.processes = ProcessWatch(journal, submit, envelopes, agents, self.registry.was_killed)
        self._starting: asyncio.Task[None] | None = None

    @property
    def checks(self) -> list[Check]:
        """The checks of the reconciler. Processes are last: an agent that ended by itself is not reported missing."""
        return [self.registry.check, self.transcripts.check, self.processes.check]

    async def load_agents(self) -> None:
        """Fill the cache with the agents of the journal."""
        for agent in await asyncio.to_thread(self._journal.agents):
            self.agents.add_if_missing(agent)

    async def read_backlog(self) -> None:
        """Read what was written while the daemon was down. It is submitted together with the spooled hooks."""
        await self.registry.check()
        await self.transcripts.read_backlog()

    def start(self, first_drain: Callable[[], Awaitable[None]] | None = None) -> None:
        """Start the sources one after the other: running clients, their transcripts, vanished processes.

        `first_drain` waits until the hooks in the spool are stored. The sources also know what happened after them.
        """
        self._starting = asyncio.create_task(self._start(first_drain), name="sources")

    async def _start(self, first_drain: Callable[[], Awaitable[None]] | None) -> None:
        if first_drain is not None:
            await first_drain()
        self.registry.start()
        await self.registry.first_check()
        self.transcripts.start()
        await self.transcripts.caught_up()
        await self.processes.check()
        self.processes.start()

    def health_of(self, name: str) -> tuple[bool, str | None, str]:
        """The health of one source, by its name."""
        return self.health()[name]

    def health(self) -> dict[str, tuple[bool, str | None, str]]:
        """Of each source: whether it runs, why it fails, and what it reads."""
        registry, transcripts, processes = self.registry, self.transcripts, self.processes
        starting = self._starting is not None and not self._starting.done()
        refused = f", {len(transcripts.refused)} outside the known config dirs" if transcripts.refused else ""
        return {
            "registry": (
                registry.running,
                registry.failure or registry.watch.failure,
                f"{count(registry.client_count, 'client')}, watches {_directories(registry.watch.watching)}",
            ),
            "transcripts": (
                transcripts.running or starting,
                transcripts.failure or transcripts.watch.failure,
                f"{count(transcripts.file_count, 'file')}, watches {_directories(transcripts.watch.watching)}{refused}",
            ),
            "processes": (
                processes.running or starting,
                processes.failure,
                count(sum(1 for _ in self.agents.with_client()), "client"),
            ),
        }

    async def stop(self) -> None:
        """Stop all sources."""
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        await self.processes.stop()
        await self.transcripts.stop()
        await self.registry.stop()
        self.ancestry.close()


def _directories(number: int) -> str:
    return "1 directory" if number == 1 else f"{number} directories"
