"""Acting on agents over the API: register, close, look at, type to. Each act is a fact in the log, with who did it.

A text is typed at most once: the act is written down under the sender's own id before a key is pressed, and whoever
sends the same id again is told that it is known. That the client took it is confirmed by its own prompt, from the hook
or the transcript.
"""

import asyncio
import time
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request

from claude_headspace.engine.remote_actions import Action
from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.kernel.acts import (
    Act,
    AgentClosed,
    AgentRegistered,
    AgentSeen,
    RestartBegun,
    SupervisionEnded,
    TextTyped,
    TypingFailed,
)
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Observations
from claude_headspace.kernel.names import NAME
from claude_headspace.kernel.views import AgentView, agent_view
from claude_headspace.outputs.keyboard import LONGEST_TEXT, checked, refuse_unready
from claude_headspace.surfaces.api.openapi import Endpoint
from claude_headspace.surfaces.api.parameters import read_body
from claude_headspace.surfaces.api.services import Serving, Terminal

CONFIRM_SECONDS = 6.0
POLL_SECONDS = 0.1

Word = Annotated[str, Meta(max_length=200)]
Place = Annotated[str, Meta(max_length=8_192)]


class Registration(msgspec.Struct, frozen=True):
    """An agent that is about to be started, by the id that its hooks will name."""

    headspace_id: Annotated[str, Meta(max_length=100)]
    cwd: Place
    name: Word = ""
    role: Word | None = None
    mode: Word | None = None
    mission: Word | None = None
    """The mission that it will work on."""
    tmux_session: Word | None = None
    tmux_pane: Word | None = None
    wrapper_pid: Annotated[int, Meta(gt=0)] | None = None
    """The process that starts it and stays with it: when that is gone, nothing more is expected."""
    supervised: bool = False
    """Whether it starts the client anew when its context window is spent."""


class Closing(msgspec.Struct, frozen=True):
    """How a client ended that somebody started."""

    reason: Word = "closed"
    pid: int | None = None


class Restarting(msgspec.Struct, frozen=True):
    """Why a supervised client is started anew, or is not any more."""

    reason: Word


class Looking(msgspec.Struct, frozen=True):
    """Somebody looks: there is nothing more to say."""


class Sending(msgspec.Struct, frozen=True):
    """A text to type; the same `id` is typed once."""

    text: Annotated[str, Meta(max_length=LONGEST_TEXT)]
    id: Annotated[str, Meta(max_length=100)] = ""


class Sent(msgspec.Struct, frozen=True):
    """What became of a text: `confirmed` by the client's own prompt, only `typed`, or a `duplicate` of one before."""

    status: str
    agent_id: str
    agent: str


async def register(api: Serving, request: Request) -> AgentView:
    """A placeholder: the agent is `starting` until its first hook."""
    told = await read_body(request, Registration)
    if told.name and not NAME.fullmatch(told.name):
        raise BadRequest("bad_name", f"An agent cannot be called {told.name[:60]!r}.", "Use small letters and dashes.")
    around = await api.services.surroundings(told.cwd)
    context = msgspec.structs.replace(
        around,
        headspace_id=told.headspace_id,
        declared_mission_id=told.mission,
        tmux_session=told.tmux_session,
        tmux_pane=told.tmux_pane,
    )
    wrapper = await _wrapper(api, told.wrapper_pid)
    act = AgentRegistered(
        name=told.name,
        cwd=told.cwd,
        role=told.role,
        mode=told.mode,
        mission_id=told.mission or "",
        pid=wrapper.client_pid,
        began=wrapper.client_started_at,
        supervised=told.supervised,
    )
    outcome = await api.services.engine.record(
        act, delivery_id=f"register-{told.headspace_id}", observations=context, client="claude-code"
    )
    return agent_view(outcome.agent)


async def _wrapper(api: Serving, pid: int | None) -> Observations:
    """The process that starts a client; one that cannot be seen from here is not watched."""
    found = await api.services.kinship(pid) if pid else Observations()
    return found if found.client_started_at else Observations()


