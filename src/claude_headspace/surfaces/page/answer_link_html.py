"""The HTML of the answer page: a wait with its buttons, or its result. Pure; all texts are escaped.

Rules
- The buttons follow the complete request, so they are reached only after its end. While a part is left out that can be
  shown, the button that allows is disabled.
- Only a visible button answers, never Enter in a field.
- Nothing is granted beyond the request unless it is selected.
"""

from collections.abc import Sequence
from html import escape

from claude_headspace.kernel.agent import Answered, Wait
from claude_headspace.kernel.hidden_characters import make_visible
from claude_headspace.kernel.text import iso
from claude_headspace.kernel.wait.answers import CANNOT_ANSWER, UNCONFIRMED
from claude_headspace.kernel.wait.request import Field, Option, Question
from claude_headspace.kernel.wait.views import GrantOptionView, WaitDetailsView
from claude_headspace.surfaces.page.request_html import SHOW_ALL_LINK, agent_text, request_html

FIELD_PREFIX = "field-"
"""The prefix of input names for the fields of a form."""

BUTTONS = {
    "permission": (("allow", "Allow"), ("deny", "Deny")),
    "plan": (("allow", "Approve"), ("deny", "Keep planning")),
    "question": (("answer", "Answer"), ("deny", "Decline to answer")),
    "elicitation": (("accept", "Accept"), ("decline", "Decline"), ("cancel", "Cancel")),
}
"""The buttons for each kind of wait, the default first."""

DEFAULT_BUTTONS = '<button disabled hidden></button><button name="do" value="" formnovalidate hidden></button>'
"""What Enter presses: nothing in a text field, a button without an answer on a checkbox. Browsers skip the disabled
button only on a checkbox."""

REFUSALS = ("deny", "decline", "cancel")
"""Buttons that allow nothing: they need neither the whole request nor filled-in fields."""

NOT_SHOWN = "A part of the request is left out. Show all of it before you allow it."

INPUTS = {"number": ("number", ' step="any"'), "integer": ("number", ' step="1"')}
_YES_NO = {"True": "yes", "False": "no"}
FORMATS = {"email": "email", "uri": "url", "date": "date"}

TITLES = {
    "permission": "Permission requested",
    "plan": "Plan for approval",
    "question": "Question",
    "elicitation": "Form of an MCP server",
}

DOCUMENT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Headspace</title>
<link rel="stylesheet" href="/answer.css">
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""

INVALID_LINK = "<h1>Invalid link</h1>\n<p>This link is incomplete, or it belongs to another installation.</p>"
CLOSED = "<h1>No longer open</h1>\n<p>The agent does not need this answer any more.</p>"


def document(body: str) -> str:
    """A complete page."""
    return DOCUMENT.format(body=body)


def closed_wait(wait: Wait) -> str:
    """A wait that cannot be answered here: who answered, or where it can be answered."""
    if wait.answered is not None:
        given = wait.answered
        return (
            f"<h1>{agent_text(_answered_text(given))}</h1>\n<p>By {agent_text(given.by)}, {iso(given.at)[:16]} UTC.</p>"
        )
    if wait.closed_at is not None:
        return f"<h1>No longer open</h1>\n<p>{agent_text((wait.resolution or 'answered').capitalize())}.</p>"
    if (lost := wait.undelivered) is not None:
        text = f"{agent_text(_answered_text(lost))} by {agent_text(lost.by)}, {iso(lost.at)[:16]} UTC"
        why = f" {agent_text(lost.problem)}" if lost.problem else ""
        is_lost = not lost.problem.startswith(UNCONFIRMED)
        title = "Not delivered" if is_lost else "Not confirmed"
        result = "the client did not receive it." if is_lost else "the client did not confirm it."
        return f"<h1>{title}</h1>\n<p>{text}: {result}{why} Answer in the terminal.</p>"
    return f"<h1>Answer in the terminal</h1>\n<p>{agent_text(wait.obstacle or CANNOT_ANSWER)}</p>"


def _answered_text(given: Answered) -> str:
    """What was answered, with everything that was granted."""
    granted = "; ".join(each.words for each in given.grants)
    words = f"allowed, and granted: {granted}" if granted else given.words
    return words[:1].upper() + words[1:]


