"""What an agent shows now: the screen of its tmux pane; without a pane, its last messages from the log.

The screen is read on this machine, directly from tmux, and is never stored or sent.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from claude_headspace.errors import BadRequest
from claude_headspace.outputs.pane_screen import read_agent_screen
from claude_headspace.surfaces.text.formatting import Json, clean_json

MAX_TURNS = 10


class Preview(NamedTuple):
    """The screen with its colours as escape sequences; or why there is none, and the newest turns."""

    screen: str | None
    pane: str = ""
    problem: str = ""
    turns: Sequence[Json] = ()


def read_preview(
    agent: Json,
    host: str,
    read_turns: Callable[[str, int], Sequence[Json]],
    *,
    env: Mapping[str, str] = os.environ,
    history: int = 0,
) -> Preview:
    """Read the screen of an agent on this host, with some lines of its history. Without a pane, read its turns."""
    try:
        found = read_agent_screen(agent["name"], _local_pane(agent, host), process_in_pane(agent), env, history)
    except BadRequest as refusal:
        turns = clean_json(list(read_turns(agent["id"], MAX_TURNS)))
        return Preview(None, problem=_reason(agent, host, refusal), turns=turns)
    return Preview(found.text, found.pane.id)


def process_in_pane(agent: Json) -> int | None:
    """The process that shows which pane is the agent's: its client; before the first report the one that starts it."""
    pid: int | None = agent["pid"] or agent.get("wrapper_pid")
    return pid


def _local_pane(agent: Json, host: str) -> str | None:
    is_here = agent["host"] == host and agent["state"] != "ended"
    pane: str | None = agent["tmux"]["pane"] if is_here else None
    return pane


def _reason(agent: Json, host: str, refusal: BadRequest) -> str:
    """Why an agent has no screen."""
    name = agent["name"]
    if agent["state"] == "ended":
        return f"{name} has ended."
    return refusal.message if agent["host"] == host else f"{name} runs on {agent['host']}; this machine is {host}."
