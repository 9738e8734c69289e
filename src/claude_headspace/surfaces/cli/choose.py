"""The agent that a command is about: named exactly, by a part of its name, or chosen in a picker.

Rules
- The daemon knows exact names, ids and starts of ids. Everything else is resolved here.
- The start of a name is enough if it fits one agent; among several, one that still runs.
- Other parts of a name are enough to read. A command that acts on an agent asks first, and refuses in a script.
- Without a name, and if several agents fit, a terminal opens the picker. A script gets an error.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from claude_headspace.errors import BadRequest
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.echo import echo
from claude_headspace.surfaces.cli.arguments.parse import UsageError
from claude_headspace.surfaces.cli.picker import pick
from claude_headspace.surfaces.client.api_client import ApiClient, Json
from claude_headspace.surfaces.text.formatting import clean_json, clean_text
from claude_headspace.surfaces.text.matching import AnAgent, Closeness, closest

CANCELLED = 130
"""The exit code after a cancelled picker, like that of Ctrl+C."""
MAX_LISTED = 8


def choose_agent(client: ApiClient, reference: str | None, *, first: Sequence[str] = (), acts: bool = False) -> Json:
    """The agent that a person means. `first`: states whose agents come first in the picker."""
    if reference is None:
        if not output.can_ask():
            raise UsageError("Missing argument 'AGENT'.")
        return _pick(client.agents(), first)
    try:
        return client.agent(reference)
    except BadRequest as error:
        if error.code != "unknown_agent":
            raise
        return _resolve(client, reference, error, acts=acts)


def _resolve(client: ApiClient, reference: str, unknown: BadRequest, *, acts: bool) -> Json:
    """An agent by a part of its name."""
    agents = client.agents()
    match, found = closest(reference, agents)
    if match < Closeness.LETTERS:
        raise unknown
    running = [agent for agent in found if agent["state"] != "ended"]
    found = running if len(running) == 1 and match is Closeness.PREFIX else found
    if len(found) > 1:
        return _choose_between(reference, found)
    [agent] = found
    if match is not Closeness.PREFIX:
        _confirm(reference, agent, unknown, acts=acts)
    return agent


def _choose_between(reference: str, agents: Sequence[Json]) -> Json:
    if output.can_ask():
        return _pick(agents, ())
    names = ", ".join(agent["name"] for agent in agents[:MAX_LISTED])
    more = f" and {len(agents) - MAX_LISTED} more" if len(agents) > MAX_LISTED else ""
    message = f"Several agents match {clean_text(reference)}: {names}{more}."
    raise BadRequest("ambiguous_agent", message, "Use a longer part of the name.", status=409)


def _confirm(reference: str, agent: Json, unknown: BadRequest, *, acts: bool) -> None:
    """Say which agent was found. Before an act, ask."""
    if not acts:
        echo(f"There is no agent {clean_text(reference)}; this is {agent['name']}.", is_error=True)
    elif not output.can_ask():
        raise unknown
    elif not output.confirm(f"There is no agent {clean_text(reference)}. Do you mean {agent['name']}?"):
        sys.exit(1)


def _pick(agents: Sequence[Json], first: Sequence[str]) -> Json:
    """Let the person choose. Raises an error if there is no agent."""
    if not agents:
        raise BadRequest("no_agents", "There are no agents.", "Start one with `headspace run`.")
    found = pick(clean_json(likely_first(agents, first, Path.cwd())))
    if found is None:
        sys.exit(CANCELLED)
    return next(agent for agent in agents if agent["id"] == found["id"])


def likely_first(agents: Sequence[AnAgent], states: Sequence[str], directory: Path) -> list[AnAgent]:
    """The agents that a command probably means first: by their state, then those of this directory's project."""
    return sorted(agents, key=lambda agent: (_state_rank(agent, states), not _is_in(directory, agent)))


def _state_rank(agent: AnAgent, states: Sequence[str]) -> int:
    return states.index(agent["state"]) if agent["state"] in states else len(states)


def _is_in(directory: Path, agent: AnAgent) -> bool:
    root = agent["project"]["root"]
    return bool(root) and os.path.commonpath([root, directory]) == root.rstrip("/")


def ask_text(question: str, argument: str) -> str:
    """A text that the command line does not contain, from the terminal. A script gets an error about the argument."""
    if not output.can_ask():
        raise UsageError(f"Missing argument '{argument}'.")
    return output.ask_line(question)
