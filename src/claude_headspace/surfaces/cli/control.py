"""Commands that reach an agent in its terminal: `jump`, `send`, `interrupt`."""

import sys
from typing import Annotated

import typer

from claude_headspace.surfaces.cli.options import Agent, AsJson


def jump(agent: Agent) -> None:
    """Bring an agent's tmux pane before you, also from inside another session."""
    import subprocess

    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.tui.terminal_actions import TerminalActions

    done = TerminalActions().jump(ApiClient.local().agent(agent))
    if done.foreground:
        raise typer.Exit(subprocess.run(done.foreground, check=False).returncode)


def send(
    agent: Agent,
    text: Annotated[list[str], typer.Argument(metavar="TEXT…", help="What to type; - reads standard input.")],
    as_json: AsJson = False,
) -> None:
    """Type a prompt into an agent's terminal, once.

    It is typed only into the pane in which that agent's client still runs, only when it is ready for a prompt, and one
    text at a time. It waits a little for the agent's own word that it has the text.
    """
    import uuid

    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.text.labels import send_result

    words = sys.stdin.read() if text == ["-"] else " ".join(text)
    sent = ApiClient.local().send(agent, words, uuid.uuid4().hex)
    if as_json:
        terminal.write_json(sent)
        return
    terminal.screen().show([terminal.line(send_result(sent))])


def interrupt(agent: Agent, as_json: AsJson = False) -> None:
    """Stop what an agent does: Esc in its terminal, once.

    Only in the pane in which that agent's client still runs, and only while it works or shows a dialog. It waits a
    little for the client to stop, and says so if it goes on: work in the background does.
    """
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.text.labels import interrupt_result

    done = ApiClient.local().interrupt(agent)
    if as_json:
        terminal.write_json(done)
        return
    terminal.screen().show([terminal.line(interrupt_result(done))])
