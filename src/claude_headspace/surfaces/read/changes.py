"""What an agent changed, from the tool calls in its log: exact, without git, also for ended agents.

Rules
- An edit belongs to the command that was the newest when the tool finished.
- A command is named by its id, by its number (1 is the agent's first), or `latest`.
- Only the part of the log that can contain the command is read: it starts at the command's start, found by binary
  search, and ends with the first page of calls that all finished after the command.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from claude_headspace.clients.changes import EDIT_EVENTS, file_edits
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Agent, Command
from claude_headspace.kernel.changes.assemble import Attributed, assemble, final_digests
from claude_headspace.kernel.changes.model import FileChange
from claude_headspace.kernel.envelope import Micros
from claude_headspace.ports import EventFilter, Reader, StoredEvent

LATEST = "latest"
EVENTS_PER_PAGE = 200
MAX_CALLS = 20_000
"""How many tool calls are read for one answer; of an agent, the newest."""
MAX_COMMANDS = 100_000
FOREVER: Micros = 2**62


@dataclass(frozen=True)
class Scope:
    """Whose changes: an agent's, or those of one of its commands, with the time of the work."""

    agent: Agent
    commands: Sequence[Command]
    """The commands that edits can belong to, in order."""
    command: Command | None
    since: Micros
    until: Micros | None
    """When the next command started or the agent ended; None if the work may go on."""

    def owner(self, at: Micros) -> Command | None:
        """The newest command at a time."""
        index = bisect_right(self.commands, at, key=lambda command: command.started_at)
        return self.commands[index - 1] if index else None


@dataclass(frozen=True)
class ToolChanges:
    """The changes by tool calls, and whether all calls were read."""

    files: list[FileChange]
    complete: bool
    digests: dict[str, str]
    """By path: the digest of the text after the last edit, where it is known."""


class ChangeQueries:
    """Reads what agents changed."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def scope(self, agent: Agent, command: str | None) -> Scope:
        """The agent as a whole, or the command that a request names."""
        if command is None:
            commands = self._reader.commands(agent.id, MAX_COMMANDS)
            return Scope(agent, commands, None, agent.created_at, agent.ended_at)
        commands = self._reader.commands(agent.id, 1 if command == LATEST else MAX_COMMANDS)
        index = _index(commands, command)
        following = commands[index + 1].started_at if index + 1 < len(commands) else agent.ended_at
        chosen = commands[index]
        return Scope(agent, commands[index:], chosen, chosen.started_at, following)

    def start_commit(self, agent: Agent) -> str | None:
        """The commit that was checked out when the agent's first session started, if it was recorded."""
        return next((session.commit for session in self._reader.sessions(agent.id) if session.commit), None)

    def by_tools(self, scope: Scope) -> ToolChanges:
        """The changes by tool calls, assembled by file."""
        pages, root = _Pages(self._reader, scope), scope.agent.root
        edits = pages.edits()
        return ToolChanges(assemble(edits, root), pages.complete, final_digests(edits, root))


class _Pages:
    """The finished tool calls of a scope, page by page. `complete` is false if there were too many.

    Those of a command are read from its start on, those of an agent from its newest call back.
    """

    def __init__(self, reader: Reader, scope: Scope) -> None:
        self._reader = reader
        self._scope = scope
        self.complete = True

    def edits(self) -> list[Attributed]:
        """The edits of the scope with their commands, in order."""
        if self._scope.command is None:
            return list(_attributed(self._backward(), self._scope))[::-1]
        return list(_attributed(self._forward(), self._scope))

    def _backward(self) -> Iterator[StoredEvent]:
        before, count = None, 0
        while page := self._page(EventFilter(names=EDIT_EVENTS, before_seq=before)):
            yield from reversed(page)
            before, count = page[0].seq, count + len(page)
            if self._is_last(page, count):
                return

    def _forward(self) -> Iterator[StoredEvent]:
        after, count = 0, 0
        while page := self._page(self._from_start if not after else EventFilter(names=EDIT_EVENTS), after):
            yield from page
            after, count = page[-1].seq, count + len(page)
            if self._is_after(page) or self._is_last(page, count):
                return

    @property
    def _from_start(self) -> EventFilter:
        return EventFilter(names=EDIT_EVENTS, received_between=(self._scope.since, FOREVER))

    def _page(self, wanted: EventFilter, after: int | None = None) -> list[StoredEvent]:
        agent_id = self._scope.agent.id
        return self._reader.events(agent_id=agent_id, after=after, limit=EVENTS_PER_PAGE, matching=wanted)

    def _is_last(self, page: Sequence[StoredEvent], count: int) -> bool:
        self.complete = len(page) < EVENTS_PER_PAGE or count < MAX_CALLS
        return len(page) < EVENTS_PER_PAGE or count >= MAX_CALLS

    def _is_after(self, page: Sequence[StoredEvent]) -> bool:
        """Whether all calls finished after the command."""
        until = self._scope.until
        return until is not None and all(event.envelope.fired_at >= until for event in page)


def _attributed(events: Iterator[StoredEvent], scope: Scope) -> Iterator[Attributed]:
    """The edits of a scope with their commands."""
    for event in events:
        for edit in file_edits(event.envelope):
            owner = scope.owner(event.envelope.fired_at)
            if scope.command is None or (owner is not None and owner.id == scope.command.id):
                yield edit, owner.id if owner is not None else ""


def _index(commands: Sequence[Command], reference: str) -> int:
    """The position of the command that a request names."""
    if reference == LATEST and commands:
        return len(commands) - 1
    if reference.isascii() and reference.isdigit() and 0 < int(reference[:9]) <= len(commands):
        return int(reference[:9]) - 1
    for index, command in enumerate(commands):
        if command.id == reference:
            return index
    count = len(commands)
    raise BadRequest(
        "unknown_command",
        f"The agent has no command {reference[:60]}." if count else "The agent has no command yet.",
        f"Use a number from 1 to {count}, or an id." if count else "Its changes are listed after its first prompt.",
        status=404,
    )
