"""The command `open`."""

import os
import sys
from collections.abc import Mapping
from typing import Annotated

import typer

from claude_headspace.errors import Forbidden
from claude_headspace.surfaces.cli.options import AsJson, places

AGENT_MARKS = ("CLAUDE_CODE_SESSION_ID", "CLAUDECODE")


def open_page(
    only_print: Annotated[bool, typer.Option("--print", "-p", help="Print the link instead of opening it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Open the dashboard in your browser, signed in.

    The link works once, for five minutes; the browser then stays signed in for thirty days. Without a screen the link
    is printed.
    """
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.client.api_client import ApiClient

    _refuse_agents(os.environ)
    client = ApiClient.local(places())
    invitation = client.create_sign_in_link()
    link = client.url + invitation["path"]
    if as_json:
        terminal.write_json({"url": link, "expires_in_seconds": invitation["expires_in_seconds"]})
        return
    screen = terminal.screen()
    if only_print or not opened(link):
        hint = "Open it in a browser on this machine. It works once, for five minutes."
        screen.show([terminal.line(link)], then=[terminal.line(hint)])
    else:
        screen.show([terminal.line(f"Opened {client.url} in your browser.")])


def opened(link: str) -> bool:
    """Whether a browser with a screen took it."""
    import webbrowser

    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        return webbrowser.open(link)
    except webbrowser.Error:
        return False


def is_agent(env: Mapping[str, str] = os.environ) -> bool:
    """Whether an agent of Claude Code runs this."""
    return any(env.get(mark) for mark in AGENT_MARKS)


def _refuse_agents(env: Mapping[str, str]) -> None:
    """Signing in is for people: an agent could answer its own questions with it."""
    if is_agent(env):
        raise Forbidden(
            "not_for_agents",
            "An agent of Claude Code cannot sign in to the dashboard.",
            "Run `headspace open` in a terminal of your own.",
        )
