"""Watches the worktrees of agents: how far each branch is from its base, and what is not committed.

Rules
- Without an agent in a worktree, nothing runs.
- Git runs only after a change: a turn or the agent ended, or the branch or its base has another commit. The commits
  are read from git's own files.
- What changed is recorded as an act (`WorktreeObserved`), so every surface shows it, also after the agent ended.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import structlog

from claude_headspace.background import Loop
from claude_headspace.inputs.receive.project_location import branch_commit, locate_project
from claude_headspace.inputs.repository.git import GitError
from claude_headspace.inputs.repository.worktrees import read_status
from claude_headspace.kernel.acts import WorktreeObserved
from claude_headspace.kernel.agent import Agent, Worktree
from claude_headspace.ports import Recorder

log = structlog.get_logger(__name__)

POLL_SECONDS = 10.0
PAUSE_SECONDS = 1.0

Fingerprint = tuple[object, ...]


class WorktreeWatch(Loop):
    """Knows which worktrees were read in which condition."""

    def __init__(self, agents: Callable[[], Iterable[Agent]], recorder: Recorder) -> None:
        super().__init__()
        self._agents = agents
        self._recorder = recorder
        self._read: dict[str, Fingerprint] = {}
        """The condition in which the worktree of an agent was last read, by the agent's id."""
        self.changed = asyncio.Event()
        """Set after a change of the board."""

    async def _run(self) -> None:
        while True:
            self.changed.clear()
            has_worktrees = await self._try_observe()
            with suppress(TimeoutError):
                await asyncio.wait_for(self.changed.wait(), POLL_SECONDS if has_worktrees else None)
            await asyncio.sleep(PAUSE_SECONDS)

    async def _try_observe(self) -> bool:
        """Record what changed. Whether there are agents in worktrees; true after a failure."""
        try:
            return await self.observe()
        except Exception:
            log.warning("worktree_watch_failed", exc_info=True)
            return True

    async def observe(self) -> bool:
        """Record what changed. Whether there are agents in worktrees that exist."""
        watched = [agent for agent in self._agents() if agent.worktree is not None and not agent.worktree.removed]
        self._read = {agent.id: self._read[agent.id] for agent in watched if agent.id in self._read}
        fingerprints = await asyncio.to_thread(_fingerprints, watched) if watched else []
        for agent, fingerprint in zip(watched, fingerprints, strict=True):
            if self._read.get(agent.id) == fingerprint:
                continue
            found = await asyncio.to_thread(_observe, agent)
            self._read[agent.id] = fingerprint
            if found is not None and found != agent.worktree:
                await self._recorder.record(_act(found), agent.id)
        return bool(watched)


def _fingerprints(agents: Iterable[Agent]) -> list[Fingerprint]:
    return [_fingerprint(agent) for agent in agents]


def _fingerprint(agent: Agent) -> Fingerprint:
    """What git's result depends on, as far as it can be read without git."""
    worktree = agent.worktree
    assert worktree is not None
    location = locate_project(worktree.root)
    base = branch_commit(worktree.root, worktree.base) if worktree.base else None
    return (
        worktree.root,
        Path(worktree.root).is_dir(),
        location.branch,
        location.commit,
        base,
        agent.idle_at,
        agent.ended_at,
    )


def _observe(agent: Agent) -> Worktree | None:
    """The worktree as it is now. None if it cannot be read."""
    root = agent.root
    if not Path(root).is_dir():
        return Worktree(root=root, removed=True)
    try:
        status = read_status(root)
    except GitError as error:
        log.info("worktree_unreadable", agent=agent.id, reason=str(error))
        return None
    distance = status.distance
    if distance is None:
        return Worktree(root=root, uncommitted=status.uncommitted)
    return Worktree(
        root=root, base=distance.base, ahead=distance.ahead, behind=distance.behind, uncommitted=status.uncommitted
    )


def _act(found: Worktree) -> WorktreeObserved:
    return WorktreeObserved(
        root=found.root,
        base=found.base,
        ahead=found.ahead,
        behind=found.behind,
        uncommitted=found.uncommitted,
        removed=found.removed,
    )
