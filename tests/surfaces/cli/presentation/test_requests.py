"""The complete request of a wait in the terminal."""

from claude_headspace.surfaces.cli.presentation.requests import request_lines
from claude_headspace.surfaces.text.formatting import Json


def shown(**request: object) -> str:
    """The lines of a request."""
    wait: Json = {
        "questions": [],
        "hidden_characters": [],
        "request": {"text": "", "diff": "", "arguments": {}, "complete": True, "left_out": 0, **request},
    }
    return "\n".join("".join(span.text for span in line).rstrip() for line in request_lines(wait, 80))


def test_a_command_is_shown_with_its_other_arguments() -> None:
    """`ls` without the sandbox is another request than `ls`."""
    arguments = {"command": "ls", "dangerouslyDisableSandbox": True, "description": "List\nfiles"}
    assert shown(text="ls", arguments=arguments) == (
        "  ls\n\n  dangerouslyDisableSandbox: true\n  description: List\n    │ files"
    )


def test_arguments_in_the_text_are_not_repeated() -> None:
    """The text of other tools has all of them."""
    assert shown(text="title: Bug", arguments={"title": "Bug"}) == "  title: Bug"
