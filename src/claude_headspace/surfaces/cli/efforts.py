"""`headspace effort …`: begin an effort, log, move on, hand over, finish. Agents run these themselves.

They speak to the daemon's socket, so no token is needed, and the daemon knows whose effort is meant.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claude_headspace.surfaces.cli.options import AsJson, now

if TYPE_CHECKING:
    from claude_headspace.surfaces.client.api_client import Json

Which = Annotated[
    str | None,
    typer.Option("--effort", "-e", metavar="ID", help="Which effort; without it the one of this agent and directory."),
]
Words = Annotated[str, typer.Argument(metavar="TEXT", help="The text; `-` reads it from standard input.")]


def start(
    skill: Annotated[str, typer.Argument(metavar="SKILL", help="The skill, such as brainstorm.")],
    task: Annotated[str | None, typer.Option("--task", metavar="DIR", help="Where; else the project.")] = None,
    title: Annotated[str, typer.Option("--title", help="What the task is about.")] = "",
    keyword: Annotated[list[str] | None, typer.Option("--keyword", help="To find it by; several times.")] = None,
    mode: Annotated[str, typer.Option("--mode", help="How the skill is used.")] = "",
    phase: Annotated[str | None, typer.Option("--phase", help="Where to begin; else the skill's first.")] = None,
    preload: Annotated[
        list[str] | None, typer.Option("--preload", metavar="FILE", help="For every new session.")
    ] = None,
    manager: Annotated[str | None, typer.Option("--manager", help="Who is told what teammates do.")] = None,
    metadata: Annotated[str, typer.Option("--metadata", metavar="JSON", help="Limits, guards and gates.")] = "{}",
    as_json: AsJson = False,
) -> None:
    """Begin an effort here.

    From now on sessions in this project are told what they work on, are reminded to log, and hand over to each other.
    """
    given = {
        "skill": skill,
        "taskDir": task,
        "title": title,
        "keywords": keyword or [],
        "mode": mode,
        "phase": phase,
        "preload": preload or [],
        "manager": manager,
        "metadata": _object(metadata),
    }
    _done("effort.start", given, None, as_json, "begun", "headspace effort log 'what you did'")


def list_efforts(
    every: Annotated[bool, typer.Option("--all", "-a", help="Also those that are finished.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the efforts under way."""
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.efforts import efforts
    from claude_headspace.surfaces.text.labels import clean_json

    found = _call("effort.list", {"all": every}, None)
    if as_json:
        terminal.write_json(found)
        return
    shown = clean_json(found)
    terminal.screen().show(efforts(shown["efforts"], shown["tasks"], now()))


def show(effort: Which = None, as_json: AsJson = False) -> None:
    """Show an effort: its phase, its sessions, its log."""
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.efforts import effort_portrait
    from claude_headspace.surfaces.text.labels import clean_json

    found = _call("effort.show", {}, effort)
    if as_json:
        terminal.write_json(found)
        return
    screen = terminal.screen()
    screen.show(effort_portrait(clean_json(found), now(), screen.width))


def open_session(effort: Which = None, as_json: AsJson = False) -> None:
    """Open the session: prints what it works on, and what was handed over."""
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.text.labels import clean_json

    found = _call("effort.open", {}, effort)
    if as_json:
        terminal.write_json(found)
        return
    texts = [found["context"], *([found["dehydratedContext"]] if found["dehydratedContext"] else [])]
    lines = "\n\n".join(clean_json(texts)).splitlines()
    terminal.screen().show([terminal.line(each) for each in lines])


def phase(
    name: Annotated[str, typer.Argument(metavar="PHASE", help="The phase to move to.")],
    effort: Which = None,
    as_json: AsJson = False,
) -> None:
    """Move to another phase."""
    _done("effort.phase", {"phase": name}, effort, as_json, f"in the phase {name}")


def log(text: Words, effort: Which = None, as_json: AsJson = False) -> None:
    """Write down what was done; the count of tool calls begins anew."""
    _done("effort.log", {"text": _words(text)}, effort, as_json, "logged")


def configure(
    metadata: Annotated[str, typer.Argument(metavar="JSON", help="Fields and values; null takes one away.")],
    effort: Which = None,
    as_json: AsJson = False,
) -> None:
    """Change limits, guards and gates."""
    _done("effort.set", {"metadata": _object(metadata)}, effort, as_json, "changed")


def inject(text: Words, effort: Which = None, as_json: AsJson = False) -> None:
    """Queue a text that the agent gets with its next step, once."""
    _done("effort.inject", {"text": _words(text)}, effort, as_json, "told at its next step")


def dehydrate(
    text: Words,
    file: Annotated[list[str] | None, typer.Option("--file", "-f", help="For the next session to read.")] = None,
    effort: Which = None,
    as_json: AsJson = False,
) -> None:
    """Hand over to the next session: what is done, what is next, what is open."""
    _done("effort.dehydrate", {"text": _words(text), "files": file or []}, effort, as_json, "handed over")


def finish(
    text: Annotated[str, typer.Argument(metavar="[TEXT]", help="A last word.")] = "",
    effort: Which = None,
    as_json: AsJson = False,
) -> None:
    """End an effort."""
    _done("effort.finish", {"text": _words(text)}, effort, as_json, "finished", "headspace effort list --all")


# --- what they share ---


def _call(command: str, arguments: "Json", effort: str | None) -> Any:
    from claude_headspace.surfaces.client.socket_client import send_command

    named = {"effort": effort} if effort else {}
    return send_command(command, {"cwd": str(Path.cwd()), **arguments, **named})


def _done(
    command: str, arguments: "Json", effort: str | None, as_json: bool, done: str, then: str = "headspace effort show"
) -> None:
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.text.labels import clean_text

    found = _call(command, arguments, effort)
    if as_json:
        terminal.write_json(found)
        return
    said = clean_text(f"{found['skill']} #{found['ordinal']} in {found['task_dir']}: {done}.")
    terminal.screen().show([terminal.line(said)], then=[terminal.dim(then)])


def _words(text: str) -> str:
    import sys

    return sys.stdin.read() if text == "-" else text


def _object(text: str) -> "Json":
    import json

    from claude_headspace.errors import BadRequest

    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadRequest("bad_json", "That is no JSON object.", "Quote it: '{\"heartbeat_limit\": 20}'.")
    return found
