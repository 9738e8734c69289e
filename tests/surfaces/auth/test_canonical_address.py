"""Browsers use one address: `localhost` leads to `127.0.0.1`, with the same port, path and query."""

import pytest
from starlette.requests import Request

from claude_headspace.surfaces.auth.canonical_address import redirect_to_address


def location(host: str, server: tuple[str, int] | None, query: str = "") -> str | None:
    """Where a request with this `Host` at this address of the daemon is sent."""
    scope = {
        "type": "http",
        "method": "GET",
        "scheme": "http",
        "path": "/agents/calm-otter",
        "query_string": query.encode(),
        "headers": [(b"host", host.encode())],
        "server": server,
    }
    response = redirect_to_address(Request(scope))
    return response.headers["location"] if response is not None else None


@pytest.mark.parametrize("host", ["localhost:5055", "LOCALHOST:5055"])
def test_the_alias_leads_to_the_address(host: str) -> None:
    """“Hooks fire HTTP POST requests to `http://localhost:5055`”: the address that people type, too."""
    assert location(host, ("127.0.0.1", 5055), "tab=turns") == "http://127.0.0.1:5055/agents/calm-otter?tab=turns"


def test_a_forwarded_port_stays() -> None:
    """The port of the browser counts, for example the local end of an SSH tunnel."""
    assert location("localhost:8000", ("127.0.0.1", 5055)) == "http://127.0.0.1:8000/agents/calm-otter"


@pytest.mark.parametrize(
    ("host", "server"),
    [
        ("127.0.0.1:5055", ("127.0.0.1", 5055)),
        ("board.lan:5055", ("127.0.0.1", 5055)),
        ("localhost:5055", ("::1", 5055)),
        ("localhost:5055", None),
    ],
)
def test_other_names_and_addresses_stay(host: str, server: tuple[str, int] | None) -> None:
    """A daemon that was reached at another address may not listen at 127.0.0.1."""
    assert location(host, server) is None
