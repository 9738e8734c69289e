"""`headspace rpc`: one command of the socket, for scripts."""

from typing import Annotated

import typer


def rpc(
    command: Annotated[str, typer.Argument(metavar="COMMAND", help="Such as hooks.preToolUse or effort.list.")],
    arguments: Annotated[
        str, typer.Argument(metavar="[JSON]", help="Its arguments; `-` reads them from standard input.")
    ] = "{}",
) -> None:
    """Send one command to the daemon's socket, and print its result as JSON.

    Who asks is told by the environment: AGENT_ID, TMUX_PANE and what Claude Code sets.
    """
    import json
    import sys

    from claude_headspace.errors import BadRequest
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.client.socket_client import send_command

    try:
        given = json.loads(sys.stdin.read() if arguments == "-" else arguments)
    except (ValueError, RecursionError) as error:
        raise BadRequest(
            "bad_json", f"The arguments are not JSON: {error}.", "Quote them: '{\"all\": true}'."
        ) from error
    terminal.write_json(send_command(command, given))
