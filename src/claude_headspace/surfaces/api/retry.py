"""Continues a turn that an API error stopped: what is sent, and when the limit ends that stopped it.

Rules
- A prompt about which the agent did nothing is sent again, unchanged: slash commands work, too.
- Otherwise the agent is asked to continue, because a part is done, and the prompt is in its context.
- Headspace does not store secrets and the middle of long texts. A prompt in which something is missing is not sent
  again; the agent has it in its context.
"""

from collections.abc import Sequence

import msgspec

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.sanitize import is_altered
from claude_headspace.kernel.state_machine import Actor
from claude_headspace.kernel.text import Time, iso
from claude_headspace.kernel.views.work import TurnView
from claude_headspace.surfaces.read.model import ReadModel

CONTINUE = "continue"
MAX_TURNS = 100
USED_UP_PERCENT = 99.5
"""From which share on a limit counts as used up. Clients round it."""


class RetryView(msgspec.Struct, frozen=True):
    """How a stopped turn is continued."""

    problem: str
    """Why there is nothing to continue; empty if there is."""
    text: str
    """What is sent."""
    repeats: bool
    """Whether it is the last prompt, because the agent did nothing about it."""
    limit: str
    """The account limit that is used up; empty if none is known."""
    limit_ends_at: Time | None
    """When it ends, if the client reported that."""


def retry_view(read: ReadModel, agent: Agent) -> RetryView:
    """How the stopped turn of an agent is continued."""
    if agent.state is not AgentState.ERROR:
        problem = f"{agent.name} was not stopped by an error: it is {agent.state.value}."
        return RetryView(problem, "", repeats=False, limit="", limit_ends_at=None)
    prompt = _untouched_prompt(read, agent)
    name, ends_at = _used_up_limit(agent)
    return RetryView("", prompt or CONTINUE, bool(prompt), name, iso(ends_at) if ends_at else None)


def retry_text(read: ReadModel, agent: Agent) -> str:
    """What is sent to continue the stopped turn. Raises `BadRequest` if no error stopped it."""
    view = retry_view(read, agent)
    if view.problem:
        raise BadRequest("not_stopped", view.problem, "Send it a prompt instead.", status=409)
    return view.text


def retry_time(agent: Agent) -> Micros:
    """When the limit ends that stopped an agent. Raises `BadRequest` if that is not known."""
    _, ends_at = _used_up_limit(agent)
    if not ends_at:
        message = f"It is not known when the limit of {agent.name} ends."
        raise BadRequest("unknown_end", message, "Choose a time, or try again now.", status=409)
    return ends_at


def _untouched_prompt(read: ReadModel, agent: Agent) -> str:
    """The prompt of the stopped command, if nothing was done about it and all of it is stored."""
    command = agent.command
    if command is None:
        return ""
    turns = read.agents.command_turns(command.id, MAX_TURNS)
    calls = read.agents.tool_calls(agent.id, 1)
    touched = _has_reply(turns) or any(call.started_at >= iso(command.started_at) for call in calls)
    text = "\n\n".join(turn.text for turn in turns if turn.actor == Actor.USER)
    return "" if touched or is_altered(text) else text


def _has_reply(turns: Sequence[TurnView]) -> bool:
    return any(turn.actor == Actor.AGENT for turn in turns)


def _used_up_limit(agent: Agent) -> tuple[str, Micros]:
    """The limit that ends last of those that are used up, and its end; empty and 0 if none is known."""
    used_up = [each for each in agent.rate_limits if each.used_percent >= USED_UP_PERCENT and each.resets_at]
    last = max(used_up, key=lambda each: each.resets_at or 0, default=None)
    return (last.name, (last.resets_at or 0) * SECOND) if last is not None else ("", 0)
