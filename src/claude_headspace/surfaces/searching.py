"""Search as surfaces give it: the best hits with the words around them, page by page.

The newest matches, up to a window, are ranked by how well they match, with a touch of how new they are. Pages of one
search agree with each other: their cursor holds the moment and the newest document of the first page. When a window
is used up the next page ranks the older matches.
"""

import math
import re
from collections.abc import Sequence

import msgspec

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.documents import Document
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.views import Time, iso
from claude_headspace.kernel.words import Piece, read_query, snippet
from claude_headspace.ports import Clock, Match, Reader, Searched

WINDOW = 2_000
"""How many matches are ranked together."""
NEW: Micros = 7 * 86_400 * SECOND
"""After so long the touch of newness is half as strong."""
TOUCH = 0.5

CURSOR = re.compile(r"(\d{1,18})-(\d{1,18})-(\d{1,6})")


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was found, and the words around it."""

    seq: int
    agent_id: str
    agent: str
    project: str
    kind: str
    """prompt, answer, tool_input or tool_result"""
    actor: str
    tool: str | None
    at: Time
    command_id: str | None
    turn_id: str | None
    snippet: list[Piece]
    score: float


class Hits(msgspec.Struct, frozen=True):
    """A page of hits, the best first, and where the next one begins."""

    hits: list[Hit]
    next: str | None


class Cursor(msgspec.Struct, frozen=True):
    """Where a page begins: when the search began, up to which document, and how many were shown."""

    at: Micros
    up_to: int | None = None
    shown: int = 0

    def __str__(self) -> str:
        """As it travels in an address."""
        return f"{self.at}-{self.up_to or 0}-{self.shown}"


def read_cursor(text: str) -> Cursor:
    """The cursor of an address."""
    found = CURSOR.fullmatch(text)
    if not found:
        raise BadRequest("bad_cursor", "`before` is no cursor of a search.", "Give what `next` said, or nothing.")
    return Cursor(int(found[1]), int(found[2]) or None, int(found[3]))


class Searcher:
    """Finds."""

    def __init__(self, reader: Reader, clock: Clock, window: int = WINDOW) -> None:
        self._reader = reader
        self._window = window
        self._clock = clock

    def search(self, text: str, wanted: Searched, limit: int, before: str | None = None) -> Hits:
        """The best hits, with the words around them."""
        query = read_query(text)
        cursor = read_cursor(before) if before else Cursor(self._clock())
        window = self._reader.search(query, msgspec.structs.replace(wanted, up_to=cursor.up_to), self._window)
        if not window:
            return Hits([], None)
        ranked = sorted(((score(match, cursor.at), match.id) for match in window), reverse=True)
        page = ranked[cursor.shown : cursor.shown + limit]
        found = self._reader.documents([number for _score, number in page])
        names = self._names({document.agent_id for document, _text in found.values()})
        hits = [
            _hit(found[number][0], names, snippet(found[number][1], query), best)
            for best, number in page
            if number in found
        ]
        return Hits(hits, self._next(cursor, window, limit))

    def _names(self, ids: set[str]) -> dict[str, tuple[str, str]]:
        agents = [agent for agent_id in ids if (agent := self._reader.agent(agent_id))]
        return {agent.id: (agent.name, agent.project.name) for agent in agents}

    def _next(self, cursor: Cursor, window: Sequence[Match], limit: int) -> str | None:
        shown = cursor.shown + limit
        if shown < len(window):
            return str(Cursor(cursor.at, cursor.up_to or window[0].id, shown))
        return str(Cursor(cursor.at, window[-1].id - 1)) if len(window) == self._window else None


def score(match: Match, now: Micros) -> float:
    """How good a match is: its rank, up to half as much again if it is new."""
    age = max(now - match.at, 0)
    return match.rank * (1 + TOUCH * math.exp2(-age / NEW))


def _hit(document: Document, names: dict[str, tuple[str, str]], around: list[Piece], best: float) -> Hit:
    agent, project = names.get(document.agent_id, ("", ""))
    return Hit(
        seq=document.seq,
        agent_id=document.agent_id,
        agent=agent,
        project=project,
        kind=document.kind,
        actor=document.actor,
        tool=document.tool,
        at=iso(document.at),
        command_id=document.command_id,
        turn_id=document.turn_id,
        snippet=around,
        score=round(best, 6),
    )
