"""Forms of MCP servers: the fields of a schema, and validation of what a person filled in.

A form is a flat JSON schema: texts, numbers, booleans, one choice, several choices. Every surface shows one input for
each field.

Rules
- Parsing never fails: other parts of a schema are ignored, and the server validates again.
- Every surface uses the same validation. It names the field and the problem.
- Typed text is converted to the type of its field (`filled`); empty fields are left out.
"""

import re
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from claude_headspace.kernel.text import one_line, short
from claude_headspace.kernel.wait_request import Field, Option

MOST_FIELDS = 50
MOST_OPTIONS = 200

Content = dict[str, Any]

YES = ("true", "yes", "y", "on", "1")
NO = ("false", "no", "n", "off", "0")
FORMATS = {
    "email": (re.compile(r"[^@\s]+@[^@\s]+"), "an e-mail address"),
    "uri": (re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:\S+"), "an address such as https://…"),
    "date": (re.compile(r"\d{4}-\d{2}-\d{2}"), "a date such as 2026-12-31"),
    "date-time": (re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}\S*"), "a time such as 2026-12-31T12:00:00Z"),
}


# --- reading a schema -------------------------------------------------------------------------------------------------


def form_of(schema: object) -> tuple[Field, ...]:
    """The fields of a JSON schema, in its order."""
    wanted = _table(schema)
    properties = list(_table(wanted.get("properties")).items())[:MOST_FIELDS]
    required = _list(wanted.get("required"))
    return tuple(_field(name, _table(told), required=name in required) for name, told in properties)


def _field(name: str, told: Content, *, required: bool) -> Field:
    kind, options = _kind(told)
    floor, ceiling = ("minLength", "maxLength") if kind == "text" else ("minimum", "maximum")
    return Field(
        name=name,
        kind=kind,
        title=one_line(_text(told.get("title"))),
        description=one_line(_text(told.get("description"))),
        required=required,
        options=options,
        default=told.get("default") if _is_plain(told.get("default")) else None,
        least=_number(told.get(floor)),
        most=_number(told.get(ceiling)),
        format=short(_text(told.get("format"))),
    )


def _kind(told: Content) -> tuple[str, tuple[Option, ...]]:
    """The kind of input of a property, and its choices."""
    if told.get("type") == "array":
        return "choices", _options(_table(told.get("items")))
    if options := _options(told):
        return "choice", options
    named = _text(told.get("type"))
    return named if named in ("number", "integer", "boolean") else "text", ()


def _options(told: Content) -> tuple[Option, ...]:
    """The values of an enumeration with their titles."""
    titled = told.get("oneOf") or told.get("anyOf")
    if isinstance(titled, list):
        pairs = [(each.get("const"), each.get("title")) for each in titled if isinstance(each, dict)]
    else:
        pairs = list(zip_longest(_list(told.get("enum")), _list(told.get("enumNames"))))
    labelled = [(_text(value), one_line(_text(words))) for value, words in pairs[:MOST_OPTIONS]]
    return tuple(Option(value, words) for value, words in labelled if value)


def _table(value: object) -> Content:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float | bool)


# --- validation -------------------------------------------------------------------------------------------------------


def problem(form: tuple[Field, ...], content: Mapping[str, Any] | None) -> str | None:
    """The first problem of a filled-in form; None if it is valid."""
    given = content or {}
    if unknown := [name for name in given if form and name not in {field.name for field in form}]:
        return f"The form has no field “{unknown[0][:200]}”."
    for field in form:
        value = given.get(field.name)
        if value is None or value in ("", []):
            if field.required:
                return f"The field “{field.name[:200]}” is needed."
        elif wrong := _CHECKS[field.kind](field, value):
            return f"The field “{field.name[:200]}” takes {wrong}."
    return None


def _wrong_text(field: Field, value: object) -> str | None:
    if not isinstance(value, str):
        return "a text"
    if field.least is not None and len(value) < field.least:
        return f"at least {field.least:g} characters"
    if field.most is not None and len(value) > field.most:
        return f"at most {field.most:g} characters"
    pattern, words = FORMATS.get(field.format, (None, ""))
    return words if pattern is not None and not pattern.fullmatch(value) else None


def _wrong_number(field: Field, value: object) -> str | None:
    number = _number(value)
    if number is None or (field.kind == "integer" and not number.is_integer()):
        return "a whole number" if field.kind == "integer" else "a number"
    if field.least is not None and number < field.least:
        return f"at least {field.least:g}"
    return f"at most {field.most:g}" if field.most is not None and number > field.most else None


def _wrong_boolean(_field: Field, value: object) -> str | None:
    return None if isinstance(value, bool) else "yes or no"


def _wrong_choice(field: Field, value: object) -> str | None:
    return None if value in _labels(field) else f"one of: {', '.join(_labels(field))}"


def _wrong_choices(field: Field, value: object) -> str | None:
    fits = isinstance(value, list) and all(each in _labels(field) for each in value)
    return None if fits else f"some of: {', '.join(_labels(field))}"


def _labels(field: Field) -> list[str]:
    return [option.label for option in field.options]


_CHECKS = {
    "text": _wrong_text,
    "number": _wrong_number,
    "integer": _wrong_number,
    "boolean": _wrong_boolean,
    "choice": _wrong_choice,
    "choices": _wrong_choices,
}


# --- conversion -------------------------------------------------------------------------------------------------------


def filled(form: tuple[Field, ...], words: Mapping[str, str | list[str]]) -> Content:
    """Convert typed text to the types of the fields. Invalid text stays as it is, for `problem` to report."""
    kinds = {field.name: field.kind for field in form}
    read = {name: _value(kinds.get(name, "text"), said) for name, said in words.items()}
    return {name: value for name, value in read.items() if value not in ("", [])}


def _value(kind: str, said: str | list[str]) -> object:
    if kind == "choices":
        return [part.strip() for part in said.split(",") if part.strip()] if isinstance(said, str) else said
    text = said if isinstance(said, str) else said[-1] if said else ""
    if kind == "boolean":
        low = text.strip().lower()
        return True if low in YES else False if low in NO else text
    return _as_number(text.strip(), kind) if kind in ("number", "integer") else text


def _as_number(text: str, kind: str) -> object:
    try:
        return int(text) if kind == "integer" or re.fullmatch(r"[-+]?\d+", text) else float(text)
    except ValueError:
        return text
