"""Full-text search: ranked hits with snippets, page by page.

A search has up to two steps: documents that contain all words, then documents in which a word starts with the last
one. Within a step the newest matches, up to `WINDOW_SIZE`, are ranked together by match quality with a small bonus for
recent documents. When a window is used up, the next page ranks the matches before it.

Pages of one search are consistent while events arrive: the cursor contains the time and the newest document of the
first page.
"""

import math
import re
from collections.abc import Mapping, Sequence

import msgspec

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.search_documents import Document
from claude_headspace.kernel.search_terms import Piece, Query, Term, parse_query, query_steps, snippet
from claude_headspace.kernel.text import Time, iso
from claude_headspace.ports import Clock, Reader, SearchFilter, SearchMatch
from claude_headspace.surfaces.text.formatting import cut

WINDOW_SIZE = 2_000
"""How many matches are ranked together."""
RECENCY_HALF_LIFE: Micros = 7 * 86_400 * SECOND
RECENCY_WEIGHT = 0.5

SAME_CALL: Micros = 30 * SECOND
"""Within this time, equal inputs or results of a tool in a command are one call that several sources reported."""

MAX_SHOWN_LENGTH = 60
NO_FILTER = SearchFilter()

CURSOR = re.compile(r"(\d{1,18})-(\d)-(\d{1,18})-(\d{1,6})")


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A document that was found, with a snippet."""

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
    """A page of hits, the best first, and the cursor of the next page."""

    hits: list[Hit]
    next: str | None
    hint: str | None = None
    """What to try if nothing was found."""


class Cursor(msgspec.Struct, frozen=True):
    """The start of a page: when the search started, its step, the newest document of the window, the hits skipped."""

    at: Micros
    step: int = 0
    up_to: int | None = None
    shown: int = 0

    def __str__(self) -> str:
        """The `before` parameter of the next page."""
        return f"{self.at}-{self.step}-{self.up_to or 0}-{self.shown}"


def read_cursor(text: str) -> Cursor:
    """The cursor in a `before` parameter."""
    found = CURSOR.fullmatch(text)
    if not found:
        raise BadRequest("bad_cursor", "`before` is not a cursor of a search.", "Use the value of `next`, or omit it.")
    at, step, up_to, shown = map(int, found.groups())
    return Cursor(at, step, up_to or None, shown)


class SearchQueries:
    """Searches prompts, answers, tool inputs and tool results."""

    def __init__(self, reader: Reader, clock: Clock, window_size: int = WINDOW_SIZE) -> None:
        self._reader = reader
        self._clock = clock
        self._window_size = window_size

    def find(self, text: str, matching: SearchFilter, limit: int, before: str | None = None) -> Hits:
        """A page of hits for a query."""
        query = parse_query(text)
        queries = dict(enumerate(query_steps(query)))
        cursor = read_cursor(before) if before else Cursor(self._clock())
        hits: list[Hit] = []
        while cursor.step in queries and len(hits) < limit:
            more, cursor = self._page(queries[cursor.step], cursor, matching, limit - len(hits))
            hits += more
        while cursor.step in queries and not (cursor.shown or self._matches(queries[cursor.step], cursor, matching, 1)):
            cursor = Cursor(cursor.at, cursor.step + 1)
        if not hits and not before:
            return Hits([], None, hint=self._hint(query, matching))
        return Hits(hits, str(cursor) if cursor.step in queries else None)

    def _hint(self, query: Query, matching: SearchFilter) -> str:
        if matching != NO_FILTER and self._reader.search(query, NO_FILTER, 1):
            return "There are hits without the filters: remove one of them."
        missing = [term for term in query.terms if not self._reader.search(Query((term,)), NO_FILTER, 1)]
        return advice(query, missing)

    def _page(self, query: Query, cursor: Cursor, matching: SearchFilter, limit: int) -> tuple[list[Hit], Cursor]:
        """Hits of one window, and the cursor behind them."""
        window = self._matches(query, cursor, matching, self._window_size)
        ranked = sorted(((score(match, cursor.at), match.document_id) for match in window), reverse=True)
        page = ranked[cursor.shown : cursor.shown + limit]
        found = self._reader.documents([number for _score, number in page])
        names = self._names({document.agent_id for document, _text in found.values()})
        kept = _without_repeats(found)
        hits = [
            _hit(found[number][0], names, snippet(found[number][1], query), best)
            for best, number in page
            if number in kept
        ]
        return hits, self._after(cursor, window, cursor.shown + limit)

    def _matches(self, query: Query, cursor: Cursor, matching: SearchFilter, limit: int) -> list[SearchMatch]:
        return self._reader.search(query, msgspec.structs.replace(matching, max_document_id=cursor.up_to), limit)

    def _names(self, ids: set[str]) -> dict[str, tuple[str, str]]:
        agents = [agent for agent_id in ids if (agent := self._reader.agent(agent_id))]
        return {agent.id: (agent.name, agent.project.name) for agent in agents}

    def _after(self, cursor: Cursor, window: Sequence[SearchMatch], shown: int) -> Cursor:
        """The next cursor: in this window, in the window before it, or in the next step."""
        if shown < len(window):
            return Cursor(cursor.at, cursor.step, cursor.up_to or window[0].document_id, shown)
        if len(window) == self._window_size:
            return Cursor(cursor.at, cursor.step, window[-1].document_id - 1)
        return Cursor(cursor.at, cursor.step + 1)


def advice(query: Query, missing: Sequence[Term]) -> str:
    """The hint for a query without hits, given the terms that occur nowhere."""
    if not query.terms:
        return "The query contains no word. Words consist of letters and digits."
    if not missing:
        return "All of these terms occur, but not in the same text. Try fewer of them."
    others = "" if len(missing) == len(query.terms) else " The other terms occur."
    return f"{_missing(missing[0])}{others}"


def _missing(term: Term) -> str:
    shown = cut(" ".join(term.words), MAX_SHOWN_LENGTH)
    if len(term.words) > 1:
        return f"The phrase “{shown}” does not occur. Try single words."
    if term.is_prefix:
        return f"No word starts with “{shown}”. Try a shorter prefix."
    return f"The word “{shown}” does not occur. Only the last word may be a prefix, and only without quotes."


def _without_repeats(found: Mapping[int, tuple[Document, str]]) -> set[int]:
    """The ids of these documents, without what both the hook and the transcript of one tool call reported."""
    kept: set[int] = set()
    latest: dict[tuple[object, ...], Micros] = {}
    for number in sorted(found, reverse=True):
        document, text = found[number]
        key = (document.agent_id, document.command_id, document.kind, document.tool, text)
        is_call = document.kind in ("tool_input", "tool_result")
        if not is_call or key not in latest or abs(latest[key] - document.at) > SAME_CALL:
            kept.add(number)
            latest[key] = document.at
    return kept


def score(match: SearchMatch, now: Micros) -> float:
    """The rank of a match, plus up to half of it if the document is recent."""
    age = max(now - match.at, 0)
    return match.rank * (1 + RECENCY_WEIGHT * math.exp2(-age / RECENCY_HALF_LIFE))


def _hit(document: Document, names: dict[str, tuple[str, str]], excerpt: list[Piece], best: float) -> Hit:
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
        snippet=excerpt,
        score=round(best, 6),
    )
