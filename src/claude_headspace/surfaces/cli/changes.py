"""The CLI command `diff`: what an agent changed."""

from typing import Annotated

from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Option
from claude_headspace.surfaces.cli.choose import choose_agent
from claude_headspace.surfaces.cli.options import AgentArgument, AsJson, examples
from claude_headspace.surfaces.cli.presentation.changes import change_lines, stat_lines
from claude_headspace.surfaces.client.api_client import ApiClient


@examples("headspace diff calm-otter", "headspace diff calm-otter --command latest", "headspace diff calm-otter --stat")
def diff(
    agent: AgentArgument = None,
    command: Annotated[
        str | None,
        Option("--command", "-c", help="Only one command: its number (1 is the first), its id, or `latest`."),
    ] = None,
    stat: Annotated[bool, Option("--stat", help="List the files and counts without diffs.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what an agent changed: files, diffs and commits.

    The changes come from the tool calls of the agent and, in a repository, from git. On a terminal, long output is
    shown with $PAGER.
    """
    client = ApiClient.local()
    changes = client.changes(choose_agent(client, agent)["id"], command)
    if as_json:
        output.write_json(changes)
    else:
        screen = output.screen()
        width = screen.width if screen.is_interactive else output.UNLIMITED_WIDTH
        screen.show_in_pager(stat_lines(changes) if stat else change_lines(changes, width))
