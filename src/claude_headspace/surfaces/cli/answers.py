"""CLI commands that answer an agent: `approve`, `deny`, `answer`."""

import sys
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import msgspec

from claude_headspace.clients.capabilities import require
from claude_headspace.clients.client import Capability
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.text import count
from claude_headspace.kernel.wait.forms import convert_values
from claude_headspace.kernel.wait.options import as_label, find_unknown_number, not_an_option, numbered, options_hint
from claude_headspace.kernel.wait.request import Field
from claude_headspace.kernel.wait.request_text import arguments_text
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option
from claude_headspace.surfaces.cli.choose import choose_agent
from claude_headspace.surfaces.cli.options import AgentArgument, AsJson, examples, parse_object
from claude_headspace.surfaces.cli.presentation.requests import request_lines, suggestion_text, verbatim
from claude_headspace.surfaces.client.api_client import ApiClient, Json
from claude_headspace.surfaces.text.clients import answer_limit
from claude_headspace.surfaces.text.formatting import clean_json, cut
from claude_headspace.surfaces.text.labels import answer_result, wait_text

WaitOption = Annotated[
    str | None,
    Option("--wait", "-w", metavar="ID", help="Which wait, if the agent has several. `headspace show` lists the ids."),
]
MAX_LISTED = 80
"""Characters of a request in the list of open requests."""
INCOMPLETE = "Headspace does not have the complete request."
OBJECT_HINT = "Pass a JSON object in single quotes."


@examples("headspace approve calm-otter", "headspace approve calm-otter --grant rule-3f2a9c --yes")
def approve(
    agent: AgentArgument = None,
    grant: Annotated[
        list[str] | None,
        Option(
            "--grant", "-g", metavar="ID", help="Also grant this suggestion; repeatable. `headspace show` lists them."
        ),
    ] = None,
    always: Annotated[
        bool, Option("--always", "-a", help="Lists what can be granted. Use --grant ID to grant it.")
    ] = False,
    new_input: Annotated[
        str | None, Option("--input", metavar="JSON", help="Run the tool with this input instead.")
    ] = None,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    incomplete: Annotated[
        bool, Option("--incomplete", help="Approve even if Headspace does not have the complete request.")
    ] = False,
    wait: WaitOption = None,
    as_json: AsJson = False,
) -> None:
    """Approve a permission request or a plan.

    Shows the complete request and what is granted. On a terminal it asks for confirmation. `--yes` and scripts do not
    ask; the request is printed all the same, and they need `--wait` if several requests are open. If Headspace itself
    does not have the complete request, they need `--incomplete`.
    """
    asks = not yes and not as_json and output.can_ask()
    target = _find_target(agent, wait, "allow", all=True, is_shown=asks)
    granted = _selected(target, grant or [], always=always)
    answer: Json = {"decision": "allow"} | ({"grant": [each["id"] for each in granted]} if granted else {})
    if new_input is not None:
        answer["input"] = parse_object(new_input, "--input", OBJECT_HINT)
    screen = output.screen()
    shown = [
        *_request_lines(target, screen.width),
        *_changed_input_lines(answer, screen.width),
        *_grant_lines(granted, screen.width),
    ]
    is_accepted = incomplete or target.wait["request"]["complete"]
    if asks:
        screen.show([output.line(f"{target.name} {wait_text(target.shown)}"), *shown])
        question = "Allow this?" if target.wait["kind"] == "permission" else "Approve this plan?"
        question = "Allow it with the changed input?" if new_input is not None else question
        if not output.confirm(question if is_accepted else f"{INCOMPLETE} {question}"):
            sys.exit(1)
        shown = []
    elif not is_accepted:
        hint = f"`headspace show {target.name} --full` shows what it has. --incomplete approves it all the same."
        raise BadRequest("request_incomplete", INCOMPLETE, hint)
    _send_answer(target, answer, as_json, shown)


@examples("headspace deny calm-otter", 'headspace deny calm-otter -m "use the test database"')
def deny(
    agent: AgentArgument = None,
    message: Annotated[
        str, Option("--message", "-m", help="Message to the agent: the reason, or what to do instead.")
    ] = "",
    wait: WaitOption = None,
    as_json: AsJson = False,
) -> None:
    """Deny a permission request, a plan or a question.

    The agent continues with your message. Some clients take no message; then nothing is denied, and you are told why.
    """
    target = _find_target(agent, wait, "deny")
    _send_answer(target, {"decision": "deny", "message": message}, as_json)


