"""`headspace effort …`: start an effort, log, change the phase, hand over, finish. Agents run these commands, too.

They use the socket of the daemon. It needs no token, and it identifies the agent that runs the command.
"""

from pathlib import Path
from typing import Annotated, Any

from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option
from claude_headspace.surfaces.cli.options import AsJson, examples, now, parse_object, read_text
from claude_headspace.surfaces.cli.presentation.efforts import effort_lines, effort_table
from claude_headspace.surfaces.client.socket_client import send_command
from claude_headspace.surfaces.text.formatting import clean_text

Json = dict[str, Any]

EffortOption = Annotated[
    str | None,
    Option("--effort", "-e", metavar="ID", help="Which effort; default: that of this agent and directory."),
]
TextArgument = Annotated[str, Argument("TEXT", help="The text; `-` reads standard input.")]
OBJECT_HINT = "Quote it: '{\"heartbeat_limit\": 20}'."


@examples(
    "headspace effort start brainstorm --title 'Faster checkout'",
    "headspace effort start fix --metadata '{\"heartbeat_limit\": 20}'",
)
def start(
    skill: Annotated[str, Argument("SKILL", help="The skill, such as brainstorm.")],
    task: Annotated[
        str | None, Option("--task", metavar="DIR", help="Directory of the task; default: the project.")
    ] = None,
    title: Annotated[str, Option("--title", help="Title of the task.")] = "",
    keyword: Annotated[list[str] | None, Option("--keyword", help="Keyword to find the task by; repeatable.")] = None,
    mode: Annotated[str, Option("--mode", help="Mode of the skill.")] = "",
    phase: Annotated[str | None, Option("--phase", help="First phase; default: the first one of the skill.")] = None,
    preload: Annotated[
        list[str] | None,
        Option("--preload", metavar="FILE", help="File that every new session reads; repeatable."),
    ] = None,
    manager: Annotated[
        str | None, Option("--manager", metavar="AGENT", help="Agent that receives the messages of the team.")
    ] = None,
    metadata: Annotated[str, Option("--metadata", metavar="JSON", help="Limits, guards and gates.")] = "{}",
    as_json: AsJson = False,
) -> None:
    """Start an effort in this directory.

    Sessions in this project then start with the effort in their context, are reminded to log, and hand over to each
    other.
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
        "metadata": _metadata(metadata),
    }
    _send_and_show("effort.start", given, None, as_json, "started", "headspace effort log 'what you did'")


@examples("headspace effort list", "headspace effort list --all")
def list_efforts(
    show_all: Annotated[bool, Option("--all", "-a", help="Efforts of all directories, with finished ones.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the active efforts of this directory."""
    found = _send("effort.list", {"all": show_all, "here": not show_all}, None)
    output.write_result(
        found, as_json, lambda found, _: effort_table(found["efforts"], found["tasks"], now(), here=not show_all)
    )


@examples("headspace effort show", "headspace effort show 019d3a5b", "headspace effort show --json | jq .messages")
def show(
    reference: Annotated[
        str | None, Argument("ID", help="Which effort; default: that of this agent and directory.")
    ] = None,
    effort: EffortOption = None,
    as_json: AsJson = False,
) -> None:
    """Show an effort: its phase, sessions and log."""
    found = _send("effort.show", {}, reference or effort)
    output.write_result(found, as_json, lambda found, screen: effort_lines(found, now(), screen.width))


@examples("headspace effort open")
def open_session(effort: EffortOption = None, as_json: AsJson = False) -> None:
    """Open the session: print its context and the handover."""
    found = _send("effort.open", {}, effort)
    output.write_result(found, as_json, lambda found, _: _context_lines(found))


def _context_lines(found: Json) -> list[output.Line]:
    documents = f"Read these documents first: {', '.join(found['documents'])}" if found["documents"] else ""
    texts = [text for text in (found["context"], found["dehydratedContext"], documents) if text]
    return [output.line(each) for each in "\n\n".join(texts).splitlines()]


@examples("headspace effort phase testing")
def phase(
    name: Annotated[str, Argument("PHASE", help="The phase to move to.")],
    effort: EffortOption = None,
    as_json: AsJson = False,
) -> None:
    """Move to another phase."""
    _send_and_show("effort.phase", {"phase": name}, effort, as_json, f"moved to the phase {name}")


@examples("headspace effort log 'The cache was stale; fixed in load().'")
def log(text: TextArgument, effort: EffortOption = None, as_json: AsJson = False) -> None:
    """Log what was done.

    Resets the count of tool calls without a log entry.
    """
    _send_and_show("effort.log", {"text": read_text(text)}, effort, as_json, "logged")


@examples('headspace effort set \'{"gates": {"directives": ["AGENTS.md"]}}\'')
def configure(
    metadata: Annotated[str, Argument("JSON", help="Fields and values; null removes a field.")],
    effort: EffortOption = None,
    as_json: AsJson = False,
) -> None:
    """Change limits, guards and gates."""
    _send_and_show("effort.set", {"metadata": _metadata(metadata)}, effort, as_json, "changed")


@examples("headspace effort inject 'The API changed: see docs/api.md'")
def inject(text: TextArgument, effort: EffortOption = None, as_json: AsJson = False) -> None:
    """Queue a text for the next step of the agent.

    The agent receives it once.
    """
    _send_and_show("effort.inject", {"text": read_text(text)}, effort, as_json, "text queued for the next step")


@examples("headspace effort dehydrate 'Done: … Next: …' --file src/load.py")
def dehydrate(
    text: TextArgument,
    file: Annotated[
        list[str] | None, Option("--file", "-f", help="File for the next session to read; repeatable.")
    ] = None,
    effort: EffortOption = None,
    as_json: AsJson = False,
) -> None:
    """Store the handover for the next session.

    The text says what is done, what is next and what is open.
    """
    _send_and_show(
        "effort.dehydrate", {"text": read_text(text), "files": file or []}, effort, as_json, "handover stored"
    )


@examples("headspace effort finish 'Released.'")
def finish(
    text: Annotated[str, Argument("TEXT", help="A closing remark.")] = "",
    effort: EffortOption = None,
    as_json: AsJson = False,
) -> None:
    """Finish an effort."""
    given = {"text": read_text(text)}
    _send_and_show("effort.finish", given, effort, as_json, "finished", "headspace effort list --all")


# --- shared ---


def _send(command: str, arguments: Json, effort: str | None) -> Any:
    named = {"effort": effort} if effort else {}
    return send_command(command, {"cwd": str(Path.cwd()), **arguments, **named})


def _send_and_show(
    command: str, arguments: Json, effort: str | None, as_json: bool, done: str, then: str = "headspace effort show"
) -> None:
    found = _send(command, arguments, effort)
    if as_json:
        output.write_json(found)
        return
    text = clean_text(f"{found['skill']} #{found['ordinal']} in {found['task_dir']}: {done}.")
    output.screen().show([output.line(text)], then=[output.dim(then)])


def _metadata(text: str) -> Json:
    return parse_object(text, "The metadata", OBJECT_HINT)
