"""The page behind a share link: one agent with its conversation. It needs no script and no sign-in.

Rules
- It only reads, and shows only this agent: its state, its turns, and its tool calls in one line each.
- A link that is unknown, expired or revoked always gives the same page.
- All texts are escaped, with hidden characters as marks.
"""

import asyncio
from collections.abc import Iterable, Sequence
from html import escape
from operator import attrgetter
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from claude_headspace.kernel.text import Time
from claude_headspace.kernel.views.agent import AgentView
from claude_headspace.kernel.views.work import TurnView
from claude_headspace.surfaces.auth.share_links import PATH, ShareLinks
from claude_headspace.surfaces.page.answer_link_html import document
from claude_headspace.surfaces.page.request_html import agent_text
from claude_headspace.surfaces.read.agents import AgentQueries
from claude_headspace.surfaces.read.tool_calls import ToolCallView
from claude_headspace.surfaces.text.labels import shape

MAX_TURNS = 500
MAX_CALLS = 1_000
GONE = (
    "<h1>This link shows nothing</h1>\n"
    "<p>It has expired, it was revoked, or it is incomplete. Ask the person who sent it for a new one.</p>"
)


class _Entry(NamedTuple):
    at: Time
    html: str


class SharedAgentPage:
    """Shows the agent of a link."""

    def __init__(self, links: ShareLinks, agents: AgentQueries) -> None:
        self._links = links
        self._agents = agents

    def routes(self) -> list[Route]:
        """The page."""
        return [Route(f"{PATH}{{link}}", self._show, methods=["GET"])]

    async def _show(self, request: Request) -> Response:
        body = await asyncio.to_thread(self._body, request.path_params["link"])
        return HTMLResponse(document(body or GONE), 200 if body else 404)

    def _body(self, link: str) -> str | None:
        agent_id = self._links.agent_id(link)
        if agent_id is None:
            return None
        turns = self._agents.turns(agent_id, MAX_TURNS)
        return agent_html(self._agents.view(agent_id), turns, self._agents.tool_calls(agent_id, MAX_CALLS))


def agent_html(agent: AgentView, turns: Sequence[TurnView], calls: Sequence[ToolCallView]) -> str:
    """An agent with its newest turns, and the tool calls that ran between them."""
    since = turns[0].timestamp if len(turns) == MAX_TURNS else ""
    shown = [call for call in calls if call.started_at >= since]
    left_out = f"<p>Only the newest {MAX_TURNS} turns are shown.</p>" if since else ""
    entries = sorted([*_turns(turns), *_calls(shown)], key=attrgetter("at"))
    kind = "who" if agent.state == "waiting" else "who calm"
    return "\n".join(
        (
            f'<p class="{kind}">{shape(agent.state)} {agent_text(agent.name)} '
            f"<span>{agent_text(agent.project.name)}</span></p>",
            f"<h1>{escape(agent.state.capitalize())} since {_time(agent.state_since)}</h1>",
            left_out or ("" if entries else "<p>This agent has no conversation yet.</p>"),
            *(entry.html for entry in entries),
        )
    )


def _turns(turns: Iterable[TurnView]) -> Iterable[_Entry]:
    for turn in turns:
        heading = f"<h2>{escape(turn.actor.capitalize())} <small>{_time(turn.timestamp)}</small></h2>"
        yield _Entry(turn.timestamp, f"<article>{heading}<pre>{agent_text(turn.text)}</pre></article>")


def _calls(calls: Iterable[ToolCallView]) -> Iterable[_Entry]:
    for call in calls:
        outcome = "" if call.outcome == "done" else f" <small>{escape(call.outcome)}</small>"
        words = f"{agent_text(call.tool)} {agent_text(call.summary)}{outcome}"
        yield _Entry(call.started_at, f'<p class="call">{words}</p>')


def _time(at: Time) -> str:
    """In UTC, because the page has no script that knows the time zone of the reader."""
    return f"{escape(at[:16].replace('T', ' '))} UTC"
