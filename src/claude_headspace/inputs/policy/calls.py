"""Analyses a tool use: returns a `Call` with the programs it runs, the files it uses, and the message it sends."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from claude_headspace.inputs.policy.files import Contact, Messaging, RuleBook
from claude_headspace.inputs.policy.paths import find_path_uses
from claude_headspace.inputs.policy.shell.commands import analyse_shell
from claude_headspace.inputs.policy.shell.markers import without_markers
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.policy.call import Call, Message, PathUse, Program, Recipient, Use
from claude_headspace.kernel.policy.rules import matches_any, name_pattern
from claude_headspace.kernel.text import strings_under
from claude_headspace.kernel.tools import ToolKind, ToolUse

MAX_RECIPIENTS = 50


def analyse_event(event: Event, book: RuleBook, *, home: str, project: str = "") -> Call:
    """Analyse the tool call of an event. Raises `TypeError` if the event names no tool."""
    if event.tool is None or not event.tool.name:
        raise TypeError("the event names no tool")
    directory = event.meta.cwd if event.meta.cwd and event.meta.cwd.startswith("/") else home or "/"
    return analyse_call(event.tool, book, directory=directory, home=home, project=project)


def analyse_call(tool: ToolUse, book: RuleBook, *, directory: str, home: str, project: str = "") -> Call:
    """Analyse a tool call. Raises `TypeError` if its input is not an object."""
    tool_input = {} if tool.input is None else tool.input
    if not isinstance(tool_input, dict):
        raise TypeError("the input of the tool call is not an object")
    call = Call(tool=tool.name, home=home, project=project)
    if tool.kind is ToolKind.SHELL and isinstance(command := tool_input.get("command"), str):
        findings = analyse_shell(command, directory=directory, home=home, project=project)
        return msgspec.structs.replace(
            call,
            programs=tuple(findings.programs),
            paths=tuple(findings.paths),
            traits=tuple(findings.traits),
            message=_find_mail(findings.programs, book),
        )
    return msgspec.structs.replace(
        call, paths=tuple(_find_file_uses(tool, directory)), message=_find_message(tool.name, tool_input, book)
    )


def _find_file_uses(tool: ToolUse, directory: str) -> Iterator[PathUse]:
    for file in tool.files:
        is_recursive = file.use is Use.DELETE
        yield from find_path_uses(
            without_markers(file.path), directory, file.use, used_by=tool.name, recursive=is_recursive
        )


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
