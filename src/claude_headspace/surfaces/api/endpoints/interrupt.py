"""Interrupting an agent: Esc into its terminal, once, and its client's own word that it stopped.

Rules
- Esc is pressed only in the pane in which that agent's client still runs, and only while it works or shows a dialog: at
  rest a second Esc would open the client's own rewind dialog.
- It is written down, with who did it, before the key is pressed.
- What came of it is what the client shows: it rests, or its dialog is gone. Nothing is pressed a second time.
"""

import asyncio
import time

import msgspec
from starlette.requests import Request

from claude_headspace.engine.remote_actions import Action
from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.acts import EscPressed, TypingFailed
from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.outputs.keyboard import refuse_resting
from claude_headspace.surfaces.api.endpoints.actions import CONFIRM_SECONDS, POLL_SECONDS, agent_of
from claude_headspace.surfaces.api.openapi import Endpoint
from claude_headspace.surfaces.api.parameters import read_body
from claude_headspace.surfaces.api.services import Serving, Terminal


class Interrupting(msgspec.Struct, frozen=True):
    """Press Esc: there is nothing more to say."""


class Interrupted(msgspec.Struct, frozen=True):
    """What became of it: `confirmed` by the client, which stopped, or only `pressed`; and the state since."""

    status: str
    agent_id: str
    agent: str
    state: str


async def interrupt(api: Serving, request: Request) -> Interrupted:
    """Have Esc pressed in an agent's terminal, on its machine."""
    who = await api.services.caller.identify(request)
    await read_body(request, Interrupting)
    action = Action("interrupt", who.name, who.via)
    return await api.services.remote_actions.do(await agent_of(api, request), action, Interrupted)


async def press_esc(terminal: Terminal, agent: Agent, action: Action) -> Interrupted:
    """Press Esc in the terminal of an agent of this machine, once, and wait a little for its client to stop."""
    async with terminal.keyboard.turn(agent):
        before = await _now(terminal, agent)  # it may have changed while others typed
        refuse_resting(before)
        await terminal.keyboard.check(before)
        await terminal.recorder.record(EscPressed(by=action.by, via=action.via), agent.id)
        try:
            await terminal.keyboard.press(before, "Escape")
        except HeadspaceError as error:
            await terminal.recorder.record(TypingFailed(reason=error.message), agent.id)
            raise
        after = await _settled(terminal, before)
    status = "confirmed" if _has_stopped(before, after) else "pressed"
    return Interrupted(status, agent.id, agent.name, after.state.value)


async def _settled(terminal: Terminal, before: Agent) -> Agent:
    """The agent once it stopped, or when there was time enough."""
    deadline = time.monotonic() + CONFIRM_SECONDS
    while True:
        after = await _now(terminal, before)
        if _has_stopped(before, after) or time.monotonic() > deadline:
            return after
        await asyncio.sleep(POLL_SECONDS)


def _has_stopped(before: Agent, after: Agent) -> bool:
    """Whether it rests; of one that showed a dialog, whether that is gone: a sub-agent's may be, and the turn go on."""
    open_now = {wait.id for wait in after.waits}
    is_gone = bool(before.waits) and not any(wait.id in open_now for wait in before.waits)
    return is_gone or after.state not in (AgentState.WORKING, AgentState.WAITING)


async def _now(terminal: Terminal, agent: Agent) -> Agent:
    return await asyncio.to_thread(terminal.model.resolve, agent.id)


ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/agents/{agent}/interrupt",
        "Press Esc in the agent's terminal, once, while it works or shows a dialog.",
        interrupt,
        Interrupted,
        scope="act",
        takes=Interrupting,
    ),
)
