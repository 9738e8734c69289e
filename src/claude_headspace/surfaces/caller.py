"""Who acts: a person, or an agent that would answer itself?

A token shows what somebody may do, not who it is: on one machine an agent's tools can read what its user can. So the
process at the other end of a loopback connection is looked up, and refused if it descends from an agent's client or
carries one's session in its environment.

A process that does not want to be found (another user's, one behind a proxy) is not found; then the token alone counts.
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

CARRIED = "CLAUDE_CODE_SESSION_ID"
"""What a client puts into the environment of everything that it starts."""

VIA = "x-headspace-via"
SESSION = "x-headspace-caller-session"
"""The command line tells of itself which session it was started in."""

KNOWN_WAYS = ("api", "cli", "tui", "web", "link")


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
        if request.headers.get(SESSION):
            _refuse()
        if await asyncio.to_thread(self._is_agent, request.client, request.url.port):
            _refuse()
        via = request.headers.get(VIA, "api")
        return Who(request.scope.get("headspace.actor") or getpass.getuser(), via if via in KNOWN_WAYS else "api")

    async def session_of(self, request: Request) -> str | None:
        """The session of the agent that a request comes from, if one sent it and says so."""
        if told := unquote(request.headers.get(SESSION, "")):
            return told
        return await asyncio.to_thread(_carried_by, request.client, request.url.port)

    def _is_agent(self, client: tuple[str, int] | None, port: int | None) -> bool:
        pid = owner_of(client, port) if client is not None else None
        return pid is not None and pid != os.getpid() and descends(pid, set(self._client_pids()))


def owner_of(client: tuple[str, int], port: int | None) -> int | None:
    """The process that has the other end of a connection open."""
    try:
        found = psutil.net_connections("tcp")
    except (psutil.Error, OSError):
        return None
    ours = (one for one in found if one.laddr and one.laddr[1] == client[1] and one.raddr and one.raddr[1] == port)
    return next((one.pid for one in ours if one.pid), None)


def _carried_by(client: tuple[str, int] | None, port: int | None) -> str | None:
    pid = owner_of(client, port) if client is not None else None
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
