"""Parsing the frontmatter of Markdown files."""

import pytest

from claude_headspace.kernel.frontmatter import as_strings, parse_frontmatter


def test_settings_and_body() -> None:
    """Lists, strings, integers and booleans, with comments; the body follows."""
    parsed = parse_frontmatter(
        "---\nname: planner  # a comment\nauto_include:\n  - Desktop/identity.md # me\n  - 'a # b.md'\n\n# nothing\n"
        "level: 3\nfast: true\nmore: [a, b]\n---\n\nYou are it.\n"
    )
    assert parsed.settings == {
        "name": "planner",
        "auto_include": ["Desktop/identity.md", "a # b.md"],
        "level": 3,
        "fast": True,
        "more": ["a", "b"],
    }
    assert (parsed.body.strip(), parsed.problem) == ("You are it.", "")


@pytest.mark.parametrize("text", ["", "No frontmatter.", "A line\n---\nname: x\n---\n", "----\nname: x\n----\n"])
def test_a_file_without_frontmatter_is_all_body(text: str) -> None:
    """The settings are empty."""
    assert parse_frontmatter(text) == parse_frontmatter(text).__class__({}, text)


def test_an_empty_block_is_frontmatter() -> None:
    """It has no settings and is not part of the body."""
    assert (parse_frontmatter("---\n---\nText").settings, parse_frontmatter("---\n---\nText").body) == ({}, "Text")


def test_a_block_without_an_end_is_a_problem() -> None:
    """Its settings are ignored."""
    parsed = parse_frontmatter("---\nauto_include:\n  - a.md\n")
    assert (parsed.settings, parsed.problem) == ({}, "its frontmatter has no end")


@pytest.mark.parametrize(("value", "expected"), [("a", ("a",)), ("", ()), (["a", 2], ("a", "2")), (7, ()), (None, ())])
def test_values_become_strings(value: object, expected: tuple[str, ...]) -> None:
    """A string becomes a list of one; other values an empty list."""
    assert as_strings(value) == expected


def test_files_of_other_systems_are_parsed() -> None:
    """A byte order mark and CRLF line ends are accepted."""
    assert parse_frontmatter("\ufeff---\r\nname: x\r\n---\r\nText\r\n").settings == {"name": "x"}