@examples(
    "headspace answer calm-otter 2",
    'headspace answer calm-otter "SQLite" "unit, browser"',
    "headspace answer calm-otter --field board=7 --field urgent=yes",
)
def answer(
    agent: AgentArgument = None,
    answers: Annotated[
        list[str] | None,
        Argument(
            "ANSWER",
            help="One per question, in order: the number of an option, its label, or free text. Separate several "
            "choices with commas.",
        ),
    ] = None,
    action: Annotated[str | None, Option("--action", help="For an MCP form: accept, decline or cancel.")] = None,
    fields: Annotated[
        list[str] | None,
        Option("--field", "-f", metavar="NAME=VALUE", help="A field of the form; repeatable. Implies accept."),
    ] = None,
    content: Annotated[
        str | None, Option("--content", metavar="JSON", help="The complete form, with --action accept.")
    ] = None,
    wait: WaitOption = None,
    as_json: AsJson = False,
) -> None:
    """Answer the questions of an agent, or fill in an MCP form.

    A number selects an option. `approve` and `deny` answer permission requests and plans.
    """
    target = _find_target(agent, wait, "answer")
    if target.wait["kind"] == "elicitation":
        _send_answer(target, _form_answer(target.wait, action, fields or [], content), as_json)
    else:
        _send_answer(target, {"answers": _choose(target.wait["questions"], answers or [])}, as_json)


# --- the wait ---


class _Target(NamedTuple):
    """The wait to answer, with its complete request: as it arrived, and safe to print."""

    client: ApiClient
    name: str
    wait: Json
    shown: Json
    program: str
    """The client that the agent runs in."""


_OTHER_COMMANDS = {
    ("allow", "question"): ("asks a question.", "Use `headspace answer {name}`."),
    ("allow", "elicitation"): ("asks you to fill in a form.", "Use `headspace answer {name} --field NAME=VALUE`."),
    ("deny", "elicitation"): ("asks you to fill in a form.", "Use `headspace answer {name} --action decline`."),
    ("answer", "permission"): (
        "is waiting for permission, not for an answer.",
        "Use `headspace approve {name}` or `headspace deny {name}`.",
    ),
    ("answer", "plan"): (
        "is waiting for plan approval, not for an answer.",
        "Use `headspace approve {name}` or `headspace deny {name}`.",
    ),
}
"""By answer and kind of wait: why the command does not fit, and which one does."""


def _find_target(
    agent: str | None, wait_id: str | None, answer: str, *, all: bool = False, is_shown: bool = False
) -> _Target:
    """The wait to answer; `all` leaves nothing out that Headspace has. Raises if another command answers it.

    `is_shown`: the request is shown before it is answered. Otherwise the wait must be named if there are several.
    """
    client = ApiClient.local()
    found = choose_agent(client, agent, first=("waiting",), acts=True)
    wait = _select_wait(found, wait_id, answer, is_shown=is_shown)
    problem, hint = _mismatch(answer, wait)
    if problem:
        raise BadRequest("other_command", f"{found['name']} {problem}", hint.format(name=found["name"]))
    if not wait["held_until"] and (obstacle := answer_limit(found, wait)):
        raise BadRequest("only_in_terminal", obstacle, _terminal_hint(found))
    details = client.wait(wait["id"], all=all)
    return _Target(client, found["name"], details, clean_json(details), found["client"])


def _terminal_hint(agent: Json) -> str:
    jump = f" `headspace jump {agent['name']}` shows it." if agent["tmux"]["pane"] else ""
    return f"Answer it in the terminal of the agent.{jump}"


def _select_wait(agent: Json, wait_id: str | None, answer: str, *, is_shown: bool) -> Json:
    """The wait with this id, or the first one that can be answered in this way. Nothing is chosen blindly."""
    waits: list[Json] = agent["waits"]
    chosen = [wait for wait in waits if wait["id"] == wait_id] if wait_id else waits
    if not chosen:
        problem = "That wait is closed." if wait_id else f"{agent['name']} is not waiting for anything."
        raise BadRequest("no_wait", problem, "See `headspace list --state waiting`.")
    candidates = chosen
    for wanted in (
        lambda wait: not wait["answered"],
        lambda wait: not _mismatch(answer, wait)[0],
        lambda wait: wait["held_until"],
    ):
        candidates = [wait for wait in candidates if wanted(wait)] or candidates
    if len(candidates) > 1 and not is_shown:
        raise _ambiguous(agent, candidates)
    return candidates[0]


