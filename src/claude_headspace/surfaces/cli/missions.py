"""`headspace mission …` and `headspace report`: send an agent off, see what came of it. Agents run these themselves."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from claude_headspace.surfaces.cli.options import AsJson, complete_agents, now, places

if TYPE_CHECKING:
    from claude_headspace.surfaces.client.api_client import ApiClient, Json

Which = Annotated[str, typer.Argument(metavar="MISSION", help="Id, beginning of the id, or name of its worker.")]
OUTCOMES = ("succeeded", "failed", "abandoned")


def start(
    context: typer.Context,
    goal: Annotated[str, typer.Argument(metavar="GOAL", help="What is to be done; `-` reads it from standard input.")],
    background: Annotated[
        bool, typer.Option("--background", "-b", help="Without a terminal to look at: it ends when it is done.")
    ] = False,
    conversation: Annotated[
        str | None,
        typer.Option("--for", metavar="AGENT", help="Who is told when it is over.", autocompletion=complete_agents),
    ] = None,
    name: Annotated[str, typer.Option("--name", help="What the worker is called; else it gets a name.")] = "",
    role: Annotated[str | None, typer.Option("--role", help="Its role.")] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Start nothing: print what to start a client of your own with.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Send an agent off to do something by itself.

    It runs in a tmux session of its own. An agent that runs this command is told when its worker is back. Arguments
    after `--` are Claude Code's own.
    """
    from claude_headspace.outputs import tmux
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.launch.start_client import find_client

    client = ApiClient.local()
    if not record:
        find_client()
        tmux.require_tmux()
    mode = "background" if background else "mission"
    text = _words(goal)
    begun = client.start_mission(text, str(Path.cwd()), mode, conversation=conversation, name=name, role=role)
    session = None if record else _send_off(client, begun, text, context.args)
    _show_begun(begun, session, as_json)


def _send_off(client: "ApiClient", mission: "Json", goal: str, arguments: "list[str]") -> str:
    """Start the worker in a tmux session of its own; what cannot be started is over."""
    from claude_headspace.errors import HeadspaceError
    from claude_headspace.kernel.mission.messages import worker_prompt
    from claude_headspace.surfaces.launch.start_client import Job, open_session, tmux_name, worker_environment

    worker = mission["workers"][0]["name"]
    headless = ["-p"] if mission["mode"] == "background" else []
    given = [
        "run",
        "--here",
        f"--mission={mission['id']}",
        f"--mode={mission['mode']}",
        worker_prompt(goal),
        *headless,
        *arguments,
    ]
    try:
        open_session(places(), tmux_name(worker), Job(given, worker_environment()), str(Path.cwd()))
    except HeadspaceError as error:
        client.finish_mission(mission["id"], "abandoned", f"it could not be started: {error.message}")
        raise
    return tmux_name(worker)


def _show_begun(mission: "Json", session: str | None, as_json: bool) -> None:
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.missions import begun

    if as_json:
        terminal.write_json({**mission, "tmux_session": session})
        return
    then = [terminal.dim(f"headspace mission show {mission['id'][:8]}")]
    terminal.screen().show(begun(mission, session), then=then)


def list_missions(
    every: Annotated[bool, typer.Option("--all", "-a", help="Also those that ended more than a day ago.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the missions: what was asked, who works on it, what came of it."""
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.missions import missions
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.text.labels import clean_json

    found = ApiClient.local().missions(include_old=every)
    if as_json:
        terminal.write_json(found)
        return
    screen = terminal.screen()
    screen.show(missions(clean_json(found), now(), screen.width))


def show(mission: Which, as_json: AsJson = False) -> None:
    """Show a mission: its sessions, what happened, and its outcome."""
    from claude_headspace.surfaces.client.api_client import ApiClient

    _show(ApiClient.local().mission(mission), as_json)


def _show(mission: "Json", as_json: bool) -> None:
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.missions import mission_portrait
    from claude_headspace.surfaces.text.labels import clean_json

    if as_json:
        terminal.write_json(mission)
        return
    screen = terminal.screen()
    screen.show(mission_portrait(clean_json(mission), now(), screen.width))


def finish(
    mission: Which,
    text: Annotated[str, typer.Argument(metavar="[TEXT]", help="Why.")] = "",
    outcome: Annotated[str, typer.Option("--outcome", "-o", help=", ".join(OUTCOMES) + ".")] = "succeeded",
    as_json: AsJson = False,
) -> None:
    """Say how a mission ended. Its conversation is told."""
    from claude_headspace.errors import BadRequest
    from claude_headspace.surfaces.client.api_client import ApiClient

    if outcome not in OUTCOMES:
        raise BadRequest("bad_outcome", f"There is no outcome {outcome}.", f"There are: {', '.join(OUTCOMES)}.")
    _show(ApiClient.local().finish_mission(mission, outcome, _words(text)), as_json)


def report(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What came of it; `-` reads it from standard input.")],
    failed: Annotated[bool, typer.Option("--failed", help="It could not be done.")] = False,
    mission: Annotated[
        str, typer.Option("--mission", metavar="MISSION", help="Which; without it the one of this session.")
    ] = "mine",
    as_json: AsJson = False,
) -> None:
    """Report what came of your mission, as the worker: that ends it, and your conversation is told."""
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.text.labels import clean_text

    done = ApiClient.local().report(_words(text), mission, failed=failed)
    if as_json:
        terminal.write_json(done)
        return
    told = f"{done['conversation']} is told." if done["conversation"] else "It stands in `headspace mission show`."
    terminal.screen().show([terminal.line(clean_text(f"Reported. {told}"))])


def _words(text: str) -> str:
    return sys.stdin.read() if text == "-" else text
