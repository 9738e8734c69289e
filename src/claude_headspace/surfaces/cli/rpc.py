"""The CLI command `rpc`: sends one socket command, for scripts."""

import json
from typing import Annotated

from claude_headspace.errors import BadRequest
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument
from claude_headspace.surfaces.cli.options import examples, read_text
from claude_headspace.surfaces.client.socket_client import send_command


@examples("headspace rpc ping", "headspace rpc effort.list '{\"all\": true}'", "headspace rpc hooks.stop - <a.json")
def rpc(
    command: Annotated[str, Argument("COMMAND", help="Such as hooks.preToolUse or effort.list.")],
    arguments: Annotated[str, Argument("JSON", help="Arguments of the command; `-` reads standard input.")] = "{}",
) -> None:
    """Send one command to the socket of the daemon.

    Prints the result as JSON. The environment identifies the agent: AGENT_ID, TMUX_PANE and the variables of Claude
    Code.
    """
    try:
        given = json.loads(read_text(arguments))
    except (ValueError, RecursionError) as error:
        raise BadRequest(
            "bad_json", f"The arguments are not valid JSON: {error}.", "Quote them: '{\"all\": true}'."
        ) from error
    output.write_json(send_command(command, given))
