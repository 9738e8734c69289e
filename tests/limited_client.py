"""A client that can do nothing, for tests of what people are told then."""

from collections.abc import Iterator
from contextlib import contextmanager

from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.clients.client import Capability, Client

LIMITED = Client(
    name="limited",
    title="Limited CLI",
    short_title="limited",
    program="limited",
    package="limited-cli",
    tested_versions=("1.0",),
    default_config_dir="~/.limited",
    limits={each: f"Limited CLI cannot do this: {each.value}." for each in Capability},
)


@contextmanager
def limited_client() -> Iterator[Client]:
    """The client is in the catalog for as long as the context is open."""
    CLIENTS[LIMITED.name] = LIMITED
    try:
        yield LIMITED
    finally:
        del CLIENTS[LIMITED.name]
