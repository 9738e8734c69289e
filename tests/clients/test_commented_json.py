"""A JSON text with comments is changed where it has to be, and keeps its comments."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_headspace.clients.commented_json import Unsupported, changed_text, has_comments, without_comments

TEXT = """// mine
{
  "ui": { /* dark */ "theme": "x" }, // theme
  "url": "http://x", // not a comment: "//"
  "hooks": {
    // one
    "AfterAgent": [
      { "hooks": [{ "command": "mine" }] } // keep
    ]
  } // the end
}
"""


def test_comments_are_recognised() -> None:
    """In strings there are none. Positions stay the same."""
    plain = without_comments(TEXT)
    assert json.loads(plain)["url"] == "http://x"
    assert (len(plain), has_comments(TEXT), has_comments(plain)) == (len(TEXT), True, False)


def test_additions_and_removals_keep_comments() -> None:
    """New members and items get lines of their own."""
    new = json.loads(without_comments(TEXT))
    new["hooks"]["AfterAgent"].append({"hooks": [{"command": "ours"}]})
    new["hooks"]["AfterTool"] = [{"hooks": []}]
    added = changed_text(TEXT, new)
    assert json.loads(without_comments(added)) == new
    assert '{ "hooks": [{ "command": "mine" }] }, // keep\n      {\n        "hooks": [' in added
    assert added.count("//") == TEXT.count("//")
    removed = changed_text(added, json.loads(without_comments(TEXT)))
    assert removed == TEXT


@pytest.mark.parametrize(
    ("text", "new", "expected"),
    [
        ("{} // x", {"a": 1}, '{\n  "a": 1\n} // x'),
        ('{"a": 1} // x', {"a": 1, "b": 2}, '{"a": 1,\n"b": 2\n} // x'),
        ('{ // x\n  "a": 1\n}', {}, "{ // x\n}"),
        ('{ // x\n  "a": 1,\n  "b": 2\n}', {"a": 1}, '{ // x\n  "a": 1\n}'),
        ('{\r\n  "a": 1 // x\r\n}', {"a": 1, "b": [1]}, '{\r\n  "a": 1, // x\r\n  "b": [\r\n    1\r\n  ]\r\n}'),
        ('{ /* x */ "a": [1, 2, 3] }', {"a": [1, 3]}, '{ /* x */ "a": [1,  3] }'),
        ('\ufeff{ "a": 1 /* x */ }', {"b": 1}, '\ufeff{ "b": 1 /* x */ }'),
    ],
)
def test_small_changes(text: str, new: object, expected: str) -> None:
    """Whatever the format of the text."""
    assert changed_text(text, new) == expected


def test_an_insertion_in_the_middle_is_refused() -> None:
    """It could separate a comment from what it is about."""
    with pytest.raises(Unsupported):
        changed_text("[1, 2] // x", [1, 3, 2])


keys = st.sampled_from("abcd")
values = st.recursive(st.integers(0, 3), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner))


@given(old=st.dictionaries(keys, values), new=st.dictionaries(keys, values), indent=st.sampled_from([None, 2]))
def test_the_result_means_the_new_value(old: object, new: object, indent: int | None) -> None:
    """For all values, unless the change is refused."""
    lines = json.dumps(old, indent=indent).splitlines()
    text = "\n".join(f"{line} // {number}" for number, line in enumerate(lines))
    try:
        changed = changed_text(text, new)
    except Unsupported:
        return
    assert json.loads(without_comments(changed)) == new