def _ambiguous(agent: Json, waits: Sequence[Json]) -> BadRequest:
    """Several requests are open, and the command does not say which one it answers."""
    listed = "\n".join(f"  -w {wait['id']}  {cut(wait_text(wait), MAX_LISTED)}" for wait in waits)
    message = f"{agent['name']} has {len(waits)} open requests. Nothing was answered."
    return BadRequest("several_waits", message, f"Say which one:\n{listed}")


def _mismatch(answer: str, wait: Json) -> tuple[str, str]:
    """Why a wait takes no answer of this kind, and what to use instead; both empty if it does."""
    if wait["kind"] == "dialog":
        return "shows a dialog that can be answered only in its terminal.", "Use `headspace jump {name}`."
    if wait["kind"] == "question" and not wait["held_until"] and not wait["questions"]:
        return "asks in plain text.", "Use `headspace send {name} TEXT`."
    return _OTHER_COMMANDS.get((answer, wait["kind"]), ("", ""))


def _send_answer(target: _Target, answer: Json, as_json: bool, then: Sequence[output.Line] = ()) -> None:
    """Send an answer and print what was answered."""
    after = target.client.answer(target.wait["id"], answer)
    if as_json:
        output.write_json(after)
        return
    output.screen().show([output.line(answer_result(target.name, target.shown, clean_json(answer))), *then])


# --- approvals ---


def _selected(target: _Target, ids: list[str], *, always: bool) -> list[Json]:
    """The suggestions with these ids. `--always` does not say which ones, so it is refused with the list."""
    if ids or always:
        require(target.program, Capability.GRANT)
    suggestions: list[Json] = target.shown["suggestions"]
    unknown = [each for each in ids if each not in {known["id"] for known in suggestions}]
    if not unknown and not always:
        return [each for each in suggestions if each["id"] in ids]
    listed = "; ".join(f"{each['id']}: {suggestion_text(each)}" for each in suggestions)
    if unknown:
        raise BadRequest("unknown_grant", f"{unknown[0]} is not a suggestion.", _suggestions_hint(listed))
    raise BadRequest(
        "always_needs_grant", "`--always` does not say what is granted. Use --grant ID.", _suggestions_hint(listed)
    )


def _suggestions_hint(listed: str) -> str:
    return f"Suggestions: {listed}" if listed else "The client suggests nothing to grant; approve without an option."


def _request_lines(target: _Target, width: int) -> list[output.Line]:
    return [output.line("  ", *each) for each in request_lines(target.shown, width - 2)]


def _changed_input_lines(answer: Json, width: int) -> list[output.Line]:
    """The input that runs in place of the requested one."""
    if "input" not in answer:
        return []
    text = arguments_text(clean_json(answer["input"])) or "no arguments"
    lines = [output.line("    ", *each) for each in verbatim(text, width - 4)]
    return [output.line(output.Span("  Changed input, which runs instead:", "strong")), *lines]


def _grant_lines(granted: Sequence[Json], width: int) -> list[output.Line]:
    return [
        each for grant in granted for each in output.hanging(output.line("Grants: "), suggestion_text(grant), width)
    ]


# --- questions and forms ---


def _choose(questions: list[Json], given: list[str]) -> dict[str, list[str] | str]:
    if len(given) != len(questions):
        asked = "; ".join(_question_text(question) for question in questions)
        raise BadRequest(
            "answers_missing",
            f"The agent asks {count(len(questions), 'question')}: {asked}",
            "Pass one ANSWER for each question.",
        )
    return {question["text"]: _picked(question, text) for question, text in zip(questions, given, strict=True)}


def _question_text(question: Json) -> str:
    options = numbered(_labels(question))
    return f"{question['text']} ({options})" if options else str(question["text"])


def _picked(question: Json, text: str) -> list[str] | str:
    """Numbers become the labels of the options; other text stays."""
    is_list = question.get("several") and as_label(text.strip(), _labels(question)) not in _labels(question)
    parts = [part.strip() for part in text.split(",")] if is_list else [text.strip()]
    named = [_label(question, part) for part in parts]
    return named if question.get("several") else named[0]


def _label(question: Json, part: str) -> str:
    """The label of an option by its number or label. What looks like a number but is no option is an error."""
    labels = _labels(question)
    if find_unknown_number([part], labels) is None:
        return as_label(part, labels)
    if not part.isdecimal() or not 0 < int(part) <= len(labels):
        raise BadRequest("no_such_option", not_an_option(part, question["text"]), options_hint(labels))
    return labels[int(part) - 1]


def _labels(question: Json) -> list[str]:
    return [str(option["label"]) for option in question.get("options", ())]


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
