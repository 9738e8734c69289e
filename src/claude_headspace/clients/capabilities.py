"""What clients can do, as checks that raise an error with the reason."""

from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.clients.client import Capability, Client
from claude_headspace.errors import BadRequest


def find_client(name: str) -> Client:
    """The client with this name or program. Raises `BadRequest` for an unknown one."""
    found = named_client(name)
    if found is None:
        known = f"It knows {', '.join(CLIENTS)}."
        raise BadRequest("unknown_client", f"Headspace does not know the client {name[:60]!r}.", known)
    return found


def named_client(name: str) -> Client | None:
    """The client with this name or program; None if there is none."""
    return CLIENTS.get(name) or next((each for each in CLIENTS.values() if each.program == name), None)


def answers_are_delivered(name: str) -> bool:
    """Whether answers reach a client through an answer channel: it has no hooks that can be held open."""
    found = CLIENTS.get(name)
    return found is not None and not found.held


def require(name: str, capability: Capability) -> None:
    """Raise `BadRequest`, with the reason, if a client cannot do something. Unknown clients may try."""
    found = CLIENTS.get(name)
    if found is not None and not found.can(capability):
        raise BadRequest("not_supported", found.limits[capability], "docs/clients.md lists what each client can do.")
