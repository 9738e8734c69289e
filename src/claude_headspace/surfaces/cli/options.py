"""What several commands share: their options, and how they find the daemon and the time."""

import os
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from claude_headspace.config import Paths, find_paths
from claude_headspace.errors import HeadspaceError


def complete_agents(incomplete: str) -> list[str]:
    """Names of agents, for the shell; nothing if the daemon does not answer at once."""
    from claude_headspace.surfaces.client.api_client import ApiClient

    try:
        names = [agent["name"] for agent in ApiClient.local(timeout=0.5).agents()]
    except HeadspaceError:
        return []
    return [name for name in names if name.startswith(incomplete)]


def project_meant(written: str | None) -> str | None:
    """A project as the daemon knows it: a directory is written from the root, wherever this command runs."""
    if written is None or not (written in (".", "..", "~") or "/" in written):
        return written
    return str(Path(os.path.abspath(Path(written).expanduser())))  # noqa: PTH100  # links stay as they are, `..` goes


Agent = Annotated[
    str, typer.Argument(metavar="AGENT", help="Name, id, or beginning of the id.", autocompletion=complete_agents)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def places() -> Paths:
    """Where things live."""
    return find_paths()


def now() -> datetime:
    """The time here."""
    return datetime.now().astimezone()
