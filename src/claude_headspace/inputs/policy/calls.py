"""Analyses a tool use: returns a `Call` with the programs it runs, the files it uses, and the message it sends."""

import re
import shlex
from collections.abc import Callable, Sequence
from typing import Any

from claude_headspace.inputs.policy.effects import Effects, Invocation, analyse_effects
from claude_headspace.inputs.policy.files import Contact, Messaging, RuleBook
from claude_headspace.kernel.hidden_characters import find_controls, has_hidden
from claude_headspace.kernel.policy.call import UNKNOWN, Call, Message, Program, Recipient, Trait
from claude_headspace.kernel.policy.rules import name_pattern
from claude_headspace.kernel.text import strings_in, strings_under
from claude_headspace.kernel.tools import ToolKind, ToolUse

MAX_RECIPIENTS = 50
MCP_PREFIX = "mcp__"

Analyse = Callable[[Invocation], Effects]


class UnknownTool(TypeError):
    """The event names no tool."""

    def __init__(self) -> None:
        super().__init__("the hook names no tool")


class BadInput(TypeError):
    """The input of the tool is not an object."""

    def __init__(self) -> None:
        super().__init__("the input of the tool call is not an object")


def analyse_call(
    tool: ToolUse | None,
    book: RuleBook,
    *,
    directory: str,
    home: str,
    project: str = "",
    analyse: Analyse = analyse_effects,
) -> Call:
    """Analyse a tool call. Raises `UnknownTool` without a tool, `BadInput` if its input is not an object."""
    if tool is None or not tool.name:
        raise UnknownTool
    tool_input = {} if tool.input is None else tool.input
    if not isinstance(tool_input, dict):
        raise BadInput
    commands: tuple[str, ...] = (tool.command,) if tool.kind is ToolKind.SHELL else ()
    if tool.kind is ToolKind.MCP:
        commands = tuple(_find_commands(tool_input))
    directory = directory if directory.startswith("/") else home or "/"
    invocation = Invocation(tool.name, commands, tool.files, directory, home, project)
    effects = analyse(invocation) if commands or tool.files else Effects()
    hidden = has_hidden(" ".join(strings_in(tool_input))) or any(find_controls(file.path) for file in tool.files)
    return Call(
        tool=tool.name,
        programs=effects.programs,
        paths=effects.paths,
        traits=(*effects.traits, Trait.HIDDEN_CHARACTERS) if hidden else effects.traits,
        message=_find_message(tool.name, tool_input, book) or _find_mail(effects.programs, book),
        home=home,
        project=project,
        depends_on_files=effects.depends_on_files,
    )


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
    "program",
    "executable",
)
"""Input fields of MCP tools that contain shell text."""
ARGUMENT_FIELDS = ("args", "arguments", "argv")


def _find_commands(tool_input: dict[str, Any]) -> list[str]:
    """Return the shell texts that an MCP tool runs. There are many names for them."""
    texts: list[str] = []
    for field in COMMAND_FIELDS:
        value = tool_input.get(field)
        if isinstance(value, str):
            texts.append(" ".join([value, *_quoted_arguments(tool_input)]))
        elif isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            texts += [shlex.join(value)] if field != "commands" else value
    return texts or [" ".join(words)] if (words := _quoted_arguments(tool_input)) else texts


def _quoted_arguments(tool_input: dict[str, Any]) -> list[str]:
    lists = [value for field in ARGUMENT_FIELDS if isinstance(value := tool_input.get(field), list)]
    return [shlex.quote(word) for words in lists for word in words if isinstance(word, str)]


# --- messages ---------------------------------------------------------------------------------------------------------


def _find_message(tool: str, tool_input: dict[str, Any], book: RuleBook) -> Message | None:
    """Return the message that a tool drafts or sends. A tool that matches both is a draft."""
    messaging = book.messaging
    kinds = (("draft", messaging.draft), ("send", messaging.send))
    kind = next((kind for kind, tools in kinds if name_pattern(tools).fullmatch(tool)), None)
    fields = messaging.recipients
    if kind is None:
        if not tool.startswith(MCP_PREFIX) or not _messages_contact(tool, tool_input, messaging):
            return None
        kind, fields = "send", (*fields, *messaging.contacts)
    addresses = [part.strip() for text in strings_under(tool_input, fields) for part in text.split(",")]
    return Message(kind, _build_recipients(addresses, book))


def _messages_contact(tool: str, tool_input: dict[str, Any], messaging: Messaging) -> bool:
    """Whether a tool about contacts sends a message: its input has a text for somebody."""
    is_contact_tool = name_pattern(messaging.contact).fullmatch(tool) is not None
    return is_contact_tool and any(text.strip() for text in strings_under(tool_input, messaging.texts))


def _find_mail(programs: Sequence[Program], book: RuleBook) -> Message | None:
    """Return the message of programs that send mail. Their recipients are the arguments that look like addresses."""
    commands = name_pattern(book.messaging.commands)
    senders = [program for program in programs if commands.fullmatch(program.name)]
    scripts = [program for program in senders if program.name == "osascript"]
    if len(scripts) == len(senders) and not any(map(_script_sends, scripts)):
        return Message("possible") if any(map(_is_unknown_script, scripts)) else None
    arguments = (argument for program in senders for argument in program.arguments if program not in scripts)
    addresses = [argument for argument in arguments if "@" in argument or argument.startswith("+")]
    quoted = (text for program in scripts for text in _QUOTED.findall(" ".join(program.arguments)))
    addresses += [text for text in quoted if "@" in text or text.startswith("+")]
    return Message("send", _build_recipients(addresses, book))


_MESSAGING_APPLICATION = re.compile(
    r"(?i)\bapp(?:lication)?\W{1,8}(?:id\W{1,4})?"
    r"(?:messages|mail|com\.apple\.(?:ichat|mobilesms|mail)|microsoft outlook|whatsapp|telegram|slack|signal)\b"
)
_UNKNOWN_APPLICATION = re.compile(rf"(?i)\bapp(?:lication)?[^\w{UNKNOWN}]{{0,8}}{UNKNOWN}")
_SENDS = re.compile(r"(?i)\bsend\b")
_QUOTED = re.compile(r"""["']([^"'\n]{1,200})["']""")


def _script_sends(program: Program) -> bool:
    """Whether an AppleScript sends through Mail, Messages or another program for messages."""
    text = " ".join(program.arguments)
    may_message = _MESSAGING_APPLICATION.search(text) or _UNKNOWN_APPLICATION.search(text)
    return may_message is not None and _SENDS.search(text) is not None


def _is_unknown_script(program: Program) -> bool:
    text = " ".join(program.arguments)
    return UNKNOWN in text and not text.removeprefix("-e").strip(f"\n {UNKNOWN}")


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
