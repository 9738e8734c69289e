"""A tool use becomes a `Call`: the programs it runs, the files it touches, the people it writes to."""

from collections.abc import Iterator
from typing import Any

import msgspec

from claude_headspace.inputs.policy.files import Contact, Messaging, RuleBook
from claude_headspace.inputs.policy.paths import find_path_uses
from claude_headspace.inputs.policy.shell.commands import analyse_shell
from claude_headspace.inputs.policy.shell.markers import without_markers
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.policy.call import Call, Message, PathUse, Program, Recipient, Use
from claude_headspace.kernel.policy.names import matches_any
from claude_headspace.kernel.tools import ToolKind, ToolUse, strings_under

MOST_RECIPIENTS = 50


def understand(event: Event, book: RuleBook, *, home: str, project: str = "") -> Call:
    """What the call of an event would do. Raises `TypeError` if the event names no tool."""
    if event.tool is None or not event.tool.name:
        raise TypeError("the event names no tool")
    directory = event.meta.cwd if event.meta.cwd and event.meta.cwd.startswith("/") else home or "/"
    return call_of(event.tool, book, directory=directory, home=home, project=project)


def call_of(tool: ToolUse, book: RuleBook, *, directory: str, home: str, project: str = "") -> Call:
    """What a call would do. Raises `TypeError` if its input is no object."""
    given = {} if tool.input is None else tool.input
    if not isinstance(given, dict):
        raise TypeError("the input of the call is no object")
    call = Call(tool=tool.name, home=home, project=project)
    if tool.kind is ToolKind.SHELL and isinstance(command := given.get("command"), str):
        found = analyse_shell(without_markers(command), directory=directory, home=home, project=project)
        programs = tuple(found.programs)
        message = _mail(programs, book)
        return msgspec.structs.replace(
            call, programs=programs, paths=tuple(found.paths), traits=tuple(found.traits), message=message
        )
    return msgspec.structs.replace(call, paths=tuple(_files(tool, directory)), message=_message(tool.name, given, book))


def _files(tool: ToolUse, directory: str) -> Iterator[PathUse]:
    for file in tool.files:
        is_recursive = file.use is Use.DELETE
        yield from find_path_uses(
            without_markers(file.path), directory, file.use, used_by=tool.name, recursive=is_recursive
        )


# --- messages ---------------------------------------------------------------------------------------------------------


def _message(tool: str, given: dict[str, Any], book: RuleBook) -> Message | None:
    kind = _kind(tool, book.messaging)
    if kind is None:
        return None
    addresses = [part.strip() for text in strings_under(given, book.messaging.recipients) for part in text.split(",")]
    return Message(kind, _recipients(addresses, book))


def _kind(tool: str, messaging: Messaging) -> str | None:
    """A tool that drafts is no tool that sends, whatever else its name says."""
    if matches_any(messaging.draft, tool):
        return "draft"
    return "send" if matches_any(messaging.send, tool) else None


def _mail(programs: tuple[Program, ...], book: RuleBook) -> Message | None:
    """Programs that send mail: whom to stands among their arguments."""
    senders = [p for p in programs if matches_any(book.messaging.commands, p.name)]
    if not senders:
        return None
    words = [word for program in senders for word in program.arguments if "@" in word or word.startswith("+")]
    return Message("send", _recipients(words, book))


def _recipients(addresses: list[str], book: RuleBook) -> tuple[Recipient, ...]:
    known = [(_bare(name), contact) for contact in book.contacts for name in (*contact.addresses, contact.name)]
    named = dict.fromkeys(address for address in addresses[:MOST_RECIPIENTS] if address)
    return tuple(Recipient(address, _tags(_bare(address), known)) for address in named)


def _tags(address: str, known: list[tuple[str, Contact]]) -> tuple[str, ...]:
    return tuple(tag for name, contact in known if name == address for tag in contact.tags)


def _bare(address: str) -> str:
    """`Ada <ADA@example.org>` → `ada@example.org`; channels and numbers without their decoration."""
    inner = address[address.rfind("<") + 1 :].partition(">")[0] if "<" in address else address
    return inner.strip().lower().removeprefix("mailto:").lstrip("#@")
