"""Commands that answer for the human: `approve`, `deny`, `answer`."""

from typing import Annotated, Any

import typer

from claude_headspace.surfaces.cli.options import Agent, AsJson

Json = dict[str, Any]

Which = Annotated[
    str | None, typer.Option("--wait", "-w", metavar="ID", help="Which wait, if the agent has several; see `show`.")
]


def approve(
    agent: Agent,
    always: Annotated[
        bool, typer.Option("--always", "-a", help="And from now on: take up the rules that Claude Code suggests.")
    ] = False,
    new_input: Annotated[
        str | None, typer.Option("--input", metavar="JSON", help="Let the tool run with this input instead of its own.")
    ] = None,
    wait: Which = None,
    as_json: AsJson = False,
) -> None:
    """Allow what an agent asks permission for, or approve its plan."""
    answer: Json = {"decision": "allow", "always": always}
    if new_input is not None:
        answer["input"] = _json(new_input, "--input")
    _give(agent, wait, lambda _wait: answer, as_json)


def deny(
    agent: Agent,
    message: Annotated[str, typer.Option("--message", "-m", help="What the agent is told: why, or what instead.")] = "",
    wait: Which = None,
    as_json: AsJson = False,
) -> None:
    """Say no to a permission, a plan or a question. The agent goes on with your message."""
    _give(agent, wait, lambda _wait: {"decision": "deny", "message": message}, as_json)


def answer(
    agent: Agent,
    answers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ANSWER…",
            help="One for each question, in order: the number of an option, its label, or words of your own; "
            "several with commas.",
        ),
    ] = None,
    action: Annotated[
        str | None, typer.Option("--action", help="For a form of an MCP server: accept, decline or cancel.")
    ] = None,
    fields: Annotated[
        list[str] | None,
        typer.Option(
            "--field", "-f", metavar="NAME=VALUE", help="One field of that form; may be repeated. Accepts it."
        ),
    ] = None,
    content: Annotated[
        str | None, typer.Option("--content", metavar="JSON", help="The whole form instead, with --action accept.")
    ] = None,
    wait: Which = None,
    as_json: AsJson = False,
) -> None:
    """Answer the questions of an agent, or fill in the form of an MCP server."""

    def composed(found: Json) -> Json:
        if found["kind"] != "elicitation":
            return {"answers": _chosen(found["questions"], answers or [])}
        return _form(found, action, fields or [], content)

    _give(agent, wait, composed, as_json)


# --- what they share ---


def _give(agent: str, wait_id: str | None, composed: Any, as_json: bool) -> None:
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.text.labels import clean_json, wait_text

    client = ApiClient.local()
    found = client.agent(agent)
    wait = _wanted(found, wait_id)
    after = client.answer(wait["id"], composed(wait))
    if as_json:
        terminal.write_json(after)
        return
    words = after["answered"]["words"] if after["answered"] else "answered"
    terminal.screen().show([terminal.line(f"{words.capitalize()}: {found['name']} {clean_json(wait_text(wait))}")])


def _wanted(agent: Json, wait_id: str | None) -> Json:
    """The wait that is meant: the one that was named, else the newest that can be answered."""
    from claude_headspace.errors import BadRequest

    waits: list[Json] = agent["waits"]
    chosen = [wait for wait in waits if wait["id"] == wait_id] if wait_id else waits
    held = [wait for wait in chosen if wait["held_until"]] or chosen
    if not held:
        what = "That wait is over." if wait_id else f"{agent['name']} waits for nothing."
        raise BadRequest("no_wait", what, "See `headspace list --state waiting`.")
    return held[-1]


def _chosen(questions: list[Json], given: list[str]) -> dict[str, list[str] | str]:
    from claude_headspace.errors import BadRequest

    if len(given) != len(questions):
        asked = "; ".join(question["text"] for question in questions) or "nothing that can be answered in words"
        raise BadRequest(
            "answers_missing", f"It asks {len(questions)} questions: {asked}", "Give one ANSWER for each, in quotes."
        )
    return {question["text"]: _picked(question, text) for question, text in zip(questions, given, strict=True)}


def _picked(question: Json, text: str) -> list[str] | str:
    """Numbers become the labels that they stand for; other words stay as they are."""
    labels = [option["label"] for option in question.get("options", ())]
    parts = [part.strip() for part in text.split(",")] if question.get("several") else [text.strip()]
    named = [labels[int(part) - 1] if part.isdigit() and 0 < int(part) <= len(labels) else part for part in parts]
    return named if question.get("several") else named[0]


def _form(wait: Json, action: str | None, fields: list[str], content: str | None) -> Json:
    """The answer to a form: with fields it is accepted; without a word of it nothing is guessed."""
    from claude_headspace.errors import BadRequest

    if action is None and not fields and content is None:
        names = ", ".join(field["name"] for field in wait["form"]) or "none"
        raise BadRequest(
            "form_empty", f"It is a form. Its fields: {names}.", "Use --field NAME=VALUE, or --action decline."
        )
    if content is not None:
        return {"action": action or "accept", "content": _json(content, "--content")}
    return {"action": action or "accept", **({"content": _filled(wait, fields)} if fields else {})}


def _filled(wait: Json, fields: list[str]) -> Json:
    import msgspec

    from claude_headspace.errors import BadRequest
    from claude_headspace.kernel.forms import convert_values
    from claude_headspace.kernel.wait_request import Field

    pairs = [field.partition("=") for field in fields]
    if unnamed := next((name for name, sign, _ in pairs if not (name and sign)), None):
        raise BadRequest("bad_field", f"--field {unnamed} has no value.", "Write --field NAME=VALUE.")
    return convert_values(msgspec.convert(wait["form"], tuple[Field, ...]), {name: value for name, _, value in pairs})


def _json(text: str, option: str) -> Json:
    import json

    from claude_headspace.errors import BadRequest

    try:
        found = json.loads(text)
    except ValueError as error:
        raise BadRequest("bad_json", f"{option} is not JSON: {error}.", "Put an object in single quotes.") from error
    if not isinstance(found, dict):
        raise BadRequest("bad_json", f"{option} is no JSON object.", "Put an object in single quotes.")
    return found
