"""`headspace note`: what an agent is at, in its own words. Agents run it themselves; it goes through the socket."""

from typing import Annotated

import typer

from claude_headspace.surfaces.cli.options import AsJson, complete_agents


def note(
    text: Annotated[list[str] | None, typer.Argument(metavar="TEXT…", help="What it is at; - reads it.")] = None,
    agent: Annotated[
        str | None,
        typer.Option("--agent", "-a", help="Whose; else the agent that this runs in.", autocompletion=complete_agents),
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Take the note back.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say in a few words what an agent is working on.

    Inside an agent it is that agent's note; it is shown on every surface, with its age.
    """
    import sys

    from claude_headspace.errors import BadRequest
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.client.socket_client import ancestors, send_command
    from claude_headspace.surfaces.text.labels import clean_text

    words = sys.stdin.read() if text == ["-"] else " ".join(text or ())
    if clear == bool(words.strip()):
        raise BadRequest("no_note", "There is no text, or one too many.", 'headspace note "what you do", or --clear')
    named = {"agent": agent} if agent else {"ancestors": ancestors()}
    found = send_command("agent.note", {"text": words.strip(), **named})
    if as_json:
        terminal.write_json(found)
        return
    said = f"{found['agent']} is at: {found['note']}" if found["note"] else f"The note of {found['agent']} is gone."
    terminal.screen().show([terminal.line(clean_text(said))])
