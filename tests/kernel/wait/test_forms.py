"""Forms of MCP servers: parsing a schema, validating an answer, converting typed text."""

from typing import Any

import pytest

from claude_headspace.kernel.wait.forms import MAX_FIELDS, Content, convert_values, find_problem, parse_form
from claude_headspace.kernel.wait.request import Field, Option

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["board", "name"],
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2, "maxLength": 5},
        "mail": {"type": "string", "format": "email"},
        "board": {"type": "integer", "minimum": 1, "maximum": 9, "default": 7},
        "share": {"type": "number", "description": "of  all"},
        "urgent": {"type": "boolean", "default": False},
        "size": {"type": "string", "enum": ["S", "L"], "enumNames": ["small", "large"]},
        "colour": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "b"}]},
        "tags": {"type": "array", "items": {"enum": ["x", "y"]}},
    },
}
FORM = parse_form(SCHEMA)
REQUIRED: Content = {"board": 7, "name": "Ann"}


def test_a_schema_becomes_fields_in_its_order() -> None:
    """Each property becomes a field with kind, texts, limits and options."""
    kinds = ["text", "text", "integer", "number", "boolean", "choice", "choice", "choices"]
    assert [field.kind for field in FORM] == kinds
    assert FORM[0] == Field(name="name", kind="text", title="Your name", required=True, least=2, most=5)
    assert FORM[2] == Field(name="board", kind="integer", required=True, default=7, least=1, most=9)
    assert FORM[3].description == "of all"
    assert FORM[5].options == (Option("S", "small"), Option("L", "large"))
    assert FORM[6].options == (Option("r", "Red"), Option("b"))
    assert FORM[7].options == (Option("x"), Option("y"))


@pytest.mark.parametrize(
    "schema",
    [None, "", [1], {"properties": 3}, {"properties": {"a": 1}, "required": 5}],
)
def test_any_schema_is_parsed(schema: object) -> None:
    """Invalid parts are ignored."""
    assert len(parse_form(schema)) <= 1


def test_the_number_of_fields_is_limited() -> None:
    """A schema with thousands of properties is cut."""
    many: dict[str, Any] = {"properties": {str(number): {} for number in range(5000)}}
    assert len(parse_form(many)) == MAX_FIELDS


@pytest.mark.parametrize(
    "content",
    [
        REQUIRED,
        {
            **REQUIRED,
            "mail": "ann@example.org",
            "share": 0.5,
            "urgent": True,
            "size": "L",
            "colour": "r",
            "tags": ["x"],
        },
        {**REQUIRED, "tags": [], "mail": "", "size": None},
        {**REQUIRED, "share": 3},
    ],
)
def test_valid_content_has_no_problem(content: Content) -> None:
    """Required fields are present and all values match; empty optional fields are accepted."""
    assert find_problem(FORM, content) is None


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "“name” is required"),
        ({"name": "Ann"}, "“board” is required"),
        ({**REQUIRED, "name": "A"}, "at least 2 characters"),
        ({**REQUIRED, "name": "Annabel"}, "at most 5 characters"),
        ({**REQUIRED, "name": 3}, "a text"),
        ({**REQUIRED, "mail": "ann"}, "an e-mail address"),
        ({**REQUIRED, "board": 0}, "at least 1"),
        ({**REQUIRED, "board": 10}, "at most 9"),
        ({**REQUIRED, "board": 1.5}, "a whole number"),
        ({**REQUIRED, "board": "7"}, "a whole number"),
        ({**REQUIRED, "board": True}, "a whole number"),
        ({**REQUIRED, "share": "half"}, "a number"),
        ({**REQUIRED, "urgent": "yes"}, "yes or no"),
        ({**REQUIRED, "size": "M"}, "one of: S, L"),
        ({**REQUIRED, "tags": ["x", "z"]}, "some of: x, y"),
        ({**REQUIRED, "tags": "x"}, "some of: x, y"),
        ({**REQUIRED, "other": 1}, "no field “other”"),
    ],
)
def test_the_first_problem_is_reported(content: Content | None, reason: str) -> None:
    """The message names the field and what it expects."""
    assert reason in (find_problem(FORM, content) or "")


def test_without_a_form_any_content_is_valid() -> None:
    """There are no fields to validate."""
    assert find_problem((), None) is None
    assert find_problem((), {"any": "thing"}) is None


def test_typed_text_is_converted_to_the_type_of_its_field() -> None:
    """Numbers, booleans, comma-separated choices; invalid text stays for the validation."""
    typed: dict[str, str | list[str]] = {
        "board": "7",
        "share": "0.5",
        "urgent": "Yes",
        "tags": "x, y",
        "name": "Ann",
        "mail": "",
    }
    assert convert_values(FORM, typed) == {"board": 7, "share": 0.5, "urgent": True, "tags": ["x", "y"], "name": "Ann"}
    assert convert_values(FORM, {"board": "seven", "urgent": "perhaps"}) == {"board": "seven", "urgent": "perhaps"}
    assert convert_values(FORM, {"urgent": "no", "tags": ["y"], "name": ["Ann"]}) == {
        "urgent": False,
        "tags": ["y"],
        "name": "Ann",
    }
