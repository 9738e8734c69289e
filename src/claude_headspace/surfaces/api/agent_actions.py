"""Actions on agents: register, resume or end one, record what happened to it, use its terminal, read its changes.

Every action is stored as an event of the agent, with the person who did it.
"""

from dataclasses import dataclass

import msgspec

from claude_headspace.clients.capabilities import find_client
from claude_headspace.clients.catalog import DEFAULT
from claude_headspace.engine.remote_actions import Action, RemoteActions
from claude_headspace.errors import BadRequest
from claude_headspace.inputs.receive.receiver import FindAncestry, LocateProject
from claude_headspace.kernel.acts import Act, AgentRegistered, AgentResumed
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Observations
from claude_headspace.outputs.pane_input import validate_text
from claude_headspace.ports import Recorder
from claude_headspace.surfaces.api.agent_worktrees import CHANGE_ACTION, PLAN_ACTION
from claude_headspace.surfaces.api.changes import Changes
from claude_headspace.surfaces.api.pending_prompts import PendingPrompts
from claude_headspace.surfaces.api.stop import Stopped
from claude_headspace.surfaces.api.terminal_input import Interrupted, Sent
from claude_headspace.surfaces.auth.requester import Requester
from claude_headspace.surfaces.launch.detached import Launcher
from claude_headspace.surfaces.live.screens import Screens
from claude_headspace.surfaces.text.names import check_name
from claude_headspace.surfaces.worktrees.of_agent import WorktreeChange, WorktreeChanged, WorktreePlan


@dataclass(frozen=True)
class AgentActions:
    """Acts on agents."""

    recorder: Recorder
    find_project: LocateProject
    find_process: FindAncestry
    remote_actions: RemoteActions
    changes: Changes
    prompts: PendingPrompts
    launcher: Launcher
    screens: Screens

    async def record(self, act: Act, agent_id: str, *, actor: str | None = None) -> Agent:
        """Store an act on an agent; the agent afterwards."""
        return (await self.recorder.record(act, agent_id, observations=Observations(actor=actor))).agent

    async def register(
        self,
        act: AgentRegistered,
        headspace_id: str,
        *,
        client: str = DEFAULT,
        tmux_session: str | None = None,
        tmux_pane: str | None = None,
    ) -> Agent:
        """Store an agent that is about to be started, by the id that its hooks will send.

        Idempotent per id and wrapper: a mission is registered before the process that starts its client.
        """
        name = find_client(client).name
        if act.name:  # without one Headspace chooses
            check_name(act.name)
        project = await self.find_project(act.cwd)
        observations = msgspec.structs.replace(
            project,
            headspace_id=headspace_id,
            declared_mission_id=act.mission_id or None,
            tmux_session=tmux_session,
            tmux_pane=tmux_pane,
        )
        delivery_id = f"register-{headspace_id}" + (f"-{act.pid}" if act.pid else "")
        outcome = await self.recorder.record(act, delivery_id=delivery_id, observations=observations, client=name)
        return outcome.agent

    async def resume(self, agent: Agent, wrapper_pid: int | None, observations: Observations) -> Agent:
        """Store that the session of an ended agent is about to be opened again."""
        wrapper = await self.find_wrapper(wrapper_pid)
        act = AgentResumed(pid=wrapper.client_pid, began=wrapper.client_started_at)
        return (await self.recorder.record(act, agent.id, observations=observations)).agent

    async def find_wrapper(self, pid: int | None) -> Observations:
        """The process that starts a client; empty if it is not visible from here, so that it is not watched."""
        found = await self.find_process(pid) if pid else Observations()
        return found if found.client_started_at else Observations()

    async def send(
        self, agent: Agent, text: str, send_id: str, requester: Requester, *, keep_draft: bool = False
    ) -> Sent:
        """Type a text into the agent's terminal, on the agent's host."""
        action = Action("send", requester.name, requester.via, validate_text(text), send_id, keep_draft)
        return await self.remote_actions.do(agent, action, Sent)

    async def interrupt(self, agent: Agent, requester: Requester) -> Interrupted:
        """Press Esc in the agent's terminal, on the agent's host."""
        return await self.remote_actions.do(agent, Action("interrupt", requester.name, requester.via), Interrupted)

    async def stop(self, agent: Agent, requester: Requester, *, force: bool = False) -> Stopped:
        """End the agent's client, on the agent's host."""
        action = Action("stop", requester.name, requester.via, force=force)
        return await self.remote_actions.do(agent, action, Stopped)

    async def plan_worktree(self, agent: Agent) -> WorktreePlan:
        """What can be done with the agent's worktree, on the agent's host."""
        return await self.remote_actions.do(agent, Action(PLAN_ACTION, "headspace", "api"), WorktreePlan)

    async def change_worktree(self, agent: Agent, change: WorktreeChange, requester: Requester) -> WorktreeChanged:
        """Merge, rebase or remove the agent's worktree, on the agent's host."""
        action = Action(CHANGE_ACTION, requester.name, requester.via, msgspec.json.encode(change).decode())
        return await self.remote_actions.do(agent, action, WorktreeChanged)


def check_ended(agent: Agent) -> None:
    """Raise `BadRequest` if the agent still runs."""
    if agent.ended_at is None:
        raise BadRequest(
            "not_ended",
            f"{agent.name} is still running. Only ended agents can be archived.",
            f"`headspace stop {agent.name}` ends it.",
            status=409,
        )
