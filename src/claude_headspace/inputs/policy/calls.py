"""Analyses a tool use: returns a `Call` with the programs it runs, the files it uses, and the message it sends."""

import shlex
from collections.abc import Callable, Sequence
from typing import Any

from claude_headspace.inputs.policy.files import Contact, Messaging, RuleBook
from claude_headspace.inputs.policy.inspection import Effects, Request, inspect
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.hidden_characters import has_hidden
from claude_headspace.kernel.policy.call import Call, Message, Program, Recipient, Trait
from claude_headspace.kernel.policy.rules import matches_any, name_pattern
from claude_headspace.kernel.text import strings_in, strings_under
from claude_headspace.kernel.tools import ToolKind, ToolUse

MAX_RECIPIENTS = 50

Inspect = Callable[[Request], Effects]


class UnknownTool(TypeError):
    """The event names no tool."""


def analyse_event(
    event: Event, book: RuleBook, *, home: str, project: str = "", inspect_call: Inspect = inspect
) -> Call:
    """Analyse the tool call of an event. Raises `UnknownTool` if the event names no tool."""
    if event.tool is None or not event.tool.name:
        raise UnknownTool
    directory = event.meta.cwd if event.meta.cwd and event.meta.cwd.startswith("/") else home or "/"
    return analyse_call(event.tool, book, directory=directory, home=home, project=project, inspect_call=inspect_call)


def analyse_call(
    tool: ToolUse, book: RuleBook, *, directory: str, home: str, project: str = "", inspect_call: Inspect = inspect
) -> Call:
    """Analyse a tool call. Raises `TypeError` if its input is not an object."""
    tool_input = {} if tool.input is None else tool.input
    if not isinstance(tool_input, dict):
        raise TypeError("the input of the tool call is not an object")
    commands = tuple(_find_commands(tool, tool_input))
    request = Request(tool.name, commands, tool.files, directory, home, project)
    effects = inspect_call(request) if commands or tool.files else Effects()
    message = _find_message(tool.name, tool_input, book) or _find_mail(effects.programs, book)
    return Call(
        tool=tool.name,
        programs=effects.programs,
        paths=effects.paths,
        traits=(*effects.traits, *_find_hidden_characters(tool_input)),
        message=message,
        home=home,
        project=project,
    )


def _find_hidden_characters(tool_input: dict[str, Any]) -> tuple[Trait, ...]:
    return (Trait.HIDDEN_CHARACTERS,) if any(has_hidden(text) for text in strings_in(tool_input)) else ()


COMMAND_FIELDS = (
    "command",
    "cmd",
    "commands",
    "script",
    "shell",
    "shell_command",
    "bash",
    "commandLine",
    "command_line",
)
"""Input fields of MCP tools that contain shell text."""
ARGUMENT_FIELDS = ("args", "arguments", "argv")


def _find_commands(tool: ToolUse, tool_input: dict[str, Any]) -> list[str]:
    """Return the shell texts that a tool runs. MCP tools name them in many ways."""
    if tool.kind is ToolKind.SHELL:
        command = tool_input.get("command")
        return [command] if isinstance(command, str) else []
    if tool.kind is not ToolKind.MCP:
        return []
    texts: list[str] = []
    for field in COMMAND_FIELDS:
        value = tool_input.get(field)
        if isinstance(value, str):
            texts.append(" ".join([value, *_quoted_arguments(tool_input)]))
        elif isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            texts += [shlex.join(value)] if field != "commands" else value
    return texts


def _quoted_arguments(tool_input: dict[str, Any]) -> list[str]:
    lists = [value for field in ARGUMENT_FIELDS if isinstance(value := tool_input.get(field), list)]
    return [shlex.quote(word) for words in lists for word in words if isinstance(word, str)]


# --- messages ---------------------------------------------------------------------------------------------------------


def _find_message(tool: str, tool_input: dict[str, Any], book: RuleBook) -> Message | None:
    kind = _message_kind(tool, book.messaging)
    if kind is None:
        return None
    addresses = [
        part.strip() for text in strings_under(tool_input, book.messaging.recipients) for part in text.split(",")
    ]
    return Message(kind, _build_recipients(addresses, book))


def _message_kind(tool: str, messaging: Messaging) -> str | None:
    """Return `draft` or `send` for a tool, or None. A tool that matches both is a draft."""
    if matches_any(messaging.draft, tool):
        return "draft"
    return "send" if matches_any(messaging.send, tool) else None


def _find_mail(programs: Sequence[Program], book: RuleBook) -> Message | None:
    """Return the message of programs that send mail. Their recipients are the arguments that look like addresses."""
    commands = name_pattern(book.messaging.commands)
    senders = [program for program in programs if commands.fullmatch(program.name)]
    if not senders:
        return None
    arguments = (argument for program in senders for argument in program.arguments)
    addresses = [argument for argument in arguments if "@" in argument or argument.startswith("+")]
    return Message("send", _build_recipients(addresses, book))


def _build_recipients(addresses: list[str], book: RuleBook) -> tuple[Recipient, ...]:
    known = [
        (_normalize_address(name), contact) for contact in book.contacts for name in (*contact.addresses, contact.name)
    ]
    named = dict.fromkeys(address for address in addresses[:MAX_RECIPIENTS] if address)
    return tuple(Recipient(address, _find_tags(_normalize_address(address), known)) for address in named)


def _find_tags(address: str, known: list[tuple[str, Contact]]) -> tuple[str, ...]:
    return tuple(tag for name, contact in known if name == address for tag in contact.tags)


def _normalize_address(address: str) -> str:
    """Normalize an address: `Ada <ADA@example.org>` → `ada@example.org`, `#team` → `team`."""
    inner = address[address.rfind("<") + 1 :].partition(">")[0] if "<" in address else address
    return inner.strip().lower().removeprefix("mailto:").lstrip("#@")
