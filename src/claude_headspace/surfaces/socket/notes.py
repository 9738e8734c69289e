"""`agent.note`: an agent's note about its current work. A note is information only, so agents may set it themselves.

The agent is found by the environment of the command: its session, the wrapper's id, the client's process among the
ancestors of the command, or the pane. A command from elsewhere names the agent.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.acts import AgentNoted
from claude_headspace.kernel.agent import Agent
from claude_headspace.ports import Recorder
from claude_headspace.surfaces.read.agents import AgentQueries

COMMAND = "agent.note"
MAX_LENGTH = 500
MAX_ANCESTORS = 50

Env = Mapping[str, str]


class NoteRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A note about an agent, by default the one that sends it. An empty text removes the note."""

    text: Annotated[str, Meta(max_length=MAX_LENGTH)]
    agent: Annotated[str, Meta(max_length=200)] | None = None
    ancestors: Annotated[tuple[int, ...], Meta(max_length=MAX_ANCESTORS)] = ()
    """The ancestor processes of the command."""


class Noted(msgspec.Struct, frozen=True):
    """The agent and its note."""

    agent_id: str
    agent: str
    note: str


@dataclass(frozen=True)
class NoteCommand:
    """Stores notes."""

    agents: AgentQueries
    recorder: Recorder
    host: str

    async def __call__(self, args: bytes, env: Env) -> Noted:
        """Store a note."""
        try:
            request = msgspec.json.decode(args, type=NoteRequest)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
            hint = f"A note has at most {MAX_LENGTH} characters."
            raise BadRequest("bad_note", f"The note is not valid: {error}.", hint) from error
        agent = await asyncio.to_thread(self._find_agent, request, env)
        text = " ".join(request.text.split())
        await self.recorder.record(AgentNoted(text=text), agent.id)
        return Noted(agent.id, agent.name, text)

    def _find_agent(self, request: NoteRequest, env: Env) -> Agent:
        if request.agent:
            return self.agents.find(request.agent)
        found = self.agents.of_environment(self.host, env, request.ancestors)
        if found is None:
            raise BadRequest(
                "no_agent",
                "Headspace knows no agent for this shell.",
                "Name the agent: headspace note AGENT TEXT. `headspace list` shows all agents.",
                status=404,
            )
        return found
