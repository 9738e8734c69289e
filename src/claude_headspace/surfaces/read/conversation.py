"""The conversation of an agent, page by page: turns with the tool calls between them.

Rules
- A page is a time range. It contains all turns of that range, and all tool calls that started in it. So a call is on
  the page of the turn in which it ran, and pages next to each other have neither gaps nor repetitions.
- `before` and `after` of a page are the ends of its range. They stay valid while events arrive; None is the beginning
  or the end of the conversation.
- A page has a maximum of turns and of calls. Its range ends where one of them is reached.
- Tool calls are read from the log. The events of a range are found by their times, and some events around them are read
  too: hooks may be stored late, and a call may end after the range. The end of a longer call is searched further on.
"""

from collections.abc import Sequence

import msgspec

from claude_headspace.clients.hooks import hook_names
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Agent, Turn
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.text import Time, iso
from claude_headspace.kernel.views.work import TurnView, turn_view
from claude_headspace.ports import EventFilter, Reader, StoredEvent
from claude_headspace.surfaces.read.tool_calls import EVENTS_PER_CALL, OUTCOMES, ToolCallView, assemble
from claude_headspace.surfaces.text.timestamps import parse_time

DEFAULT_TURNS = 50
MAX_TURNS = 200
MAX_CALLS = 200
MAX_SIMULTANEOUS_TURNS = 1_000
"""How many turns with the same time a page can have."""

MARGIN = 100
"""How many events around a range are read, too."""
MAX_EVENTS = MAX_CALLS * EVENTS_PER_CALL + 2 * MARGIN
LOOK_AHEAD = 500
"""In how many later events the end of a call is searched."""

TOOL_HOOKS = hook_names(OUTCOMES)
TOOL_ENDS = hook_names({kind for kind, outcome in OUTCOMES.items() if outcome is not None})


class PageRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which page: before a time, from a time on, around a time or a turn; the newest one if nothing is given."""

    limit: int = DEFAULT_TURNS
    before: Micros | None = None
    after: Micros | None = None
    at: Micros | None = None
    turn_id: str | None = None


class ConversationView(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a conversation."""

    turns: list[TurnView]
    calls: list[ToolCallView]
    before: Time | None
    """The `before` parameter of the page with older turns; null at the beginning of the conversation."""
    after: Time | None
    """The `after` parameter of the page with newer turns; null at the end of the conversation."""


class Range(msgspec.Struct, frozen=True):
    """A time range, its end excluded. None: no bound."""

    since: Micros | None
    until: Micros | None

    def contains(self, time: Micros) -> bool:
        """Whether a time is in this range."""
        return (self.since is None or time >= self.since) and (self.until is None or time < self.until)


def conversation(reader: Reader, agent: Agent, page: PageRequest) -> ConversationView:
    """A page of an agent's conversation."""
    if page.after is not None:
        return _later(reader, agent, page.after, page.limit)
    middle = page.at if page.turn_id is None else _turn_of(reader, agent, page.turn_id).at
    if middle is None:
        return _earlier(reader, agent, page.before, page.limit)
    half = (page.limit + 1) // 2
    earlier, later = _earlier(reader, agent, middle, half), _later(reader, agent, middle, half)
    return ConversationView(
        turns=earlier.turns + later.turns,
        calls=earlier.calls + later.calls,
        before=earlier.before,
        after=later.after,
    )


def _turn_of(reader: Reader, agent: Agent, turn_id: str) -> Turn:
    turn = reader.turn(turn_id)
    if turn is None or turn.agent_id != agent.id:
        hint = "GET /api/agents/{agent}/turns lists the newest. Old turns may have been pruned."
        raise BadRequest("unknown_turn", f"{agent.name} has no turn {turn_id[:100]}.", hint, status=404)
    return turn


def _earlier(reader: Reader, agent: Agent, until: Micros | None, limit: int) -> ConversationView:
    """The newest turns before a time, with their calls."""
    found = reader.turns_between(agent.id, None, until, limit + 1, newest=True)
    since = found[-limit].at if len(found) > limit else None
    calls, cut = _calls(reader, agent, Range(since, until), newest=True)
    return _page(reader, agent, Range(cut if cut is not None else since, until), calls)


def _later(reader: Reader, agent: Agent, since: Micros, limit: int) -> ConversationView:
    """The first turns from a time on, with their calls."""
    found = reader.turns_between(agent.id, since, None, limit + 1, newest=False)
    until = None
    if len(found) > limit:  # turns with the same time stay together
        until = max(found[limit].at, found[limit - 1].at + 1)
    calls, cut = _calls(reader, agent, Range(since, until), newest=False)
    return _page(reader, agent, Range(since, cut if cut is not None else until), calls)


def _page(reader: Reader, agent: Agent, span: Range, calls: Sequence[ToolCallView]) -> ConversationView:
    limit = MAX_SIMULTANEOUS_TURNS
    turns = reader.turns_between(agent.id, span.since, span.until, limit, newest=True)
    return ConversationView(
        turns=[turn_view(turn) for turn in turns],
        calls=[call for call in calls if span.contains(_micros(call.started_at))],
        before=iso(span.since) if span.since else None,
        after=iso(span.until) if span.until is not None else None,
    )


def _calls(reader: Reader, agent: Agent, span: Range, *, newest: bool) -> tuple[list[ToolCallView], Micros | None]:
    """The newest or else the first calls that started in a range, and where the range is cut if they are too many."""
    events, is_complete = _tool_events(reader, agent, span, newest=newest)
    found = [call for call in assemble(events, agent) if span.contains(_micros(call.started_at))]
    found.sort(key=lambda call: call.started_at)
    kept = found[-MAX_CALLS:] if newest else found[:MAX_CALLS]
    cut = None
    if kept and (len(found) > MAX_CALLS or not is_complete):
        cut = _micros(kept[0].started_at) if newest else _micros(kept[-1].started_at) + 1
    return _with_ends(reader, agent, kept, events), cut


def _tool_events(reader: Reader, agent: Agent, span: Range, *, newest: bool) -> tuple[list[StoredEvent], bool]:
    """The tool hooks in and around a range, and whether these are all of them."""
    first, after = reader.log_range(agent.id, span.since, span.until, MARGIN)
    matching = EventFilter(names=TOOL_HOOKS, from_seq=first, before_seq=after)
    start = None if newest else max((first or 0) - 1, 0)
    events = reader.events(agent_id=agent.id, after=start, limit=MAX_EVENTS, matching=matching)
    return events, len(events) < MAX_EVENTS


def _with_ends(
    reader: Reader, agent: Agent, calls: list[ToolCallView], events: Sequence[StoredEvent]
) -> list[ToolCallView]:
    """The calls, those whose end was not read with their end from the events that follow."""
    open_ids = {call.id for call in calls if call.outcome == "unknown"}
    if not open_ids:
        return calls
    matching = EventFilter(names=TOOL_ENDS)
    later = reader.events(agent_id=agent.id, after=events[-1].seq, limit=LOOK_AHEAD, matching=matching)
    ended = {call.id: call for call in assemble([*events, *later], agent) if call.id in open_ids}
    return [ended.get(call.id, call) for call in calls]


def _micros(time: Time) -> Micros:
    return parse_time("time", time, 0)
