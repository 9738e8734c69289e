"""Known texts of Claude Code: what it writes in transcripts and prompts where other programs would use a field. Pure.

The texts are English and undocumented, measured on 2.1.197 and 2.1.325. A new wording belongs here.
"""

import html
import re

HEADLESS = "sdk-cli"
"""The entrypoint of a client that a program started (`-p`), in its registry entry and its transcript."""

INTERRUPTED = ("[Request interrupted by user]", "[Request interrupted by user for tool use]")
"""The user stopped the turn."""
REJECTED = "The user doesn't want to proceed with this tool use"
"""The user declined a call."""
FEEDBACK = "the user said:\n"
"""What follows in the result of a declined call was typed by the user."""
CALL_INTERRUPTED = "[Tool call interrupted"
"""The client was killed during a call. It writes this when the session is resumed."""
BLOCKED_PROMPT = "UserPromptSubmit operation blocked by hook"

SYNTHETIC_MODEL = "<synthetic>"
"""The model of messages that the client writes itself."""
NO_RESPONSE = "No response requested."
"""The client writes this in the model's place after a turn that was interrupted."""
PLACEHOLDERS = (NO_RESPONSE, "(no content)")

NOT_A_PROMPT = (
    "<bash-stderr>",
    "<bash-stdout>",
    "<command-name>",
    "<local-command-caveat>",
    "<local-command-stderr>",
    "<local-command-stdout>",
    "<system-reminder>",
    "<user-memory-input>",
)
"""Beginnings of texts in the place of a prompt that nobody typed: local commands, their output, reminders."""

TASK_NOTIFICATION = "<task-notification>"

_TASK_ID = re.compile(r"<task-id>([^<]{1,200})</task-id>")
_SHELL_INPUT = re.compile(r"<bash-input>(.*?)</bash-input>", re.DOTALL)
_COMMAND_NAME = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_COMMAND_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)


def finished_task(text: str) -> str | None:
    """The background task whose result a prompt carries; None if a person typed the prompt."""
    if not text.lstrip().startswith(TASK_NOTIFICATION):
        return None
    found = _TASK_ID.search(text)
    return found.group(1) if found else ""


def typed_text(text: str) -> str:
    """A prompt as it was typed; empty if nobody typed it.

    A command that the client runs itself begins with its name, one that becomes a prompt with its message.
    """
    stripped = text.strip()
    if stripped.startswith("<bash-input>"):
        return f"! {_inner(_SHELL_INPUT, stripped)}"
    if stripped.startswith("<command-message>"):
        return f"{_inner(_COMMAND_NAME, stripped)} {_inner(_COMMAND_ARGUMENTS, stripped)}".strip()
    return "" if stripped.startswith(NOT_A_PROMPT) else text


def _inner(tag: re.Pattern[str], text: str) -> str:
    found = tag.search(text)
    return html.unescape(found[1]).strip() if found else ""
