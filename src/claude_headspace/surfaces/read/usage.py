"""Cost and tokens of agents over all their sessions: by day, project, model, client, agent and session.

The journal has them by quarter of an hour. They are added up here, in the time zone of the daemon.

Rules
- A cost is what the client reported, or the price of the tokens for clients without a cost of their own.
- Tokens without a known price are counted as such: a sum with some of them is a minimum, and one of nothing else is
  unknown, never zero.
- Agents of which nothing is known are counted by client: their use is not part of any sum.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from claude_headspace.kernel.agent import Agent, Project
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.text import Time, iso, optional_iso
from claude_headspace.kernel.usage import QUARTER, Bucket, Tokens
from claude_headspace.ports import Clock, Reader


class Sums(msgspec.Struct, frozen=True, kw_only=True):
    """What was used."""

    cost_usd: float | None
    """The known cost; None if nothing of it is known. A minimum if `unpriced_tokens` is not 0."""
    input_tokens: int
    """Without the tokens that were read from or written to the cache."""
    cache_read_tokens: int
    cache_write_tokens: int
    output_tokens: int
    total_tokens: int
    unpriced_tokens: int
    """The tokens whose cost is not known."""


class UsageRow(Sums, kw_only=True, frozen=True):
    """What one group used. Only the fields that the report is grouped by are set."""

    day: str | None = None
    project: Project | None = None
    model: str | None = None
    """Empty if the client did not name it."""
    client: str | None = None
    agent_id: str | None = None
    agent: str | None = None
    session_id: str | None = None


class UnmeasuredAgents(msgspec.Struct, frozen=True):
    """How many agents of a client were active, but reported neither cost nor tokens."""

    client: str
    agents: int


class UsageReport(msgspec.Struct, frozen=True, kw_only=True):
    """What agents used in a time range."""

    since: Time | None
    until: Time | None
    by: tuple[str, ...]
    rows: list[UsageRow]
    total: Sums
    unpriced_sessions: int
    """The sessions that used tokens without a known price."""
    sessions_without_tokens: int
    """The sessions that have reported a cost, but no tokens: Claude Code reports tokens when a session ends."""
    unmeasured: list[UnmeasuredAgents]


class UsageFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which usage to report. None: all."""

    since: Micros | None = None
    until: Micros | None = None
    agent_id: str | None = None
    project_ids: tuple[str, ...] | None = None
    client: str | None = None
    model: str | None = None

    def has_agent(self, agent: Agent) -> bool:
        """Whether an agent is of the project and the client."""
        in_project = self.project_ids is None or agent.project.id in self.project_ids
        return in_project and self.client in (None, agent.client) and self.agent_id in (None, agent.id)

    def has_model(self, model: str) -> bool:
        """Whether a model is meant. A name without its suffix means all of them."""
        return self.model is None or model == self.model or model.startswith((f"{self.model}-", f"{self.model}["))


Key = Callable[[Bucket, Agent], object]

KEYS: Mapping[str, Key] = {
    "day": lambda bucket, _agent: day_of(bucket.at),
    "project": lambda _bucket, agent: agent.project,
    "model": lambda bucket, _agent: bucket.model,
    "client": lambda _bucket, agent: agent.client,
    "agent": lambda _bucket, agent: agent.id,
    "session": lambda bucket, _agent: bucket.session_id,
}
"""What a report can be grouped by."""

FIELDS = {"agent": "agent_id", "session": "session_id"}
"""The field of a row for a key, if it has another name."""


def day_of(at: Micros) -> str:
    """The date of a time in the local time zone."""
    return datetime.fromtimestamp(at / SECOND, UTC).astimezone().date().isoformat()


def sums(buckets: Iterable[Bucket]) -> Sums:
    """The sums of some usage."""
    tokens, unpriced, cost = Tokens(), 0, 0.0
    for bucket in buckets:
        tokens, unpriced, cost = tokens + bucket.tokens, unpriced + bucket.unpriced_tokens, cost + bucket.cost_usd
    is_known = bool(round(cost, 6)) or tokens.total > unpriced
    return Sums(
        cost_usd=round(cost, 6) if is_known else None,
        input_tokens=tokens.input,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write,
        output_tokens=tokens.output,
        total_tokens=tokens.total,
        unpriced_tokens=unpriced,
    )


def group(buckets: Iterable[Bucket], agents: Mapping[str, Agent], by: Sequence[str]) -> list[UsageRow]:
    """The usage by some keys: days in order, then the most expensive first."""
    groups: dict[tuple[object, ...], list[Bucket]] = {}
    for bucket in buckets:
        groups.setdefault(tuple(KEYS[name](bucket, agents[bucket.agent_id]) for name in by), []).append(bucket)
    rows = [_row(dict(zip(by, key, strict=True)), each, agents) for key, each in groups.items()]
    return sorted(rows, key=lambda row: (row.day or "", -(row.cost_usd or 0.0), -row.total_tokens))


def _row(key: Mapping[str, object], buckets: Sequence[Bucket], agents: Mapping[str, Agent]) -> UsageRow:
    fields: dict[str, Any] = {FIELDS.get(name, name): value for name, value in key.items()}
    if "agent" in key:
        fields["agent"] = agents[buckets[0].agent_id].name
    return UsageRow(**fields, **msgspec.structs.asdict(sums(buckets)))


class UsageQueries:
    """Reads cost and tokens."""

    def __init__(self, reader: Reader, clock: Clock) -> None:
        self._reader = reader
        self._clock = clock

    def report(self, which: UsageFilter, by: Sequence[str]) -> UsageReport:
        """What agents used, by some keys."""
        agents = {agent.id: agent for agent in self._reader.agents(ended_after=0) if which.has_agent(agent)}
        since = None if which.since is None else which.since // QUARTER * QUARTER
        stored = self._reader.usage_between(since, which.until, which.agent_id)
        buckets = [each for each in stored if each.agent_id in agents and which.has_model(each.model)]
        return UsageReport(
            since=optional_iso(which.since),
            until=iso(which.until if which.until is not None else self._clock()),
            by=tuple(by),
            rows=group(buckets, agents, by),
            total=sums(buckets),
            unpriced_sessions=len({each.session_id for each in buckets if each.unpriced_tokens}),
            sessions_without_tokens=_without_tokens(buckets),
            unmeasured=_unmeasured(agents.values(), which) if which.model is None else [],
        )


def _without_tokens(buckets: Iterable[Bucket]) -> int:
    """How many sessions have a cost and no tokens."""
    tokens: Counter[str] = Counter()
    for bucket in buckets:
        tokens[bucket.session_id] += bucket.tokens.total
    return sum(not total for total in tokens.values())


def _unmeasured(agents: Iterable[Agent], which: UsageFilter) -> list[UnmeasuredAgents]:
    """Agents that worked in the time range and whose use is not known at all."""
    found = Counter(agent.client for agent in agents if agent.usage is None and _was_active(agent, which))
    return [UnmeasuredAgents(client, number) for client, number in sorted(found.items())]


def _was_active(agent: Agent, which: UsageFilter) -> bool:
    begun = which.until is None or agent.created_at < which.until
    return begun and agent.command is not None and agent.last_active_at >= (which.since or 0)
