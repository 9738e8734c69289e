"""The CLI command `open`: the dashboard in the browser."""

import os
import sys
import webbrowser
from typing import Annotated

from claude_headspace.clients.environment import is_inside_client
from claude_headspace.config import find_paths, load_settings
from claude_headspace.errors import BadRequest, Forbidden
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Option
from claude_headspace.surfaces.cli.options import AsJson, examples
from claude_headspace.surfaces.client.api_client import ApiClient


@examples("headspace open", "headspace open --print", "headspace open --phone")
def open_page(
    only_print: Annotated[bool, Option("--print", "-p", help="Print the link instead of opening it.")] = False,
    for_phone: Annotated[
        bool, Option("--phone", help="Print a link for your phone, with the address in `public_url`.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Open the dashboard in your browser, signed in.

    The link works once, within five minutes. The browser then stays signed in for thirty days. Without a display the
    link is printed.
    """
    if is_agent():  # an agent could answer its own questions on the dashboard
        raise Forbidden(
            "not_for_agents", "Agents cannot sign in to the dashboard.", "Run `headspace open` in your own terminal."
        )
    client = ApiClient.local()
    sign_in = client.create_sign_in_link()
    link = (_public_url() if for_phone else client.url) + sign_in["path"]
    if as_json:
        output.write_json({"url": link, "expires_in_seconds": sign_in["expires_in_seconds"]})
        return
    screen = output.screen()
    if only_print or for_phone or not open_in_browser(link):
        where = "on your phone" if for_phone else "in a browser on this machine"
        hint = f"Open this link {where}. It works once, within five minutes."
        screen.show([output.line(link)], then=[output.line(hint)])
    else:
        screen.show([output.line(f"Opened {client.url} in your browser.")])


def _public_url() -> str:
    """The address of the daemon for other devices."""
    if url := load_settings(find_paths()).public_url:
        return url.rstrip("/")
    raise BadRequest(
        "no_public_url",
        "The dashboard has no address that a phone can reach.",
        "Set `public_url`: see docs/notifications.md#https.",
    )


def open_in_browser(link: str) -> bool:
    """Open a link. False if there is no display or no browser."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        return webbrowser.open(link)
    except webbrowser.Error:
        return False


def is_agent() -> bool:
    """Whether an agent runs this command."""
    return is_inside_client(os.environ)
