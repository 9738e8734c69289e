"""`headspace prompt …`: saved prompts."""

from typing import Annotated

from claude_headspace.config import find_paths
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument
from claude_headspace.surfaces.cli.options import AsJson, examples, read_text
from claude_headspace.surfaces.cli.presentation.prompts import saved_prompt_lines
from claude_headspace.surfaces.cli.send import complete_saved
from claude_headspace.surfaces.client.saved_prompts import SavedPrompts
from claude_headspace.surfaces.text.formatting import clean_text

PromptArgument = Annotated[
    str,
    Argument("NAME", help="Lowercase letters, digits, dots, dashes and underscores.", complete=complete_saved),
]


@examples(
    'headspace prompt save review "Review your changes. List what could break."',
    "headspace prompt save review - < review.md",
)
def save(
    name: PromptArgument,
    text: Annotated[list[str], Argument("TEXT", help="The text; - reads standard input.")],
) -> None:
    """Save a prompt under a name, for `headspace send --saved`."""
    replaced = SavedPrompts(find_paths()).save(name, read_text(" ".join(text)))
    output.screen().show([output.line(f"{'Replaced' if replaced else 'Saved'} the prompt {name}.")])


@examples("headspace prompt list")
def list_prompts(as_json: AsJson = False) -> None:
    """List the saved prompts."""
    saved = SavedPrompts(find_paths())
    prompts = [{"name": name, "text": saved.read(name)} for name in saved.names()]
    output.write_result(prompts, as_json, lambda prompts, screen: saved_prompt_lines(prompts, screen.width))


@examples("headspace prompt show review")
def show(name: PromptArgument) -> None:
    """Print a saved prompt."""
    text = SavedPrompts(find_paths()).read(name)
    output.screen().show([output.line(clean_text(each)) for each in text.splitlines()])


@examples("headspace prompt remove review")
def remove(name: PromptArgument) -> None:
    """Remove a saved prompt."""
    SavedPrompts(find_paths()).remove(name)
    output.screen().show([output.line(f"Removed the prompt {name}.")])
