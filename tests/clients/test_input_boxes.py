"""The input boxes of clients other than Claude Code, on recorded screens.

Codex 0.166.0, Gemini CLI 0.61.0, opencode 1.18.33 and Copilot CLI 1.0.102.
"""

import json
from pathlib import Path

import pytest

from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.clients.input_box import READERS, read_input_box
from claude_headspace.clients.screen import InputBox, Screen

SCREENS = Path(__file__).parent / "screens"

DRAFTS: dict[str, str | None] = {
    "after_dialog": "",
    "blanks": "   ",
    "dialog": None,
    "draft": "half a thought",
    "draft_true_colour": "half a thought",
    "draft_with_sidebar": "wide draft",
    "empty": "",
    "empty_true_colour": "",
    "empty_with_sidebar": "",
    "empty_yolo": "",
    "loop_dialog": None,
    "several_lines": "first line\n\n  third line of it",
    "shell": "!ls",
    "shell_empty": "!",
    "shell_placeholder": "!",
    "working": "",
    "working_draft": "while working",
}
"""The draft on each screen; None if there is no input box."""
OTHERS = {
    ("opencode", "several_lines"): "[Pasted ~3 lines]",
    ("codex", "command"): "/mo",
    ("opencode", "command"): "/mo",
    ("copilot", "command"): "/model",  # it shows what it would complete
}
RECORDED = sorted((path.parent.name, path.stem) for path in SCREENS.glob("*/*.json"))


def recorded(client: str, name: str) -> Screen:
    """A recorded screen."""
    found = json.loads((SCREENS / client / f"{name}.json").read_text(encoding="utf-8"))
    return Screen("\n".join(found["lines"]), found["row"], found["column"], found["has_cursor"])


@pytest.mark.parametrize(("client", "name"), RECORDED)
def test_the_draft_is_read(client: str, name: str) -> None:
    """Placeholders are no draft. Blanks are one, and so is shell mode: a text typed there would be run."""
    draft = OTHERS[client, name] if (client, name) in OTHERS else DRAFTS[name]
    assert read_input_box(client, recorded(client, name)) == (None if draft is None else InputBox(draft))


@pytest.mark.parametrize(("client", "name"), RECORDED)
@pytest.mark.parametrize("reader", CLIENTS)
def test_no_client_mistakes_the_draft_of_another_for_an_empty_box(reader: str, client: str, name: str) -> None:
    """A box that is not recognised is not an empty one."""
    if reader != client and DRAFTS.get(name) not in ("", "   "):
        box = read_input_box(reader, recorded(client, name))
        assert box is None or box.draft


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("text", ["", "\n" * 10, "$ make test\nok", "\x1b[7m", "┃\n╹▀▀▀", " >", "›", "❯", "─" * 20])
@pytest.mark.parametrize("row", [0, 1, 30])
def test_a_screen_without_a_box_is_not_an_empty_box(client: str, text: str, row: int) -> None:
    """Whatever is on the screen, reading it never fails."""
    box = read_input_box(client, Screen(text, row))
    assert box is None or text == "›"  # an empty box of Codex has nothing else


def test_every_client_has_a_reader() -> None:
    """A new client needs one."""
    assert list(READERS) == list(CLIENTS)
