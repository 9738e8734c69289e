"""The worktrees of this machine's agents: what can be done with one, and doing it.

One change is made at a time. It is recorded as an act of the person after it was made.
"""

import asyncio

import msgspec

from claude_headspace.engine.remote_actions import Action
from claude_headspace.kernel.acts import WorktreeChangeDone
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.views.agent import agent_view
from claude_headspace.ports import Recorder
from claude_headspace.surfaces.read.model import ReadModel
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.worktrees.find import inside
from claude_headspace.surfaces.worktrees.of_agent import (
    WorktreeChange,
    WorktreeChanged,
    WorktreePlan,
    change_worktree,
    plan_worktree,
)

PLAN_ACTION = "worktree_plan"
CHANGE_ACTION = "worktree_change"


class WorktreeKeeper:
    """Reads and changes the worktrees of this host's agents."""

    def __init__(self, read: ReadModel, recorder: Recorder) -> None:
        self._read = read
        self._recorder = recorder
        self._lock = asyncio.Lock()

    async def plan(self, agent: Agent, _action: Action) -> WorktreePlan:
        """What can be done with the agent's worktree."""
        return await asyncio.to_thread(lambda: plan_worktree(_json(agent), self._inside(agent)))

    async def change(self, agent: Agent, action: Action) -> WorktreeChanged:
        """Merge, rebase or remove it."""
        change = msgspec.json.decode(action.text, type=WorktreeChange)
        async with self._lock:
            text = await asyncio.to_thread(lambda: change_worktree(_json(agent), change, self._inside(agent)))
        act = WorktreeChangeDone(what=change.what, text=text, by=action.by, via=action.via)
        await self._recorder.record(act, agent.id)
        return WorktreeChanged(text)

    def _inside(self, agent: Agent) -> list[Json]:
        """The running agents of this machine in the agent's worktree."""
        here = [each for each in self._read.agents.recent() if each.host == agent.host]
        return inside(map(_json, here), agent.root)


def _json(agent: Agent) -> Json:
    found: Json = msgspec.to_builtins(agent_view(agent))
    return found
