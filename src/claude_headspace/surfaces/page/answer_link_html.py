"""The HTML of the answer page: a wait with its buttons, or its result. Pure; all texts are escaped."""

from html import escape

from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.views import iso
from claude_headspace.kernel.wait_request import Field, Option, Question

FIELD_PREFIX = "field-"
"""The prefix of input names for the fields of a form."""

BUTTONS = {
    "permission": (("allow", "Allow"), ("deny", "Deny")),
    "plan": (("allow", "Approve"), ("deny", "Keep planning")),
    "question": (("answer", "Answer"), ("deny", "Do not answer")),
    "elicitation": (("accept", "Accept"), ("decline", "Decline"), ("cancel", "Cancel")),
}
"""The buttons for each kind of wait, the default first."""

WITHOUT_VALIDATION = ("deny", "decline", "cancel")
"""Buttons that do not require the fields to be filled in."""

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
        return f"<h1>{escape(given.words.capitalize())}</h1>\n<p>By {escape(given.by)}, {iso(given.at)[:16]} UTC.</p>"
    if wait.closed_at is not None:
        return f"<h1>No longer open</h1>\n<p>{escape((wait.resolution or 'answered').capitalize())}.</p>"
    if (lost := wait.undelivered) is not None:
        text = f"{escape(lost.words.capitalize())} by {escape(lost.by)}, {iso(lost.at)[:16]} UTC"
        return f"<h1>Not delivered</h1>\n<p>{text}: the client did not receive it. Answer in the terminal.</p>"
    return "<h1>Answer in the terminal</h1>\n<p>Headspace can no longer answer this dialog.</p>"


def wait_form(agent: str, project: str, wait: Wait, problem: str = "") -> str:
    """The form of an open wait."""
    parts = [
        f'<p class="who">◆ {escape(agent)} <span>{escape(project)}</span></p>',
        f"<h1>{escape(_title(wait))}</h1>",
        f'<p class="problem" role="alert">{escape(problem)}</p>' if problem else "",
        '<form method="post">',
        *([] if wait.questions else [f"<pre>{escape(wait.summary or wait.text)}</pre>"]),
        *(_question(each, at) for at, each in enumerate(wait.questions)),
        *(_field(each) for each in wait.form),
        _message(wait),
        f'<p class="buttons">{"".join(_buttons(wait))}</p>',
        "</form>",
    ]
    return "\n".join(part for part in parts if part)


def _title(wait: Wait) -> str:
    if wait.kind == "permission" and wait.tool:
        return f"Permission to use {wait.tool}"
    return TITLES.get(wait.kind, "Waiting for you")


def _question(question: Question, at: int) -> str:
    kind = "checkbox" if question.several else "radio"
    options = "".join(_option(kind, f"option{at}", each) for each in question.options)
    free_text = f'<input name="own{at}" placeholder="Other answer" aria-label="Other answer">'
    return f"<fieldset><legend>{escape(question.text)}</legend>{options}{free_text}</fieldset>"


def _option(kind: str, name: str, option: Option) -> str:
    value, description = escape(option.label, quote=True), f" <small>{escape(option.description)}</small>"
    box = f'<input type="{kind}" name="{escape(name, quote=True)}" value="{value}">'
    return f"<label>{box} {escape(option.label)}{description if option.description else ''}</label>"


def _field(field: Field) -> str:
    name, title = escape(FIELD_PREFIX + field.name, quote=True), escape(field.title or field.name)
    description = f"<small>{escape(field.description)}</small>" if field.description else ""
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
    text = escape(option.description or option.label)
    return f'<option value="{value}"{" selected" if selected else ""}>{text}</option>'


def _message(wait: Wait) -> str:
    if wait.kind == "elicitation":
        return ""
    label = "Reason or instructions, if you decline"
    return f'<textarea name="message" rows="2" placeholder="{label}" aria-label="{label}"></textarea>'


def _buttons(wait: Wait) -> list[str]:
    found = [_button(*each) for each in BUTTONS.get(wait.kind, ())]
    if wait.kind == "permission" and wait.suggestions:
        found.insert(1, _button("always", "Always allow"))
    return found


def _button(value: str, label: str) -> str:
    attribute = " formnovalidate" if value in WITHOUT_VALIDATION else ""
    return f'<button name="do" value="{value}"{attribute}>{label}</button>'
