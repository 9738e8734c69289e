"""`agent.note` over the socket: what an agent is at, in its own words. A report and no approval, so agents may.

Who asks is told by the request's environment, as for every command of the socket: the session that it was run in, the
wrapper's id, the client's process among those that it descends from, the pane. From elsewhere the agent is named.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.acts import AgentNoted
from claude_headspace.kernel.agent import Agent
from claude_headspace.ports import Reader, Recorder
from claude_headspace.surfaces.api.read_model import resolve

COMMAND = "agent.note"
LONGEST = 500
MOST_ANCESTORS = 50

Env = Mapping[str, str]


class Noting(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A note: of the agent that it comes from, or of another one that is named. No words take it back."""

    text: Annotated[str, Meta(max_length=LONGEST)]
    agent: Annotated[str, Meta(max_length=200)] | None = None
    ancestors: Annotated[tuple[int, ...], Meta(max_length=MOST_ANCESTORS)] = ()
    """The processes that the command descends from."""


class Noted(msgspec.Struct, frozen=True):
    """Whose note it is now."""

    agent_id: str
    agent: str
    note: str


class Notes:
    """Takes notes."""

    def __init__(self, reader: Reader, recorder: Recorder, host: str) -> None:
        self._reader = reader
        self._recorder = recorder
        self._host = host

    async def __call__(self, args: bytes, env: Env) -> Noted:
        """Write a note down."""
        try:
            given = msgspec.json.decode(args, type=Noting)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
            raise BadRequest("bad_note", f"That is no note: {error}.", f"At most {LONGEST} characters.") from error
        agent = await asyncio.to_thread(self._meant, given, env)
        text = " ".join(given.text.split())
        await self._recorder.record(AgentNoted(text=text), agent.id)
        return Noted(agent.id, agent.name, text)

    def _meant(self, given: Noting, env: Env) -> Agent:
        if given.agent:
            return resolve(self._reader, given.agent)
        living = [agent for agent in self._reader.agents() if agent.host == self._host]
        found = agent_inside(living, env, given.ancestors)
        if found is None:
            raise BadRequest(
                "no_agent",
                "This does not come from inside an agent.",
                "Name one: headspace note --agent NAME TEXT. `headspace list` shows them.",
                status=404,
            )
        return found


def agent_inside(living: Sequence[Agent], env: Env, ancestors: Sequence[int] = ()) -> Agent | None:
    """The agent that a command was run in. A child has its own session, though it inherited its parent's other ids."""
    session, pane = env.get("CLAUDE_CODE_SESSION_ID"), env.get("TMUX_PANE")
    wrappers = {env[name] for name in ("CLAUDE_HEADSPACE_SESSION_ID", "CLAUDE_SESSION_ID") if env.get(name)}
    pid = env.get("CLAUDE_PID", "")
    processes = [*([int(pid)] if pid.isdigit() and len(pid) < 10 else []), *ancestors]
    tries: tuple[Callable[[Agent], bool], ...] = (
        lambda agent: bool(session) and agent.session is not None and agent.session.client_id == session,
        lambda agent: agent.headspace_id in wrappers,
        *((lambda agent, one=one: agent.pid == one) for one in processes),
        lambda agent: bool(pane) and agent.tmux_pane == pane,
    )
    return next((agent for fits in tries for agent in living if fits(agent)), None)
