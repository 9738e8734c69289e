"""The sources that the daemon reads by itself: session registry, transcripts, process table. Connects and starts them.

They depend on each other: the registry knows which process has a session open, and the process table whether that
process runs. Both say which agent a line of a transcript belongs to.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from claude_headspace.clients import codex, copilot
from claude_headspace.clients.catalog import CLIENTS, DEFAULT, title_of
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.client_processes import ProcessAncestry
from claude_headspace.inputs.watch.codex_registry import CodexRegistry
from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.inputs.watch.expected_dialogs import ExpectedDialogWatch
from claude_headspace.inputs.watch.lock_registry import LockRegistry
from claude_headspace.inputs.watch.processes import ProcessWatch
from claude_headspace.inputs.watch.reconcile import Check
from claude_headspace.inputs.watch.registries import NoRegistry, Registries, SessionRegistry
from claude_headspace.inputs.watch.session_registry import RegistryWatch
from claude_headspace.inputs.watch.transcripts import TranscriptFollower
from claude_headspace.inputs.watch.turn_ends import TurnEndWatch
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Envelope, Micros
from claude_headspace.kernel.text import count
from claude_headspace.ports import Journal

Submit = Callable[[Envelope, str | None], Awaitable[Agent]]
"""Submits an envelope, to a given agent if one is named."""


ConfigDirs = Callable[[str], Sequence[Path]]
"""The config dirs of a client, by its name."""


REGISTRIES: dict[str, type[RegistryWatch] | type[CodexRegistry] | type[LockRegistry]] = {
    DEFAULT: RegistryWatch,
    codex.NAME: CodexRegistry,
    copilot.NAME: LockRegistry,
}
"""The session registries of the clients that have one."""


class Sources:
    """All sources of all clients, connected."""

    def __init__(
        self,
        config_dirs: ConfigDirs,
        journal: Journal,
        submit: Submit,
        envelopes: EnvelopeBuilder,
        agents: AgentCache,
    ) -> None:
        self._journal = journal
        self.agents = agents
        self.envelopes = envelopes
        self.ancestry = ProcessAncestry()
        builders = {name: envelopes.of_client(name) for name in CLIENTS}
        self.registries = Registries(
            {
                name: _registry(name, partial(config_dirs, name), agents, submit, builder, self.ancestry)
                for name, builder in builders.items()
            }
        )
        self.followers = {
            name: TranscriptFollower(
                partial(config_dirs, name), agents, journal, submit, builder, self.registries.by_client[name]
            )
            for name, builder in builders.items()
        }
        self.processes = ProcessWatch(journal, submit, envelopes, agents, self.registries.was_killed)
        self.turn_ends = TurnEndWatch(submit, envelopes, agents)
        self.dialogs = ExpectedDialogWatch(submit, envelopes, agents, self.registries)
        self._starting: asyncio.Task[None] | None = None

    @property
    def codex(self) -> CodexRegistry:
        """The registry of Codex, which can also answer approvals."""
        found = self.registries.by_client[codex.NAME]
        assert isinstance(found, CodexRegistry)
        return found

    @property
    def checks(self) -> list[Check]:
        """The checks of the reconciler. Processes are last: an agent that ended by itself is not reported missing."""
        return [self.registries.check, *(each.check for each in self.followers.values()), self.processes.check]

    async def load_agents(self) -> None:
        """Fill the cache with the agents of the journal."""
        for agent in await asyncio.to_thread(self._journal.agents):
            self.agents.add_if_missing(agent)

    async def read_backlog(self) -> None:
        """Read what was written while the daemon was down. It is submitted together with the spooled hooks."""
        await self.registries.check()
        for follower in self.followers.values():
            await follower.read_backlog()

    async def submit_backlog_until(self, at: Micros) -> None:
        """Submit the part of the backlog that was written before a time."""
        for follower in self.followers.values():
            await follower.submit_backlog_until(at)

    def start(self, first_drain: Callable[[], Awaitable[None]] | None = None) -> None:
        """Start the sources one after the other: running clients, their transcripts, vanished processes.

        `first_drain` waits until the hooks in the spool are stored. The sources also know what happened after them.
        """
        self._starting = asyncio.create_task(self._start(first_drain), name="sources")

    async def _start(self, first_drain: Callable[[], Awaitable[None]] | None) -> None:
        if first_drain is not None:
            await first_drain()
        for registry in self.registries.by_client.values():
            registry.start()
        for registry in self.registries.by_client.values():
            await registry.first_check()
        for follower in self.followers.values():
            follower.start()
        for follower in self.followers.values():
            await follower.caught_up()
        await self.processes.check()
        self.processes.start()
        self.turn_ends.start()
        self.dialogs.start()

    def health_of(self, name: str) -> tuple[bool, str | None, str]:
        """The health of one source, by its name."""
        return self.health()[name]

    def health(self) -> dict[str, tuple[bool, str | None, str]]:
        """Of each source: whether it runs, why it fails, and what it reads."""
        registries, followers = self.registries.by_client, list(self.followers.values())
        starting = self._starting is not None and not self._starting.done()
        found = {name: each.summary for name, each in registries.items() if name == DEFAULT or each.exists()}
        refused = sum(len(each.refused) for each in followers)
        outside = f", {refused} outside the known config dirs" if refused else ""
        files, watched = sum(each.file_count for each in followers), sum(each.watch.watching for each in followers)
        return {
            "registry": (
                all(each.running for each in registries.values()),
                next((each.problem for each in registries.values() if each.problem), None),
                "; ".join(text if name == DEFAULT else f"{title_of(name)}: {text}" for name, text in found.items()),
            ),
            "transcripts": (
                all(each.running for each in followers) or starting,
                next((problem for each in followers if (problem := each.failure or each.watch.failure)), None),
                f"{count(files, 'file')}, watches {_directories(watched)}{outside}",
            ),
            "processes": (
                self.processes.running or starting,
                self.processes.failure or self.turn_ends.failure or self.dialogs.failure,
                count(sum(1 for _ in self.agents.with_client()), "client"),
            ),
        }

    async def stop(self) -> None:
        """Stop all sources."""
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        await self.dialogs.stop()
        await self.turn_ends.stop()
        await self.processes.stop()
        for follower in self.followers.values():
            await follower.stop()
        for registry in self.registries.by_client.values():
            await registry.stop()
        self.ancestry.close()


def _registry(
    client: str,
    config_dirs: Callable[[], Sequence[Path]],
    agents: AgentCache,
    submit: Submit,
    envelopes: EnvelopeBuilder,
    ancestry: ProcessAncestry,
) -> SessionRegistry:
    """The session registry of a client."""
    kind = REGISTRIES.get(client)
    return kind(config_dirs, agents, submit, envelopes, ancestry) if kind is not None else NoRegistry()


def _directories(number: int) -> str:
    return "1 directory" if number == 1 else f"{number} directories"
