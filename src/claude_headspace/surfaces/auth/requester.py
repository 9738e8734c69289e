"""Identifies who sends a request: a person, or a process inside an agent.

A token proves a permission, not an identity: the tools of an agent can read the same files as its user. Therefore the
process at the other end of a loopback connection is looked up and inspected (`requester_process.py`).

Rules
- Our port is the one that the server listens on, never the one in the `Host` header.
- A connection that is already closed is refused: its sender cannot be found any more.
- A process of our user that cannot be found or inspected is refused: it may belong to an agent.
- If the process belongs to another user (a proxy), the token alone decides.
"""

import asyncio
import getpass
import os
from collections.abc import Callable, Collection
from urllib.parse import unquote

import msgspec
import psutil
from starlette.requests import Request

from claude_headspace.errors import Forbidden
from claude_headspace.surfaces.auth.peer_process import holders_of, peer_of
from claude_headspace.surfaces.auth.requester_process import (
    RequesterKind,
    inspect_holders,
    inspect_requester,
    session_in,
)

VIA_HEADER = "x-headspace-via"
SESSION_HEADER = "x-headspace-caller-session"
"""The command line sends the session that it was started in."""

KNOWN_SURFACES = ("api", "cli", "tui", "web")


class Requester(msgspec.Struct, frozen=True):
    """The person who sends a request, and the surface that they use."""

    name: str
    via: str


class RequesterLookup:
    """Finds the sender of a request."""

    def __init__(
        self,
        client_pids: Callable[[], Collection[int]],
        knows_session: Callable[[str], bool],
        session_of_client: Callable[[int], str | None],
    ) -> None:
        self._client_pids = client_pids
        self._knows_session = knows_session
        self._session_of_client = session_of_client

    async def identify(self, request: Request) -> Requester:
        """The person who sends a request; agents are refused."""
        await self.refuse_agents(request)
        via = request.headers.get(VIA_HEADER, "api")
        name = request.scope.get("headspace.actor") or getpass.getuser()
        return Requester(name, via if via in KNOWN_SURFACES else "api")

    async def refuse_agents(self, request: Request) -> None:
        """Raise `Forbidden` if the request comes from inside an agent."""
        if request.headers.get(SESSION_HEADER):
            raise _refusal(RequesterKind.AGENT)
        if (ports := _ports(request)) is not None:
            await asyncio.to_thread(self._check_peer, *ports, self._client_pids())

    async def refuse_others(self, request: Request, pid: int | None) -> None:
        """Raise `Forbidden` if the request comes from inside an agent, unless this process sends it."""
        ports = _ports(request) if pid is not None else None
        if ports is None or (await asyncio.to_thread(peer_of, *ports)).pid != pid:
            await self.refuse_agents(request)

    async def session_of(self, request: Request) -> str | None:
        """The session of the agent that a request comes from; None for a person or an unknown process."""
        if session := unquote(request.headers.get(SESSION_HEADER, "")):
            return session
        ports = _ports(request)
        return await asyncio.to_thread(self._session_of_peer, *ports) if ports is not None else None

    def _session_of_peer(self, their_port: int, our_port: int) -> str | None:
        """By the variables of the process, which not every client sets, or by the nearest client above it."""
        pid = peer_of(their_port, our_port).pid
        if pid is None or pid == os.getpid():
            return None
        try:
            process = psutil.Process(pid)
            above = process.parents()
        except psutil.Error:
            return None
        return session_in(process) or next(filter(None, (self._session_of_client(each.pid) for each in above)), None)

    def _check_peer(self, their_port: int, our_port: int, clients: Collection[int]) -> None:
        peer = peer_of(their_port, our_port)
        if peer.is_gone:
            raise Forbidden(
                "caller_gone", "The connection was closed before the reply.", "Send the request again and wait."
            )
        kind = RequesterKind.HIDDEN if peer.is_hidden else RequesterKind.PERSON
        if peer.pid is not None and peer.pid != os.getpid():
            kind = inspect_requester(peer.pid, clients, self._knows_session)
        if kind is RequesterKind.EXITED:
            kind = inspect_holders(holders_of(their_port, our_port), clients, self._knows_session)
        if kind is not RequesterKind.PERSON:
            raise _refusal(kind)


def _ports(request: Request) -> tuple[int, int] | None:
    """The ports of both ends of a TCP connection."""
    server = request.scope.get("server")
    if request.client is None or server is None or server[1] is None:
        return None
    return request.client[1], server[1]


def _refusal(kind: RequesterKind) -> Forbidden:
    return Forbidden(*REFUSALS[kind])


REFUSALS = {
    RequesterKind.AGENT: (
        "agents_may_not_act",
        "This request comes from inside an agent. Agents cannot act for their user.",
        "Run the command in your own shell.",
    ),
    RequesterKind.TMUX_JOB: (
        "no_terminal",
        "tmux started this command without a terminal. Agents can do that too, so it cannot act for you.",
        "Run it in a pane. In a key binding, use `display-popup -E` instead of `run-shell`.",
    ),
    RequesterKind.HIDDEN: (
        "caller_unknown",
        "The process that sent this request cannot be inspected. It may belong to an agent.",
        "Run the command in your own shell, or use the dashboard or an answer link.",
    ),
}
"""Why a requester that is not a person is refused: code, message, hint."""
