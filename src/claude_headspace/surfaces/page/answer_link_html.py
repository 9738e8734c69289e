"""The HTML behind a link: a question with its buttons, or that it is over. Pure; texts from elsewhere are escaped."""

from html import escape

from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.views import iso
from claude_headspace.kernel.wait_request import Field, Option, Question

FIELD = "field-"
"""How the inputs of a form's fields are called, before the field's own name."""

BUTTONS = {
    "permission": (("allow", "Allow"), ("deny", "Deny")),
    "plan": (("allow", "Approve"), ("deny", "Keep planning")),
    "question": (("answer", "Answer"), ("deny", "Do not answer")),
    "elicitation": (("accept", "Accept"), ("decline", "Decline"), ("cancel", "Cancel")),
}
"""What can be done about each kind of wait, the usual thing first."""

UNTOUCHED = ("deny", "decline", "cancel")
"""Buttons that need no field to be filled in."""

INPUTS = {"number": ("number", ' step="any"'), "integer": ("number", ' step="1"')}
_YES_NO = {"True": "yes", "False": "no"}
FORMATS = {"email": "email", "uri": "url", "date": "date"}

TITLES = {
    "permission": "asks for a permission",
    "plan": "has a plan",
    "question": "asks",
    "elicitation": "passes on a form",
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

NO_LINK = "<h1>This link leads nowhere</h1>\n<p>It was not made by this Headspace, or is not whole.</p>"
OVER = "<h1>It is over</h1>\n<p>Nobody waits for this answer any more.</p>"


def document(body: str) -> str:
    """A whole page."""
    return DOCUMENT.format(body=body)


def over(wait: Wait) -> str:
    """A wait that takes no answer from here: who was first, or where it can be answered."""
    if wait.answered is not None:
        done = wait.answered
        return f"<h1>{escape(done.words.capitalize())}</h1>\n<p>By {escape(done.by)}, {iso(done.at)[:16]} UTC.</p>"
    if wait.closed_at is not None:
        return f"<h1>It is over</h1>\n<p>{escape((wait.resolution or 'answered').capitalize())}.</p>"
    return "<h1>Only its terminal takes the answer</h1>\n<p>The client does not hold it open any more.</p>"


def ask(agent: str, project: str, wait: Wait, problem: str = "") -> str:
    """A wait with its buttons."""
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
        return f"wants to use {wait.tool}"
    return TITLES.get(wait.kind, "waits")


def _question(question: Question, at: int) -> str:
    kind = "checkbox" if question.several else "radio"
    options = "".join(_option(kind, f"option{at}", each) for each in question.options)
    own = f'<input name="own{at}" placeholder="In your own words" aria-label="In your own words">'
    return f"<fieldset><legend>{escape(question.text)}</legend>{options}{own}</fieldset>"


def _option(kind: str, name: str, option: Option) -> str:
    value, about = escape(option.label, quote=True), f" <small>{escape(option.description)}</small>"
    ticked = f'<input type="{kind}" name="{escape(name, quote=True)}" value="{value}">'
    return f"<label>{ticked} {escape(option.label)}{about if option.description else ''}</label>"


def _field(field: Field) -> str:
    name, words = escape(FIELD + field.name, quote=True), escape(field.title or field.name)
    about = f"<small>{escape(field.description)}</small>" if field.description else ""
    if field.kind == "choices":
        ticks = "".join(_option("checkbox", FIELD + field.name, each) for each in field.options)
        return f"<fieldset><legend>{words}</legend>{about}{ticks}</fieldset>"
    return f'<label class="field">{words}{" *" if field.required else ""} {about}{_input(field, name)}</label>'


def _input(field: Field, name: str) -> str:
    if field.kind in ("choice", "boolean"):
        values = field.options or (Option("yes"), Option("no"))
        usual = _YES_NO.get(str(field.default)) if field.kind == "boolean" else field.default
        choices = "".join(_choice(each, chosen=each.label == usual) for each in values)
        return f'<select name="{name}"><option value=""></option>{choices}</select>'
    kind, more = INPUTS.get(field.kind, (FORMATS.get(field.format, "text"), ""))
    begun = "" if field.default is None else escape(str(field.default), quote=True)
    return f'<input type="{kind}" name="{name}" value="{begun}"{more}{" required" if field.required else ""}>'


def _choice(option: Option, *, chosen: bool) -> str:
    value = escape(option.label, quote=True)
    words = escape(option.description or option.label)
    return f'<option value="{value}"{" selected" if chosen else ""}>{words}</option>'


def _message(wait: Wait) -> str:
    if wait.kind == "elicitation":
        return ""
    words = "If not: why, or what instead"
    return f'<textarea name="message" rows="2" placeholder="{words}" aria-label="{words}"></textarea>'


def _buttons(wait: Wait) -> list[str]:
    found = [_button(*each) for each in BUTTONS.get(wait.kind, ())]
    if wait.kind == "permission" and wait.suggestions:
        found.insert(1, _button("always", "Always allow"))
    return found


def _button(value: str, words: str) -> str:
    free = " formnovalidate" if value in UNTOUCHED else ""
    return f'<button name="do" value="{value}"{free}>{words}</button>'
