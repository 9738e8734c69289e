"""Search as surfaces give it: the best hits with the words around them, page by page.

Whatever has the words themselves comes first, then what has words that only begin with the last one. The newest
matches of either, up to a window, are ranked by how well they match, with a touch of how new they are. Pages of one
search agree with each other: their cursor holds the moment and the newest document of the first page. When a window
is used up the next page ranks the older matches.
"""

import math
import re
from collections.abc import Sequence

import msgspec

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.search_documents import Document
from claude_headspace.kernel.search_terms import Piece, Query, Term, read_query, snippet, steps
from claude_headspace.kernel.views import Time, iso
from claude_headspace.ports import Clock, Reader, SearchFilter, SearchMatch
from claude_headspace.surfaces.text.labels import cut

WINDOW = 2_000
"""How many matches are ranked together."""
NEW: Micros = 7 * 86_400 * SECOND
"""After so long the touch of newness is half as strong."""
TOUCH = 0.5

LONGEST_SHOWN = 60
EVERYTHING = SearchFilter()
"""Whatever it is and whoever said it."""

CURSOR = re.compile(r"(\d{1,18})-(\d)-(\d{1,18})-(\d{1,6})")


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
    hint: str | None = None
    """What to try, if nothing was found."""


class Cursor(msgspec.Struct, frozen=True):
    """Where a page begins: when the search began, at which step, up to which document, and how many were shown."""

    at: Micros
    step: int = 0
    up_to: int | None = None
    shown: int = 0

    def __str__(self) -> str:
        """As it travels in an address."""
        return f"{self.at}-{self.step}-{self.up_to or 0}-{self.shown}"


def read_cursor(text: str) -> Cursor:
    """The cursor of an address."""
    found = CURSOR.fullmatch(text)
    if not found:
        raise BadRequest("bad_cursor", "`before` is no cursor of a search.", "Give what `next` said, or nothing.")
    at, step, up_to, shown = map(int, found.groups())
    return Cursor(at, step, up_to or None, shown)


class Searcher:
    """Finds."""

    def __init__(self, reader: Reader, clock: Clock, window: int = WINDOW) -> None:
        self._reader = reader
        self._window = window
        self._clock = clock

    def search(self, text: str, wanted: SearchFilter, limit: int, before: str | None = None) -> Hits:
        """The best hits, with the words around them."""
        query = read_query(text)
        queries = dict(enumerate(steps(query)))
        cursor = read_cursor(before) if before else Cursor(self._clock())
        hits: list[Hit] = []
        while cursor.step in queries and len(hits) < limit:
            more, cursor = self._some(queries[cursor.step], cursor, wanted, limit - len(hits))
            hits += more
        while cursor.step in queries and not (cursor.shown or self._matches(queries[cursor.step], cursor, wanted, 1)):
            cursor = Cursor(cursor.at, cursor.step + 1)
        if not hits and not before:
            return Hits([], None, hint=self._hint(query, wanted))
        return Hits(hits, str(cursor) if cursor.step in queries else None)

    def _hint(self, query: Query, wanted: SearchFilter) -> str:
        if wanted != EVERYTHING and self._reader.search(query, EVERYTHING, 1):
            return "Without the filters there are finds: leave one of them out."
        missing = [term for term in query.terms if not self._reader.search(Query((term,)), EVERYTHING, 1)]
        return advice(query, missing)

    def _some(self, query: Query, cursor: Cursor, wanted: SearchFilter, room: int) -> tuple[list[Hit], Cursor]:
        """Hits of one window, and where to go on."""
        window = self._matches(query, cursor, wanted, self._window)
        ranked = sorted(((score(match, cursor.at), match.document_id) for match in window), reverse=True)
        page = ranked[cursor.shown : cursor.shown + room]
        found = self._reader.documents([number for _score, number in page])
        names = self._names({document.agent_id for document, _text in found.values()})
        hits = [
            _hit(found[number][0], names, snippet(found[number][1], query), best)
            for best, number in page
            if number in found
        ]
        return hits, self._after(cursor, window, cursor.shown + room)

    def _matches(self, query: Query, cursor: Cursor, wanted: SearchFilter, most: int) -> list[SearchMatch]:
        return self._reader.search(query, msgspec.structs.replace(wanted, max_document_id=cursor.up_to), most)

    def _names(self, ids: set[str]) -> dict[str, tuple[str, str]]:
        agents = [agent for agent_id in ids if (agent := self._reader.agent(agent_id))]
        return {agent.id: (agent.name, agent.project.name) for agent in agents}

    def _after(self, cursor: Cursor, window: Sequence[SearchMatch], shown: int) -> Cursor:
        """Where to go on: in this window, in the one before it, or with the next step."""
        if shown < len(window):
            return Cursor(cursor.at, cursor.step, cursor.up_to or window[0].document_id, shown)
        if len(window) == self._window:
            return Cursor(cursor.at, cursor.step, window[-1].document_id - 1)
        return Cursor(cursor.at, cursor.step + 1)


def advice(query: Query, missing: Sequence[Term]) -> str:
    """What to say of a query that found nothing, and of what in it occurs nowhere."""
    if not query.terms:
        return "There is no word in it. Words are letters and digits; signs only stand between them."
    if not missing:
        return "All of these occur, but not in one text. Try fewer of them."
    others = "" if len(missing) == len(query.terms) else " The rest occurs."
    return f"{_absence(missing[0])}{others}"


def _absence(term: Term) -> str:
    """That a term occurs nowhere, and what to try instead."""
    shown = cut(" ".join(term.words), LONGEST_SHOWN)
    if len(term.words) > 1:
        return f"Nowhere does “{shown}” stand in this order. Try one of the words."
    if term.open_end:
        return f"No word begins with “{shown}”. Try a shorter beginning."
    return f"“{shown}” occurs nowhere. Only the last word may be a beginning, and only without quotes."


def score(match: SearchMatch, now: Micros) -> float:
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
