"""Who acts: a person, or an agent that would answer itself?

A token shows what somebody may do, not who it is: on one machine an agent's tools can read what its user can. So the
process at the other end of a loopback connection is looked up, and refused if it descends from an agent's client or
carries one's session in its environment.

Rules
- The port is the one that we listen on, never what the request calls it: a `Host` may say anything.
- Whoever is gone before he was looked at is refused: nobody waits for the reply.
- A process that cannot be found (another user's, one behind a proxy) is not found; then the token alone counts.
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

CARRIED = "CLAUDE_CODE_SESSION_ID"
"""What a client puts into the environment of everything that it starts."""

VIA = "x-headspace-via"
SESSION = "x-headspace-caller-session"
"""The command line tells of itself which session it was started in."""

KNOWN_WAYS = ("api", "cli", "tui", "web")


class Who(msgspec.Struct, frozen=True):
    """A person who acts, and what through."""

    name: str
    via: str


class Caller:
    """Finds out who is at the other end."""

    def __init__(self, client_pids: Callable[[], Iterable[int]]) -> None:
        self._client_pids = client_pids

    async def identify(self, request: Request) -> Who:
        """The person who asks; an agent is refused."""
        await self.refuse_agents(request)
        via = request.headers.get(VIA, "api")
        return Who(request.scope.get("headspace.actor") or getpass.getuser(), via if via in KNOWN_WAYS else "api")

    async def refuse_agents(self, request: Request) -> None:
        """Whoever asks must not be an agent."""
        if request.headers.get(SESSION):
            _refuse()
        server = request.scope.get("server")
        if request.client is not None and server is not None and server[1] is not None:
            await asyncio.to_thread(self._look_at, request.client[1], server[1])

    async def session_of(self, request: Request) -> str | None:
        """The session of the agent that a request comes from, if one sent it and says so."""
        if told := unquote(request.headers.get(SESSION, "")):
            return told
        server = request.scope.get("server")
        if request.client is None or server is None or server[1] is None:
            return None
        return await asyncio.to_thread(_carried_by, request.client[1], server[1])

    def _look_at(self, their_port: int, our_port: int) -> None:
        peer = peer_of(their_port, our_port)
        if peer.is_gone:
            raise Forbidden("caller_gone", "Whoever asked is gone already.", "Ask again, and wait for the reply.")
        if peer.pid is not None and peer.pid != os.getpid() and descends(peer.pid, set(self._client_pids())):
            _refuse()


def _carried_by(their_port: int, our_port: int) -> str | None:
    pid = peer_of(their_port, our_port).pid
    if pid is None or pid == os.getpid():
        return None
    try:
        return psutil.Process(pid).environ().get(CARRIED) or None
    except (psutil.Error, OSError):
        return None


def descends(pid: int, clients: set[int]) -> bool:
    """Whether a process is a client's, by its ancestors or by what it carries."""
    try:
        process = psutil.Process(pid)
        if pid in clients or any(parent.pid in clients for parent in process.parents()):
            return True
        return bool(process.environ().get(CARRIED))
    except (psutil.Error, OSError):
        return False


def _refuse() -> None:
    raise Forbidden(
        "agents_may_not_act",
        "This comes from inside an agent, and an agent does not answer for its human.",
        "Answer it yourself: in its terminal, on the page, or from a shell of your own.",
        status=403,
    )
