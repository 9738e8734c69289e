"""The CLI command `note`: what an agent is working on, in its own words. Agents run it, through the socket."""

from typing import Annotated

from claude_headspace.errors import BadRequest
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option
from claude_headspace.surfaces.cli.options import AsJson, complete_agents, examples, read_text
from claude_headspace.surfaces.client.socket_client import ancestors, send_command
from claude_headspace.surfaces.text.formatting import Json, clean_text


@examples('headspace note "fixing the login"', 'headspace note calm-otter "waits for Anna"', "headspace note --clear")
def note(
    text: Annotated[list[str] | None, Argument("TEXT", help="The note; - reads standard input.")] = None,
    agent: Annotated[
        str | None,
        Option("--agent", "-a", help="Which agent; default: the one that runs this.", complete=complete_agents),
    ] = None,
    clear: Annotated[bool, Option("--clear", help="Remove the note.")] = False,
    as_json: AsJson = False,
) -> None:
    """Set a short note on what an agent is working on.

    `list`, `top` and the dashboard show the note; `show` adds its age. Inside an agent it is the note of that agent.
    Elsewhere, name the agent first, or with --agent.
    """
    given = list(text or ())
    if clear and agent is None and len(given) == 1:
        agent = given.pop()
    words = read_text(" ".join(given)).strip()
    if clear == bool(words):
        problem = "Pass a note or --clear, not both." if clear else "Pass a note, or --clear to remove it."
        raise BadRequest("no_note", problem, 'Example: headspace note "fixing the login"')
    found = _set_note(agent, words, given)
    result = f"{found['agent']}: {found['note']}" if found["note"] else f"Removed the note of {found['agent']}."
    output.write_result(found, as_json, lambda _found, _: [output.line(clean_text(result))])


def _set_note(agent: str | None, words: str, given: list[str]) -> Json:
    """Set a note. Outside of agents, the first of several words is the agent."""
    if agent:
        return _send(words, {"agent": agent})
    try:
        return _send(words, {"ancestors": ancestors()})
    except BadRequest as error:
        if error.code != "no_agent" or len(given) < 2:
            raise
        return _send(read_text(" ".join(given[1:])).strip(), {"agent": given[0]})


def _send(text: str, target: Json) -> Json:
    found: Json = send_command("agent.note", {"text": text, **target})
    return found
