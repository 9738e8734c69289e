"""CLI commands that answer an agent: `approve`, `deny`, `answer`."""

from collections.abc import Callable
from typing import Annotated

import msgspec
import typer

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.forms import convert_values
from claude_headspace.kernel.text import count
from claude_headspace.kernel.wait_request import Field
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.options import AgentArgument, AsJson, examples, parse_object
from claude_headspace.surfaces.client.api_client import ApiClient, Json
from claude_headspace.surfaces.text.formatting import clean_json
from claude_headspace.surfaces.text.labels import answer_result, state_text

WaitOption = Annotated[
    str | None,
    typer.Option("--wait", "-w", metavar="ID", help="Which wait, if the agent has several; see `headspace show`."),
]
OBJECT_HINT = "Pass a JSON object in single quotes."


@examples("headspace approve calm-otter", "headspace approve calm-otter --always")
def approve(
    agent: AgentArgument,
    always: Annotated[
        bool, typer.Option("--always", "-a", help="Also apply the permission rules that Claude Code suggests.")
    ] = False,
    new_input: Annotated[
        str | None, typer.Option("--input", metavar="JSON", help="Run the tool with this input instead.")
    ] = None,
    wait: WaitOption = None,
    as_json: AsJson = False,
) -> None:
    """Approve a permission request or a plan."""
    answer: Json = {"decision": "allow", "always": always}
    if new_input is not None:
        answer["input"] = parse_object(new_input, "--input", OBJECT_HINT)
    _send_answer(agent, wait, lambda _name, _wait: answer, as_json)


@examples("headspace deny calm-otter", 'headspace deny calm-otter -m "use the test database"')
def deny(
    agent: AgentArgument,
    message: Annotated[
        str, typer.Option("--message", "-m", help="Message to the agent: the reason, or what to do instead.")
    ] = "",
    wait: WaitOption = None,
    as_json: AsJson = False,
) -> None:
    """Deny a permission request, a plan or a question.

    The agent continues with your message.
    """
    _send_answer(agent, wait, lambda _name, _wait: {"decision": "deny", "message": message}, as_json)


@examples(
    "headspace answer calm-otter 2",
    'headspace answer calm-otter "SQLite" "unit, browser"',
    "headspace answer calm-otter --field board=7 --field urgent=yes",
)
def answer(
    agent: AgentArgument,
    answers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ANSWER",
            help="One per question, in order: the number of an option, its label, or free text. Separate several "
            "choices with commas.",
        ),
    ] = None,
    action: Annotated[str | None, typer.Option("--action", help="For an MCP form: accept, decline or cancel.")] = None,
    fields: Annotated[
        list[str] | None,
        typer.Option("--field", "-f", metavar="NAME=VALUE", help="A field of the form; repeatable. Implies accept."),
    ] = None,
    content: Annotated[
        str | None, typer.Option("--content", metavar="JSON", help="The complete form, with --action accept.")
    ] = None,
    wait: WaitOption = None,
    as_json: AsJson = False,
) -> None:
    """Answer the questions of an agent, or fill in an MCP form."""

    def compose(name: str, found: Json) -> Json:
        match found["kind"]:
            case "elicitation":
                return _form_answer(found, action, fields or [], content)
            case "plan" | "permission":
                raise BadRequest(
                    "answers_missing",
                    f"{name} is {state_text('waiting', found['kind'])}, not for an answer.",
                    f"Use `headspace approve {name}` or `headspace deny {name}`.",
                )
            case _:
                return {"answers": _choose(found["questions"], answers or [])}

    _send_answer(agent, wait, compose, as_json)


# --- shared ---


def _send_answer(agent: str, wait_id: str | None, compose: Callable[[str, Json], Json], as_json: bool) -> None:
    client = ApiClient.local()
    found = client.agent(agent)
    wait = _select_wait(found, wait_id)
    after = client.answer(wait["id"], compose(found["name"], wait))
    if as_json:
        output.write_json(after)
        return
    result = after["answered"]["words"] if after["answered"] else "answered"
    output.screen().show([output.line(answer_result(result, found["name"], clean_json(wait)))])


def _select_wait(agent: Json, wait_id: str | None) -> Json:
    """The wait with this id, or the newest that can be answered."""
    waits: list[Json] = agent["waits"]
    chosen = [wait for wait in waits if wait["id"] == wait_id] if wait_id else waits
    held = [wait for wait in chosen if wait["held_until"]] or chosen
    if not held:
        problem = "That wait is closed." if wait_id else f"{agent['name']} is not waiting for anything."
        raise BadRequest("no_wait", problem, "See `headspace list --state waiting`.")
    return held[-1]


def _choose(questions: list[Json], given: list[str]) -> dict[str, list[str] | str]:
    if len(given) != len(questions):
        asked = "; ".join(question["text"] for question in questions) or "none that can be answered with text"
        raise BadRequest(
            "answers_missing",
            f"The agent asks {count(len(questions), 'question')}: {asked}",
            "Pass one ANSWER for each question.",
        )
    return {question["text"]: _picked(question, text) for question, text in zip(questions, given, strict=True)}


def _picked(question: Json, text: str) -> list[str] | str:
    """Numbers become the labels of the options; other text stays."""
    labels = [option["label"] for option in question.get("options", ())]
    parts = [part.strip() for part in text.split(",")] if question.get("several") else [text.strip()]
    named = [labels[int(part) - 1] if part.isdigit() and 0 < int(part) <= len(labels) else part for part in parts]
    return named if question.get("several") else named[0]


def _form_answer(wait: Json, action: str | None, fields: list[str], content: str | None) -> Json:
    """The answer to a form. Fields imply `accept`; without fields, content or action nothing is assumed."""
    if action is None and not fields and content is None:
        names = ", ".join(field["name"] for field in wait["form"]) or "none"
        raise BadRequest(
            "form_empty",
            f"The agent waits for a form with these fields: {names}.",
            "Use --field NAME=VALUE, or --action decline.",
        )
    if content is not None:
        return {"action": action or "accept", "content": parse_object(content, "--content", OBJECT_HINT)}
    return {"action": action or "accept", **({"content": _fill_form(wait, fields)} if fields else {})}


def _fill_form(wait: Json, fields: list[str]) -> Json:
    pairs = [field.partition("=") for field in fields]
    if unnamed := next((name for name, sign, _ in pairs if not (name and sign)), None):
        raise BadRequest("bad_field", f"--field {unnamed} has no value.", "Write --field NAME=VALUE.")
    return convert_values(msgspec.convert(wait["form"], tuple[Field, ...]), {name: value for name, _, value in pairs})
