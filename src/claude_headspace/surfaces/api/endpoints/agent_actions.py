"""Actions on agents: register, resume, close, restart, rename, note, mark as seen, prompt, interrupt, stop, archive."""

import asyncio
import uuid
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request

from claude_headspace.clients.catalog import DEFAULT
from claude_headspace.kernel.acts import (
    Act,
    AgentArchived,
    AgentClosed,
    AgentNoted,
    AgentRegistered,
    AgentRenamed,
    AgentSeen,
    RestartBegun,
    SupervisionEnded,
)
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Observations
from claude_headspace.kernel.views.agent import AgentView, agent_view
from claude_headspace.outputs.pane_input import MAX_TEXT_LENGTH
from claude_headspace.surfaces.api.agent_actions import check_ended
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import EndpointTable
from claude_headspace.surfaces.api.parameters import read_body
from claude_headspace.surfaces.api.pending_prompts import Cancelled
from claude_headspace.surfaces.api.stop import Stopped
from claude_headspace.surfaces.api.terminal_input import Interrupted, Sent
from claude_headspace.surfaces.socket.notes import MAX_LENGTH
from claude_headspace.surfaces.text.names import check_name

endpoints = EndpointTable()

ShortText = Annotated[str, Meta(max_length=200)]
Directory = Annotated[str, Meta(max_length=8_192)]


class Registration(msgspec.Struct, frozen=True):
    """An agent that is about to be started, by the id that its hooks will send."""

    headspace_id: Annotated[str, Meta(max_length=100)]
    cwd: Directory
    name: ShortText = ""
    client: ShortText = DEFAULT
    """The client that it runs in: its name or its program."""
    role: ShortText | None = None
    mode: ShortText | None = None
    mission: ShortText | None = None
    """The mission that it will work on."""
    tmux_session: ShortText | None = None
    tmux_pane: ShortText | None = None
    wrapper_pid: Annotated[int, Meta(gt=0)] | None = None
    """The process that starts the client and waits for it. The agent ends when this process ends."""
    supervised: bool = False
    """Whether that process restarts the client when its context window is full."""
    forked_session: ShortText = ""
    """The session of another agent that the client continues as a new one."""


class Resumption(msgspec.Struct, frozen=True):
    """Where the session of an ended agent is about to be opened again."""

    headspace_id: Annotated[str, Meta(max_length=100)] | None = None
    tmux_session: ShortText | None = None
    tmux_pane: ShortText | None = None
    wrapper_pid: Annotated[int, Meta(gt=0)] | None = None
    """The process that starts the client and waits for it."""


class Closing(msgspec.Struct, frozen=True):
    """How a client ended, reported by the process that started it."""

    reason: ShortText = "closed"
    pid: int | None = None


class Reason(msgspec.Struct, frozen=True):
    """Why a supervised client is restarted, or no longer is."""

    reason: ShortText


class Renaming(msgspec.Struct, frozen=True):
    """The new name of an agent."""

    name: str


class Empty(msgspec.Struct, frozen=True):
    """An empty object."""


class Stopping(msgspec.Struct, frozen=True):
    """How to end a client."""

    force: bool = False
    """Use signals at once, without the client's own exit command."""


class Archiving(msgspec.Struct, frozen=True):
    """Whether an ended agent leaves the board."""

    archived: bool = True


class Noting(msgspec.Struct, frozen=True):
    """What an agent is working on. An empty text removes the note."""

    text: Annotated[str, Meta(max_length=MAX_LENGTH)]


class Sending(msgspec.Struct, frozen=True):
    """A prompt to type. The same `id` is typed once."""

    text: Annotated[str, Meta(max_length=MAX_TEXT_LENGTH)]
    id: Annotated[str, Meta(max_length=100)] = ""
    keep_draft: bool = False
    """Put a draft in the input box aside, and restore it afterwards. Without it, a draft is a reason to refuse."""
    when_idle: bool = False
    """Wait until the agent is idle. The prompt is pending until then, and can be cancelled."""


@endpoints.post("/api/agents", Registration)
async def register(context: ApiContext, request: Request) -> AgentView:
    """Register an agent that is about to be started. It is a placeholder until its first hook."""
    wanted = await read_body(request, Registration)
    wrapper = await context.actions.find_wrapper(wanted.wrapper_pid)
    act = AgentRegistered(
        name=wanted.name,
        cwd=wanted.cwd,
        role=wanted.role,
        mode=wanted.mode,
        mission_id=wanted.mission or "",
        pid=wrapper.client_pid,
        began=wrapper.client_started_at,
        supervised=wanted.supervised,
        forked_session=wanted.forked_session,
    )
    agent = await context.actions.register(
        act,
        wanted.headspace_id,
        client=wanted.client,
        tmux_session=wanted.tmux_session,
        tmux_pane=wanted.tmux_pane,
    )
    return agent_view(agent)


@endpoints.post("/api/agents/{agent}/resume", Resumption)
async def resume(context: ApiContext, request: Request) -> AgentView:
    """Report that an ended agent is being resumed, before its client reports. For the process that starts it."""
    await context.requesters.refuse_agents(request)
    wanted = await read_body(request, Resumption)
    where = Observations(headspace_id=wanted.headspace_id, tmux_session=wanted.tmux_session, tmux_pane=wanted.tmux_pane)
    return agent_view(await context.actions.resume(await _find(context, request), wanted.wrapper_pid, where))


