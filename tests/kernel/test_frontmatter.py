"""What stands before the text of a file."""

import pytest

from claude_headspace.kernel.frontmatter import as_strings, parse_frontmatter


def test_settings_and_body() -> None:
    """Lists, texts, numbers and booleans, with comments; the text is what follows."""
    read = parse_frontmatter(
        "---\nname: chief  # who it is\nauto_include:\n  - Desktop/identity.md # me\n  - 'a # b.md'\n\n# nothing\n"
        "level: 3\nfast: true\nmore: [a, b]\n---\n\nYou are it.\n"
    )
    assert read.settings == {
        "name": "chief",
        "auto_include": ["Desktop/identity.md", "a # b.md"],
        "level": 3,
        "fast": True,
        "more": ["a", "b"],
    }
    assert (read.body.strip(), read.problem) == ("You are it.", "")


@pytest.mark.parametrize("text", ["", "No frontmatter.", "A line\n---\nname: x\n---\n", "----\nname: x\n----\n"])
def test_a_file_may_have_none(text: str) -> None:
    """Then all of it is its text."""
    assert parse_frontmatter(text) == parse_frontmatter(text).__class__({}, text)


def test_an_empty_block_is_one() -> None:
    """It says nothing, and is no part of the text."""
    assert (parse_frontmatter("---\n---\nText").settings, parse_frontmatter("---\n---\nText").body) == ({}, "Text")


def test_a_block_without_an_end_is_a_problem() -> None:
    """What it would have said is not guessed."""
    read = parse_frontmatter("---\nauto_include:\n  - a.md\n")
    assert (read.settings, read.problem) == ({}, "its frontmatter has no end")


@pytest.mark.parametrize(("value", "found"), [("a", ("a",)), ("", ()), (["a", 2], ("a", "2")), (7, ()), (None, ())])
def test_one_text_is_a_list_of_one(value: object, found: tuple[str, ...]) -> None:
    """What is neither is none."""
    assert as_strings(value) == found


def test_other_systems_files_are_read_too() -> None:
    """A byte order mark and two-character line ends do not matter."""
    assert parse_frontmatter("\ufeff---\r\nname: x\r\n---\r\nText\r\n").settings == {"name": "x"}