def wait_form(
    agent: str, project: str, wait: WaitDetailsView, problem: str = "", *, is_all: bool = False, no_message: str = ""
) -> str:
    """The form of an open wait.

    `is_all`: everything that Headspace has is shown. `no_message`: why the agent would not get a message.
    """
    is_shown = is_all or wait.request.complete
    parts = [
        f'<p class="who">◆ {agent_text(agent)} <span>{agent_text(project)}</span></p>',
        f"<h1>{_title(wait)}</h1>",
        f'<p class="problem" role="alert">{agent_text(problem)}</p>' if problem else "",
        request_html(wait, is_all=is_all),
        '<form method="post">',
        DEFAULT_BUTTONS,
        *(_question(each, at) for at, each in enumerate(wait.questions)),
        *(_field(each) for each in wait.form),
        _grants(wait.suggestions) if wait.kind == "permission" else "",
        _message(wait, no_message),
        "" if is_shown else f'<p class="problem">{NOT_SHOWN} {SHOW_ALL_LINK}</p>',
        _buttons(wait.kind, is_shown=is_shown),
        "</form>",
    ]
    return "\n".join(part for part in parts if part)


def _title(wait: WaitDetailsView) -> str:
    if wait.kind == "permission" and wait.tool:
        return f"Permission to use {agent_text(wait.tool)}"
    return TITLES.get(wait.kind, "Waiting for you")


def _question(question: Question, at: int) -> str:
    kind = "checkbox" if question.several else "radio"
    options = "".join(_option(kind, f"option{at}", each) for each in question.options)
    free_text = f'<input name="own{at}" placeholder="Other answer" aria-label="Other answer">'
    return f"<fieldset><legend>{agent_text(question.text)}</legend>{options}{free_text}</fieldset>"


def _grants(options: Sequence[GrantOptionView]) -> str:
    """What can be granted with the request, each on its own."""
    boxes = "".join(_grant(each) for each in options)
    return f"<fieldset><legend>If allowed, also allow from now on</legend>{boxes}</fieldset>" if boxes else ""


def _grant(option: GrantOptionView) -> str:
    warning = f"<small>{option.warning}</small>" if option.warning else ""
    box = f'<input type="checkbox" name="grant" value="{escape(option.id, quote=True)}">'
    return f"<label>{box} {agent_text(option.words)} <small>{agent_text(option.lifetime)}</small>{warning}</label>"


def _option(kind: str, name: str, option: Option) -> str:
    value, description = escape(option.label, quote=True), f" <small>{agent_text(option.description)}</small>"
    box = f'<input type="{kind}" name="{escape(name, quote=True)}" value="{value}">'
    return f"<label>{box} {agent_text(option.label)}{description if option.description else ''}</label>"


def _field(field: Field) -> str:
    name, title = escape(FIELD_PREFIX + field.name, quote=True), agent_text(field.title or field.name)
    description = f"<small>{agent_text(field.description)}</small>" if field.description else ""
    if field.kind == "choices":
        boxes = "".join(_option("checkbox", FIELD_PREFIX + field.name, each) for each in field.options)
        return f"<fieldset><legend>{title}</legend>{description}{boxes}</fieldset>"
    return f'<label class="field">{title}{" *" if field.required else ""} {description}{_input(field, name)}</label>'


def _input(field: Field, name: str) -> str:
    if field.kind in ("choice", "boolean"):
        values = field.options or (Option("yes"), Option("no"))
        default = _YES_NO.get(str(field.default)) if field.kind == "boolean" else field.default
        choices = "".join(_choice(each, selected=each.label == default) for each in values)
        return f'<select name="{name}"><option value=""></option>{choices}</select>'
    kind, attributes = INPUTS.get(field.kind, (FORMATS.get(field.format, "text"), ""))
    value = "" if field.default is None else escape(str(field.default), quote=True)
    return f'<input type="{kind}" name="{name}" value="{value}"{attributes}{" required" if field.required else ""}>'


def _choice(option: Option, *, selected: bool) -> str:
    value = escape(option.label, quote=True)
    text = escape(make_visible(option.description or option.label))
    return f'<option value="{value}"{" selected" if selected else ""}>{text}</option>'


def _message(wait: WaitDetailsView, no_message: str) -> str:
    if wait.kind == "elicitation":
        return ""
    if no_message:
        return f"<p><small>{agent_text(no_message)}</small></p>"
    label = "Reason or instructions, if you decline"
    return f'<textarea name="message" rows="2" placeholder="{label}" aria-label="{label}"></textarea>'


def _buttons(kind: str, *, is_shown: bool) -> str:
    buttons = "".join(_button(*each, is_shown=is_shown) for each in BUTTONS.get(kind, ()))
    return f'<p class="buttons">{buttons}</p>'


def _button(value: str, label: str, *, is_shown: bool) -> str:
    attribute = " formnovalidate" if value in REFUSALS else "" if is_shown else " disabled"
    return f'<button name="do" value="{value}"{attribute}>{label}</button>'
