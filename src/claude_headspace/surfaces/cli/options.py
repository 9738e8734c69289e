"""Options, arguments and small functions that several commands share."""

import json
import os
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option

Function = TypeVar("Function", bound=Callable[..., None])


def complete_agents(incomplete: str) -> list[str]:
    """Agent names for shell completion. Empty if the daemon does not answer quickly."""
    from claude_headspace.surfaces.client.api_client import ApiClient  # noqa: PLC0415  # only completion needs it

    try:
        names = [agent["name"] for agent in ApiClient.local(timeout=0.5).agents()]
    except HeadspaceError:
        return []
    return [name for name in names if name.startswith(incomplete.lower())]


AgentArgument = Annotated[
    str | None,
    Argument("AGENT", help="Name, part of a name, or id; without it you choose.", complete=complete_agents),
]
"""Pass it to `choose.choose_agent`."""
ProjectOption = Annotated[str | None, Option("--project", "-p", help="Only this project: name, id or directory.")]
ClientOption = Annotated[
    str | None, Option("--client", metavar="NAME", help=f"Only this client: {', '.join(CLIENTS)}.")
]
AsJson = Annotated[bool, Option("--json", help="Print JSON.")]


def examples(*lines: str) -> Callable[[Function], Function]:
    """Examples for the help of a command."""

    def add(function: Function) -> Function:
        function.__dict__["examples"] = lines
        return function

    return add


def resolve_project(text: str | None) -> str | None:
    """A project option. A path becomes absolute, because the daemon does not know the current directory."""
    if text is None or not (text in (".", "..", "~") or "/" in text):
        return text
    return str(Path(os.path.abspath(Path(text).expanduser())))  # noqa: PTH100  # symbolic links must stay


def read_text(argument: str) -> str:
    """A text argument; `-` reads standard input."""
    return sys.stdin.read() if argument == "-" else argument


def require_new_file(path: Path) -> Path:
    """The path of a file to write. Never overwrites a file."""
    if path.exists():
        raise BadRequest("exists", f"{path} already exists.", "Choose another name, or remove the file.")
    if not path.absolute().parent.is_dir():
        raise BadRequest(
            "no_directory",
            f"The directory {path.parent} does not exist.",
            f"Create it with `mkdir -p {path.parent}`, or choose another.",
        )
    return path


def read_file(path: Path) -> bytes:
    """The content of a file."""
    if not path.is_file():
        raise BadRequest("no_file", f"The file {path} does not exist.", "Check the name and the current directory.")
    return path.read_bytes()


def parse_object(text: str, name: str, hint: str) -> dict[str, Any]:
    """A JSON object from the command line."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRequest("bad_json", f"{name} is not valid JSON: {error}.", hint) from error
    if not isinstance(found, dict):
        raise BadRequest("bad_json", f"{name} is not a JSON object.", hint)
    return found


def now() -> datetime:
    """The current time, in the local time zone."""
    return datetime.now().astimezone()