async def close(api: Serving, request: Request) -> AgentView:
    """Whoever started the client saw it end."""
    told = await read_body(request, Closing)
    agent = await agent_of(api, request)
    return await _done(api, agent, AgentClosed(reason=told.reason, pid=told.pid))


async def restart(api: Serving, request: Request) -> AgentView:
    """Who supervises the client ends it now, to start another one."""
    told = await read_body(request, Restarting)
    return await _done(api, await agent_of(api, request), RestartBegun(reason=told.reason))


async def leave_alone(api: Serving, request: Request) -> AgentView:
    """Nobody starts the client anew any more."""
    told = await read_body(request, Restarting)
    return await _done(api, await agent_of(api, request), SupervisionEnded(reason=told.reason))


async def _done(api: Serving, agent: Agent, act: Act) -> AgentView:
    """The agent after an act."""
    return agent_view((await api.services.engine.record(act, agent.id)).agent)


async def look_at(api: Serving, request: Request) -> AgentView:
    """Somebody has looked: the agent is no news any more."""
    await read_body(request, Looking)
    agent = await agent_of(api, request)
    if not agent.is_unseen:
        return agent_view(agent)
    return await _done(api, agent, AgentSeen())


async def send(api: Serving, request: Request) -> Sent:
    """Have a text typed to an agent, on its machine."""
    who = await api.services.caller.identify(request)
    told = await read_body(request, Sending)
    action = Action("send", who.name, who.via, checked(told.text), told.id)
    return await api.services.remote_actions.do(await agent_of(api, request), action, Sent)


async def type_to(terminal: Terminal, agent: Agent, action: Action) -> Sent:
    """Type a text to an agent of this machine, once, and wait a little for its own word that it has it."""
    text = checked(action.text)
    async with terminal.keyboard.turn(agent):
        agent = await asyncio.to_thread(terminal.model.resolve, agent.id)  # it may have changed while others typed
        refuse_unready(agent)
        await terminal.keyboard.check(agent)
        after = await asyncio.to_thread(terminal.model.last_seq, agent.id)
        typed = TextTyped(text=text, by=action.by, via=action.via)
        delivery_id = f"send-{action.id}" if action.id else None
        if (await terminal.recorder.record(typed, agent.id, delivery_id=delivery_id)).duplicate:
            return Sent("duplicate", agent.id, agent.name)
        try:
            await terminal.keyboard.type(agent, text)
        except HeadspaceError as error:
            await terminal.recorder.record(TypingFailed(reason=error.message), agent.id)
            raise
        confirmed = await _confirmed(terminal, agent, after, text)
    return Sent("confirmed" if confirmed else "typed", agent.id, agent.name)


async def _confirmed(terminal: Terminal, agent: Agent, after: int, text: str) -> bool:
    """Whether the client told of the same prompt in time; it is never typed again either way."""
    deadline = time.monotonic() + CONFIRM_SECONDS
    while time.monotonic() < deadline:
        if await asyncio.to_thread(terminal.model.has_prompt, agent.id, after, text):
            return True
        await asyncio.sleep(POLL_SECONDS)
    return False


async def agent_of(api: Serving, request: Request) -> Agent:
    """The agent that the path names."""
    return await asyncio.to_thread(api.services.model.resolve, request.path_params["agent"])


ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/agents",
        "Register an agent that is about to be started: a placeholder until its first hook.",
        register,
        AgentView,
        scope="act",
        takes=Registration,
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent}/close",
        "Tell that a client ended that one has started.",
        close,
        AgentView,
        scope="act",
        takes=Closing,
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent}/restart",
        "Tell that one ends the client that one supervises, to start another one for the same agent.",
        restart,
        AgentView,
        scope="act",
        takes=Restarting,
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent}/unsupervise",
        "Tell that one does not start the client anew any more.",
        leave_alone,
        AgentView,
        scope="act",
        takes=Restarting,
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent}/seen",
        "Tell that somebody has looked at an agent.",
        look_at,
        AgentView,
        scope="act",
        takes=Looking,
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent}/send",
        "Type a prompt into the agent's terminal, once.",
        send,
        Sent,
        scope="act",
        takes=Sending,
    ),
)
