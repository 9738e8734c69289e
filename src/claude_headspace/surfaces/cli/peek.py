"""The CLI command `peek`: what an agent shows in its terminal, without going there."""

import shutil
import time
from contextlib import suppress
from typing import Annotated

from claude_headspace.config import find_paths, load_settings
from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Option
from claude_headspace.surfaces.cli.choose import choose_agent
from claude_headspace.surfaces.cli.options import AgentArgument, AsJson, examples, now
from claude_headspace.surfaces.cli.presentation.agent_details import next_commands
from claude_headspace.surfaces.cli.presentation.preview import preview_lines, screen_lines
from claude_headspace.surfaces.cli.redraw import full_screen
from claude_headspace.surfaces.client.api_client import ApiClient, Json
from claude_headspace.surfaces.client.preview import Preview, read_preview
from claude_headspace.surfaces.text.formatting import clean_json

FOLLOW_SECONDS = 0.3


@examples("headspace peek calm-otter", "headspace peek calm-otter --follow", "headspace peek calm-otter --history 200")
def peek(
    agent: AgentArgument = None,
    follow: Annotated[bool, Option("--follow", "-f", help="Keep showing the screen, until Ctrl+C.")] = False,
    history: Annotated[
        int, Option("--history", "-n", min=0, max=50_000, help="Also this many lines above the screen.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Show the screen of an agent, without going there.

    The screen of its tmux pane, in colour. An agent outside of tmux or on another machine has no screen here: then its
    requests, the running tool and its last message are shown.
    """
    client = ApiClient.local()
    found = choose_agent(client, agent)
    if follow:
        _follow(client, found["id"])
        return
    preview = _read(client, found, history)
    if as_json:
        output.write_json(_as_json(found, preview))
        return
    screen = output.screen()
    found = clean_json(found)
    lines = [output.cut_line(line, screen.width) for line in preview_lines(found, preview, now(), screen.width)]
    screen.show(lines, then=next_commands(found, "jump", "show"))


def _read(client: ApiClient, agent: Json, history: int = 0) -> Preview:
    return read_preview(agent, load_settings(find_paths()).host_name, client.turns, history=history)


def _as_json(agent: Json, preview: Preview) -> Json:
    fields = {name: agent[name] for name in ("id", "name", "state", "tool", "waits")}
    lines = None if preview.screen is None else screen_lines(preview.screen)
    text = None if lines is None else ["".join(span.text for span in line).rstrip() for line in lines]
    return {**fields, "pane": preview.pane or None, "screen": text, "problem": preview.problem} | {
        "turns": list(preview.turns)
    }


def _follow(client: ApiClient, agent_id: str) -> None:
    """Show the screen again and again, its last lines if it is higher than the terminal."""
    if not output.can_ask():
        raise HeadspaceError("no_terminal", "`headspace peek --follow` needs a terminal.", "Leave out --follow.")
    with suppress(KeyboardInterrupt), full_screen() as draw:
        while True:
            agent = client.agent(agent_id)
            draw(_screen_lines(clean_json(agent), _read(client, agent)))
            time.sleep(FOLLOW_SECONDS)


def _screen_lines(agent: Json, preview: Preview) -> list[output.Line]:
    room = max(shutil.get_terminal_size().lines - 1, 1)
    lines = preview_lines(agent, preview, now(), output.screen().width)
    title = output.dim(f"{agent['name']} · {agent['state']} · Ctrl+C ends")
    return [title, *(lines[-room:] if preview.pane else lines[:room])]
