"""A tool call as Claude Code tells it becomes a `Call`: what it runs, what it touches, whom it writes to."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from claude_headspace.inputs.policy.files import Contact, Messaging, RuleBook
from claude_headspace.inputs.policy.paths import uses
from claude_headspace.inputs.policy.shell.commands import read_shell
from claude_headspace.inputs.policy.shell.markers import without_markers
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.policy.call import Call, Message, PathUse, Program, Recipient, Use
from claude_headspace.kernel.policy.matching import fits_name

MOST_RECIPIENTS = 50


SHELL_TOOLS = ("Bash", "Monitor")
"""Tools whose `command` a shell runs."""

FILE_TOOLS: dict[str, tuple[str, Use]] = {
    "Write": ("file_path", Use.WRITE),
    "Edit": ("file_path", Use.WRITE),
    "MultiEdit": ("file_path", Use.WRITE),
    "NotebookEdit": ("notebook_path", Use.WRITE),
    "Read": ("file_path", Use.READ),
    "NotebookRead": ("notebook_path", Use.READ),
}
"""Tools that touch one file, the input that names it, and what they do to it."""

MCP_WORDS: tuple[tuple[Use, tuple[str, ...]], ...] = (
    (Use.DELETE, ("delete", "remove", "unlink", "move", "rename")),
    (Use.WRITE, ("write", "edit", "create", "append", "save", "patch", "update", "copy")),
)
"""What a file tool of an MCP server does, by the words in its name."""

MCP_PATHS = ("path", "file_path", "filepath", "file", "source", "destination", "target", "paths", "directory")


def understand(event: Event, book: RuleBook, *, home: str, project: str = "") -> Call:
    """What a tool call would do. Raises if the event is no tool call."""
    tool, cwd = event.tool, event.meta.cwd
    if tool is None or not isinstance(tool.input, dict):
        raise TypeError("the event has no tool call")
    directory = cwd if cwd and cwd.startswith("/") else home or "/"
    return call_of(tool.name, tool.input, book, directory=directory, home=home, project=project)


def call_of(
    tool: str, given: Mapping[str, Any], book: RuleBook, *, directory: str, home: str, project: str = ""
) -> Call:
    """What a call of a tool with this input would do."""
    call = Call(tool=tool, home=home, project=project)
    if tool in SHELL_TOOLS and isinstance(given.get("command"), str):
        found = read_shell(without_markers(given["command"]), directory=directory, home=home, project=project)
        programs = tuple(found.programs)
        message = _mail(programs, book)
        return msgspec.structs.replace(
            call, programs=programs, paths=tuple(found.paths), traits=tuple(found.traits), message=message
        )
    return msgspec.structs.replace(
        call, paths=tuple(_files(tool, given, directory)), message=_message(tool, given, book)
    )


def _files(tool: str, given: Mapping[str, Any], directory: str) -> Iterator[PathUse]:
    if tool in FILE_TOOLS:
        name, use = FILE_TOOLS[tool]
        if isinstance(path := given.get(name), str):
            yield from uses(without_markers(path), directory, use, by=tool)
    elif tool.startswith("mcp__"):
        verb = tool.rpartition("__")[2].lower()
        use = next((use for use, names in MCP_WORDS if any(name in verb for name in names)), Use.READ)
        for path in _texts(given, MCP_PATHS):
            if path.startswith(("/", "~", ".")) or "/" in path:
                yield from uses(without_markers(path), directory, use, by=tool, recursive=use is Use.DELETE)


def _texts(given: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[str]:
    """The texts under these names, also those in lists and objects."""
    for name in names:
        yield from _within(given.get(name))


def _within(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for each in value:
                yield from _within(each)
        case dict():
            yield from _texts(value, ("email", "address", "id", "name"))


# --- messages ---------------------------------------------------------------------------------------------------------


def _message(tool: str, given: Mapping[str, Any], book: RuleBook) -> Message | None:
    kind = _kind(tool, book.messaging)
    if kind is None:
        return None
    addresses = [part.strip() for text in _texts(given, book.messaging.recipients) for part in text.split(",")]
    return Message(kind, _recipients(addresses, book))


def _kind(tool: str, messaging: Messaging) -> str | None:
    """A tool that drafts is no tool that sends, whatever else its name says."""
    if any(fits_name(pattern, tool) for pattern in messaging.draft):
        return "draft"
    return "send" if any(fits_name(pattern, tool) for pattern in messaging.send) else None


def _mail(programs: tuple[Program, ...], book: RuleBook) -> Message | None:
    """Programs that send mail: whom to stands among their arguments."""
    senders = [p for p in programs if any(fits_name(pattern, p.name) for pattern in book.messaging.commands)]
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
