"""Forms of MCP servers: what a schema asks for, what is wrong with an answer, and what typed words mean."""

from typing import Any

import pytest

from claude_headspace.kernel.forms import MAX_FIELDS, Content, convert_values, find_problem, parse_form
from claude_headspace.kernel.wait_request import Field, Option

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
NEEDED: Content = {"board": 7, "name": "Ann"}


def test_a_schema_becomes_fields_in_its_order() -> None:
    """Each property is a field with its kind, its words, its limits and what can be chosen."""
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
def test_whatever_stands_for_a_schema_is_read(schema: object) -> None:
    """A server may send anything: the form has what can be told, or nothing."""
    assert len(parse_form(schema)) <= 1


def test_a_form_has_bounds() -> None:
    """A schema with thousands of properties is no form that anybody fills in."""
    many: dict[str, Any] = {"properties": {str(number): {} for number in range(5000)}}
    assert len(parse_form(many)) == MAX_FIELDS


@pytest.mark.parametrize(
    "content",
    [
        NEEDED,
        {**NEEDED, "mail": "ann@example.org", "share": 0.5, "urgent": True, "size": "L", "colour": "r", "tags": ["x"]},
        {**NEEDED, "tags": [], "mail": "", "size": None},
        {**NEEDED, "share": 3},
    ],
)
def test_what_is_right(content: Content) -> None:
    """What is needed is there, what is there fits; what was left empty is no matter."""
    assert find_problem(FORM, content) is None


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "“name” is needed"),
        ({"name": "Ann"}, "“board” is needed"),
        ({**NEEDED, "name": "A"}, "at least 2 characters"),
        ({**NEEDED, "name": "Annabel"}, "at most 5 characters"),
        ({**NEEDED, "name": 3}, "a text"),
        ({**NEEDED, "mail": "ann"}, "an e-mail address"),
        ({**NEEDED, "board": 0}, "at least 1"),
        ({**NEEDED, "board": 10}, "at most 9"),
        ({**NEEDED, "board": 1.5}, "a whole number"),
        ({**NEEDED, "board": "7"}, "a whole number"),
        ({**NEEDED, "board": True}, "a whole number"),
        ({**NEEDED, "share": "half"}, "a number"),
        ({**NEEDED, "urgent": "yes"}, "yes or no"),
        ({**NEEDED, "size": "M"}, "one of: S, L"),
        ({**NEEDED, "tags": ["x", "z"]}, "some of: x, y"),
        ({**NEEDED, "tags": "x"}, "some of: x, y"),
        ({**NEEDED, "other": 1}, "no field “other”"),
    ],
)
def test_what_is_wrong_is_named(content: Content | None, reason: str) -> None:
    """The field, and what it takes."""
    assert reason in (find_problem(FORM, content) or "")


def test_a_server_without_a_form_takes_anything() -> None:
    """Nothing was asked for, so there is nothing to check."""
    assert find_problem((), None) is None
    assert find_problem((), {"any": "thing"}) is None


def test_words_become_what_the_fields_want() -> None:
    """Numbers, yes and no, several with commas; what cannot be read stays, so that the check can name it."""
    words: dict[str, str | list[str]] = {
        "board": "7",
        "share": "0.5",
        "urgent": "Yes",
        "tags": "x, y",
        "name": "Ann",
        "mail": "",
    }
    assert convert_values(FORM, words) == {"board": 7, "share": 0.5, "urgent": True, "tags": ["x", "y"], "name": "Ann"}
    assert convert_values(FORM, {"board": "seven", "urgent": "perhaps"}) == {"board": "seven", "urgent": "perhaps"}
    assert convert_values(FORM, {"urgent": "no", "tags": ["y"], "name": ["Ann"]}) == {
        "urgent": False,
        "tags": ["y"],
        "name": "Ann",
    }
