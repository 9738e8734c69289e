"""Forms of MCP servers: the fields of a schema, and validation of what a person filled in.

A form is a flat JSON schema: texts, numbers, booleans, one choice, several choices. Every surface shows one input for
each field.

Rules
- Parsing never fails: other parts of a schema are ignored, and the server validates again.
- Every surface uses the same validation. It names the field and the problem.
- Typed text is converted to the type of its field (`convert_values`); empty fields are left out.
"""

import re
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from claude_headspace.kernel.text import one_line, short
from claude_headspace.kernel.wait.request import Field, Option

MAX_FIELDS = 50
MAX_OPTIONS = 200

Content = dict[str, Any]

YES = ("true", "yes", "y", "on", "1")
NO = ("false", "no", "n", "off", "0")
FORMATS = {
    "email": (re.compile(r"[^@\s]+@[^@\s]+"), "an e-mail address"),
    "uri": (re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:\S+"), "an address such as https://…"),
    "date": (re.compile(r"\d{4}-\d{2}-\d{2}"), "a date such as 2026-12-31"),
    "date-time": (re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}\S*"), "a time such as 2026-12-31T12:00:00Z"),
}


# --- parsing a schema -------------------------------------------------------------------------------------------------


def parse_form(schema: object) -> tuple[Field, ...]:
    """The fields of a JSON schema, in its order."""
    form = _as_object(schema)
    properties = list(_as_object(form.get("properties")).items())[:MAX_FIELDS]
    required = _as_list(form.get("required"))
    return tuple(_parse_field(name, _as_object(value), required=name in required) for name, value in properties)


def _parse_field(name: str, property_schema: Content, *, required: bool) -> Field:
    kind, options = _parse_kind(property_schema)
    default = property_schema.get("default")
    minimum, maximum = ("minLength", "maxLength") if kind == "text" else ("minimum", "maximum")
    return Field(
        name=name,
        kind=kind,
        title=one_line(_as_text(property_schema.get("title"))),
        description=one_line(_as_text(property_schema.get("description"))),
        required=required,
        options=options,
        default=default if isinstance(default, str | int | float | bool) else None,
        least=_as_float(property_schema.get(minimum)),
        most=_as_float(property_schema.get(maximum)),
        format=short(_as_text(property_schema.get("format"))),
    )


def _parse_kind(property_schema: Content) -> tuple[str, tuple[Option, ...]]:
    """The kind of input of a property, and its choices."""
    if property_schema.get("type") == "array":
        return "choices", _parse_options(_as_object(property_schema.get("items")))
    if options := _parse_options(property_schema):
        return "choice", options
    kind = _as_text(property_schema.get("type"))
    return kind if kind in ("number", "integer", "boolean") else "text", ()


def _parse_options(property_schema: Content) -> tuple[Option, ...]:
    """The values of an enumeration with their titles."""
    titled = property_schema.get("oneOf") or property_schema.get("anyOf")
    if isinstance(titled, list):
        pairs = [(each.get("const"), each.get("title")) for each in titled if isinstance(each, dict)]
    else:
        pairs = list(zip_longest(_as_list(property_schema.get("enum")), _as_list(property_schema.get("enumNames"))))
    options = [Option(_as_text(value), one_line(_as_text(title))) for value, title in pairs[:MAX_OPTIONS]]
    return tuple(option for option in options if option.label)


def _as_object(value: object) -> Content:
    return value if isinstance(value, dict) else {}


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _as_float(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


# --- validation -------------------------------------------------------------------------------------------------------


def find_problem(form: tuple[Field, ...], content: Mapping[str, Any] | None) -> str | None:
    """The first problem of a filled-in form; None if it is valid."""
    values = content or {}
    if unknown := [name for name in values if form and name not in {field.name for field in form}]:
        return f"The form has no field “{unknown[0][:200]}”."
    for field in form:
        value = values.get(field.name)
        if value is None or value in ("", []):
            if field.required:
                return f"The field “{field.name[:200]}” is required."
        elif expected := _CHECKS[field.kind](field, value):
            return f"The field “{field.name[:200]}” expects {expected}."
    return None


# Each check returns what the field expects, or None if the value is valid.


def _check_text(field: Field, value: object) -> str | None:
    if not isinstance(value, str):
        return "a text"
    if field.least is not None and len(value) < field.least:
        return f"at least {field.least:g} characters"
    if field.most is not None and len(value) > field.most:
        return f"at most {field.most:g} characters"
    pattern, description = FORMATS.get(field.format, (None, ""))
    return description if pattern is not None and not pattern.fullmatch(value) else None


def _check_number(field: Field, value: object) -> str | None:
    number = _as_float(value)
    if number is None or (field.kind == "integer" and not number.is_integer()):
        return "a whole number" if field.kind == "integer" else "a number"
    if field.least is not None and number < field.least:
        return f"at least {field.least:g}"
    return f"at most {field.most:g}" if field.most is not None and number > field.most else None


def _check_boolean(_field: Field, value: object) -> str | None:
    return None if isinstance(value, bool) else "yes or no"


def _check_choice(field: Field, value: object) -> str | None:
    return None if value in _labels(field) else f"one of: {', '.join(_labels(field))}"


def _check_choices(field: Field, value: object) -> str | None:
    is_valid = isinstance(value, list) and all(each in _labels(field) for each in value)
    return None if is_valid else f"some of: {', '.join(_labels(field))}"


def _labels(field: Field) -> list[str]:
    return [option.label for option in field.options]


_CHECKS = {
    "text": _check_text,
    "number": _check_number,
    "integer": _check_number,
    "boolean": _check_boolean,
    "choice": _check_choice,
    "choices": _check_choices,
}


# --- conversion -------------------------------------------------------------------------------------------------------


def convert_values(form: tuple[Field, ...], typed: Mapping[str, str | list[str]]) -> Content:
    """Convert typed text to the types of the fields. Invalid text stays as it is, for `find_problem` to report."""
    kinds = {field.name: field.kind for field in form}
    values = {name: _convert(kinds.get(name, "text"), text) for name, text in typed.items()}
    return {name: value for name, value in values.items() if value not in ("", [])}


def _convert(kind: str, typed: str | list[str]) -> object:
    if kind == "choices":
        return [part.strip() for part in typed.split(",") if part.strip()] if isinstance(typed, str) else typed
    text = typed if isinstance(typed, str) else typed[-1] if typed else ""
    if kind == "boolean":
        answer = text.strip().lower()
        return True if answer in YES else False if answer in NO else text
    return _convert_number(text.strip(), kind) if kind in ("number", "integer") else text


def _convert_number(text: str, kind: str) -> object:
    try:
        return int(text) if kind == "integer" or re.fullmatch(r"[-+]?\d+", text) else float(text)
    except ValueError:
        return text