@endpoints.post("/api/agents/{agent}/close", Closing)
async def close(context: ApiContext, request: Request) -> AgentView:
    """Report that the client has ended. For the process that started it."""
    wanted = await read_body(request, Closing)
    return await _report(context, request, AgentClosed(reason=wanted.reason, pid=wanted.pid))


@endpoints.post("/api/agents/{agent}/restart", Reason)
async def restart(context: ApiContext, request: Request) -> AgentView:
    """Report a supervised restart: the client is stopped and started again for the same agent."""
    wanted = await read_body(request, Reason)
    return await _report(context, request, RestartBegun(reason=wanted.reason))


@endpoints.post("/api/agents/{agent}/unsupervise", Reason)
async def unsupervise(context: ApiContext, request: Request) -> AgentView:
    """Report that the client is no longer restarted."""
    wanted = await read_body(request, Reason)
    return await _report(context, request, SupervisionEnded(reason=wanted.reason))


@endpoints.post("/api/agents/{agent}/seen", Empty)
async def mark_seen(context: ApiContext, request: Request) -> AgentView:
    """Mark the agent as seen."""
    await read_body(request, Empty)
    agent = await _find(context, request)
    return agent_view(await context.actions.record(AgentSeen(), agent.id) if agent.is_unseen else agent)


@endpoints.post("/api/agents/{agent}/rename", Renaming)
async def rename(context: ApiContext, request: Request) -> AgentView:
    """Rename the agent."""
    requester = await context.requesters.identify(request)
    name = (await read_body(request, Renaming)).name.strip().lower()
    check_name(name)
    agent = await _find(context, request)
    return agent_view(await context.actions.record(AgentRenamed(name=name), agent.id, actor=requester.name))


@endpoints.post("/api/agents/{agent}/note", Noting)
async def note(context: ApiContext, request: Request) -> AgentView:
    """Set the note of the agent, or remove it."""
    requester = await context.requesters.identify(request)
    text = " ".join((await read_body(request, Noting)).text.split())
    agent = await _find(context, request)
    return agent_view(await context.actions.record(AgentNoted(text=text), agent.id, actor=requester.name))


@endpoints.post("/api/agents/{agent}/archive", Archiving)
async def archive(context: ApiContext, request: Request) -> AgentView:
    """Take an ended agent off the board, or put it back. Nothing is deleted."""
    requester = await context.requesters.identify(request)
    wanted = await read_body(request, Archiving)
    agent = await _find(context, request)
    check_ended(agent)
    act = AgentArchived(undone=not wanted.archived)
    return agent_view(await context.actions.record(act, agent.id, actor=requester.name))


@endpoints.post("/api/agents/{agent}/stop", Stopping)
async def stop(context: ApiContext, request: Request) -> Stopped:
    """End the client of the agent: with its own exit command, then with signals."""
    requester = await context.requesters.identify(request)
    wanted = await read_body(request, Stopping)
    return await context.actions.stop(await _find(context, request), requester, force=wanted.force)


@endpoints.post("/api/agents/{agent}/send", Sending)
async def send(context: ApiContext, request: Request) -> Sent:
    """Type a prompt into the agent's terminal, once: now, or when the agent is idle."""
    requester = await context.requesters.identify(request)
    wanted = await read_body(request, Sending)
    agent = await _find(context, request)
    if wanted.when_idle:
        prompt_id, keep_draft = wanted.id or uuid.uuid4().hex, wanted.keep_draft
        return await context.actions.prompts.schedule(agent, wanted.text, prompt_id, requester, keep_draft=keep_draft)
    return await context.actions.send(agent, wanted.text, wanted.id, requester, keep_draft=wanted.keep_draft)


@endpoints.post("/api/agents/{agent}/prompts/{prompt}/cancel", Empty)
async def cancel_prompt(context: ApiContext, request: Request) -> Cancelled:
    """Remove a pending prompt: one that waits is not sent."""
    requester = await context.requesters.identify(request)
    await read_body(request, Empty)
    return await context.actions.prompts.cancel(await _find(context, request), request.path_params["prompt"], requester)


@endpoints.post("/api/agents/{agent}/interrupt", Empty)
async def interrupt(context: ApiContext, request: Request) -> Interrupted:
    """Press Esc in the agent's terminal, once, while it works or shows a dialog."""
    requester = await context.requesters.identify(request)
    await read_body(request, Empty)
    return await context.actions.interrupt(await _find(context, request), requester)


async def _find(context: ApiContext, request: Request) -> Agent:
    return await asyncio.to_thread(context.read.agents.find, request.path_params["agent"])


async def _report(context: ApiContext, request: Request, act: Act) -> AgentView:
    """Store what the process that started a client reports about it. That process may run inside another agent."""
    agent = await _find(context, request)
    if agent.ended_at is None:
        await context.requesters.refuse_others(request, agent.wrapper_pid)
    return agent_view(await context.actions.record(act, agent.id))
