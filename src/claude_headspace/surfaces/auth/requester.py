"""Identifies who sends a request: a person, or a process inside an agent.

A token proves a permission, not an identity: the tools of an agent can read the same files as its user. Therefore the
process at the other end of a loopback connection is looked up. It is refused if it descends from an agent's client or
has a client's session in its environment.

Rules
- Our port is the one that the server listens on, never the one in the `Host` header.
- A connection that is already closed is refused: nobody would receive the reply.
- If the process cannot be found (another user, a proxy), the token alone decides.
"""

import asyncio
import getpass
import os
from collections.abc import Callable, Iterable
from urllib.parse import unquote

import msgspec
import psutil
from starlette.requests import Request

from claude_headspace.errors import Forbidden
from claude_headspace.surfaces.auth.peer_process import peer_of

SESSION_VARIABLE = "CLAUDE_CODE_SESSION_ID"
"""Set by a client in the environment of everything that it starts."""

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

    def __init__(self, client_pids: Callable[[], Iterable[int]]) -> None:
        self._client_pids = client_pids

    async def identify(self, request: Request) -> Requester:
        """The person who sends a request; agents are refused."""
        await self.refuse_agents(request)
        via = request.headers.get(VIA_HEADER, "api")
        name = request.scope.get("headspace.actor") or getpass.getuser()
        return Requester(name, via if via in KNOWN_SURFACES else "api")

    async def refuse_agents(self, request: Request) -> None:
        """Raise `Forbidden` if the request comes from inside an agent."""
        if request.headers.get(SESSION_HEADER):
            raise _agent_refused()
        if (ports := _ports(request)) is not None:
            await asyncio.to_thread(self._check_peer, *ports)

    async def session_of(self, request: Request) -> str | None:
        """The session of the agent that a request comes from; None for a person or an unknown process."""
        if session := unquote(request.headers.get(SESSION_HEADER, "")):
            return session
        ports = _ports(request)
        return await asyncio.to_thread(_session_of_peer, *ports) if ports is not None else None

    def _check_peer(self, their_port: int, our_port: int) -> None:
        peer = peer_of(their_port, our_port)
        if peer.is_gone:
            raise Forbidden(
                "caller_gone", "The connection was closed before the reply.", "Send the request again and wait."
            )
        if peer.pid is not None and peer.pid != os.getpid() and belongs_to_client(peer.pid, set(self._client_pids())):
            raise _agent_refused()


def _ports(request: Request) -> tuple[int, int] | None:
    """The ports of both ends of a TCP connection."""
    server = request.scope.get("server")
    if request.client is None or server is None or server[1] is None:
        return None
    return request.client[1], server[1]


def _session_of_peer(their_port: int, our_port: int) -> str | None:
    pid = peer_of(their_port, our_port).pid
    if pid is None or pid == os.getpid():
        return None
    try:
        return psutil.Process(pid).environ().get(SESSION_VARIABLE) or None
    except (psutil.Error, OSError):
        return None


def belongs_to_client(pid: int, clients: set[int]) -> bool:
    """Whether a process is a client, descends from one, or has a client's session in its environment."""
    try:
        process = psutil.Process(pid)
        if pid in clients or any(parent.pid in clients for parent in process.parents()):
            return True
        return bool(process.environ().get(SESSION_VARIABLE))
    except (psutil.Error, OSError):
        return False


def _agent_refused() -> Forbidden:
    return Forbidden(
        "agents_may_not_act",
        "This request comes from inside an agent. Agents cannot answer, send prompts or interrupt.",
        "Run the command in your own shell.",
        status=403,
    )
