"""CLI commands that act on the terminal of an agent: `jump`, `interrupt`."""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence

from claude_headspace.config import find_paths
from claude_headspace.errors import BadRequest
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.choose import choose_agent
from claude_headspace.surfaces.cli.options import AgentArgument, AsJson, examples
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.launch.demo import refuse_in_demo
from claude_headspace.surfaces.text.labels import interrupt_result
from claude_headspace.surfaces.tui.actions import TerminalActions


@examples("headspace jump calm-otter")
def jump(agent: AgentArgument = None) -> None:
    """Switch to the tmux pane of an agent.

    Works inside and outside of tmux.
    """
    refuse_in_demo(find_paths())
    done = TerminalActions().jump(choose_agent(ApiClient.local(), agent))
    if done.foreground:
        _require_terminal(done.foreground)
        sys.exit(subprocess.run(done.foreground, check=False).returncode)


def _require_terminal(command: Sequence[str]) -> None:
    """Raise `BadRequest` if a program that needs a terminal would not get one."""
    if not (sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"):
        hint = f"In a terminal, run: {shlex.join(command)}"
        raise BadRequest("no_terminal", "The pane can be shown only in a terminal, and this command has none.", hint)


@examples("headspace interrupt calm-otter")
def interrupt(agent: AgentArgument = None, as_json: AsJson = False) -> None:
    """Press Esc in the terminal of an agent.

    Esc is pressed only if the client of the agent still runs in its pane and is working or shows a dialog: once, or
    twice if the client needs it to interrupt a turn (opencode, Copilot CLI). The command waits a few seconds for the
    client to stop. Background tasks keep running.
    """
    refuse_in_demo(find_paths())
    client = ApiClient.local()
    done = client.interrupt(choose_agent(client, agent, first=("working", "waiting"), acts=True)["id"])
    output.write_result(done, as_json, lambda done, _: [output.line(interrupt_result(done))])
