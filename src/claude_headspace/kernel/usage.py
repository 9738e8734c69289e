"""The usage of an agent over all its sessions: cost and tokens, by session, model and quarter of an hour. Pure.

Clients report running totals of a session. What a report adds to the previous one is counted at its time.

Rules
- `/clear` starts a session with totals of its own; those of the previous session stay counted. Older clients continue
  the cost in their status line instead: it is not lower than before.
- A resumed session continues its totals. If the client starts them again at zero, they are counted again from zero.
- A session that continues one which the agent did not have (a fork, or a resume of an unknown session) starts with the
  totals of that one: its first report is not counted. So nothing is counted twice. If the client reports for the first
  time after its first turn, that turn is missing.
- A late report, with lower totals, changes nothing.
- Cost counts for the model in use, until the client reports it by model: then that replaces the assumption.
- Tokens of a report without a cost have no known price. They are counted as such; their cost is never zero.
"""

from collections.abc import Iterator, Mapping

import msgspec

from claude_headspace.kernel.envelope import SECOND, Micros

QUARTER: Micros = 900 * SECOND
"""The length of a bucket. Every time zone differs from UTC by a multiple of it, so days can be added up in each."""
MAX_COUNTERS = 4
"""How many sessions an agent keeps the totals of."""
CONTINUED = ("resume", "fork")
"""Starts of a session that continues another one."""
COST_TOLERANCE = 1e-6
"""Costs that differ by less are equal."""
MAX_UNASSIGNED_COST = 0.01
"""Costs by model count if they add up to the total, except for this."""

replace = msgspec.structs.replace


class Tokens(msgspec.Struct, frozen=True, array_like=True):
    """Tokens of replies. `input` is without those that were read from or written to the cache."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        """All tokens."""
        return self.input + self.cache_read + self.cache_write + self.output

    def __add__(self, other: "Tokens") -> "Tokens":
        """The sum."""
        return Tokens(
            self.input + other.input,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.output + other.output,
        )

    def beyond(self, other: "Tokens") -> "Tokens":
        """What these totals have more than earlier ones."""
        return Tokens(
            max(self.input - other.input, 0),
            max(self.cache_read - other.cache_read, 0),
            max(self.cache_write - other.cache_write, 0),
            max(self.output - other.output, 0),
        )


class ModelUsage(msgspec.Struct, frozen=True, kw_only=True):
    """What a session used of one model. The model is empty if the client does not report usage by model."""

    model: str = ""
    tokens: Tokens = Tokens()
    cost_usd: float | None = None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What a client reported: running totals of a session, or the usage of one message."""

    session_id: str
    opened: str
    """Identifies the start of the session: a client that is started again may start its totals again."""
    is_continued: bool
    """The session continues another one."""
    is_of_process: bool = False
    """After `/clear`, the cost may be that of the client's process, with earlier sessions."""
    at: Micros
    model: str
    """The model in use."""
    cost_usd: float | None = None
    totals: tuple[ModelUsage, ...] = ()
    added: ModelUsage | None = None


class Counter(msgspec.Struct, frozen=True, array_like=True):
    """The totals of a session as far as they are counted."""

    session_id: str
    opened: str
    cost_usd: float | None = None
    costs: dict[str, float] = {}
    """How much of the cost was counted for each model."""
    tokens: dict[str, Tokens] = {}
    inherits_cost: bool = False
    """The first cost that is reported includes that of another session."""
    inherits_tokens: bool = False


class Bucket(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What an agent used of one model in a quarter of an hour of a session."""

    id: str
    agent_id: str
    session_id: str
    at: Micros
    model: str
    tokens: Tokens = Tokens()
    unpriced_tokens: int = 0
    """The tokens whose cost is not known."""
    cost_usd: float = 0.0


class Usage(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The usage of an agent over all its sessions, and what is needed to count the next report."""

    cost_usd: float | None = None
    """None: no cost is known."""
    tokens: Tokens = Tokens()
    unpriced_tokens: int = 0
    counters: tuple[Counter, ...] = ()
    buckets: tuple[Bucket, ...] = ()
    """The buckets of the newest quarter of an hour."""


class Addition(msgspec.Struct, frozen=True, kw_only=True):
    """What a report adds for one model."""

    model: str
    tokens: Tokens = Tokens()
    unpriced_tokens: int = 0
    cost_usd: float = 0.0


def count(usage: Usage, report: Report, agent_id: str, event_id: str) -> tuple[Usage, list[Bucket]]:
    """The usage after a report, and the buckets that it changed."""
    additions: list[Addition] = []
    if report.cost_usd is not None or report.totals:
        counter, additions = _counted(_counter(usage, report), report)
        usage = _with_counter(usage, counter)
        if report.cost_usd is not None:
            usage = replace(usage, cost_usd=usage.cost_usd or 0.0)
    if report.added is not None:
        additions.append(_addition(report.added, report))
    for addition in additions:
        usage = _with_addition(usage, report, addition, agent_id, event_id)
    changed = {(each.model or report.model, report.at // QUARTER * QUARTER) for each in additions}
    return usage, [each for each in usage.buckets if (each.model, each.at) in changed]


# --- what a report adds -----------------------------------------------------------------------------------------------


def _counter(usage: Usage, report: Report) -> Counter:
    """What is counted of the session so far."""
    known = next((each for each in usage.counters if each.session_id == report.session_id), None)
    previous = usage.counters[-1] if usage.counters else None
    if known is None and report.is_of_process and previous and not _is_lower(report.cost_usd, previous.cost_usd):
        return Counter(report.session_id, report.opened, previous.cost_usd, previous.costs)
    if known is None:
        return Counter(
            report.session_id, report.opened, inherits_cost=report.is_continued, inherits_tokens=report.is_continued
        )
    if known.opened == report.opened:
        return known
    known = replace(known, opened=report.opened)
    return _restarted(known, report) if report.is_continued else known


def _restarted(counter: Counter, report: Report) -> Counter:
    """The counter of a client that was started again: from zero if its totals are lower than before."""
    if _is_lower(report.cost_usd, counter.cost_usd):
        return replace(counter, cost_usd=0.0, costs={}, tokens={})
    if report.totals and sum(each.tokens.total for each in report.totals) < _sum(counter.tokens):
        counter = replace(counter, tokens={})
    return counter


def _is_lower(cost: float | None, before: float | None) -> bool:
    return cost is not None and before is not None and cost < before - COST_TOLERANCE


def _sum(tokens: Mapping[str, Tokens]) -> int:
    return sum(each.total for each in tokens.values())


def _counted(counter: Counter, report: Report) -> tuple[Counter, list[Addition]]:
    """The counter after a report, and what the report adds."""
    additions: list[Addition] = []
    if report.cost_usd is not None and not _is_lower(report.cost_usd, counter.cost_usd):
        counter, additions = _count_cost(counter, report, report.cost_usd)
    if report.totals:
        counter, new = _count_tokens(counter, report)
        additions += new
    return counter, additions


def _count_cost(counter: Counter, report: Report, cost: float) -> tuple[Counter, list[Addition]]:
    """Count the new cost: by model if the client reports it so, else for the model in use."""
    by_model = _costs_by_model(report, cost)
    if counter.inherits_cost:
        inherits_tokens = counter.inherits_tokens and cost > COST_TOLERANCE
        costs = by_model or {report.model: cost}
        return replace(counter, cost_usd=cost, costs=costs, inherits_cost=False, inherits_tokens=inherits_tokens), []
    assumed = dict(counter.costs)
    assumed[report.model] = assumed.get(report.model, 0.0) + cost - (counter.cost_usd or 0.0)
    # The costs by model that a session inherits are not known before the first report by model.
    now = by_model if by_model and not counter.inherits_tokens else assumed
    additions = list(_differences(counter.costs, now))
    return replace(counter, cost_usd=cost, costs=by_model or assumed), additions


def _differences(before: Mapping[str, float], now: Mapping[str, float]) -> Iterator[Addition]:
    for model in dict.fromkeys((*now, *before)):
        new = now.get(model, 0.0) - before.get(model, 0.0)
        if abs(new) > COST_TOLERANCE:
            yield Addition(model=model, cost_usd=new)


def _costs_by_model(report: Report, cost: float) -> dict[str, float] | None:
    """The cost of each model; None if the client does not report it by model, or not all of it."""
    costs = {each.model: each.cost_usd for each in report.totals if each.cost_usd is not None}
    is_complete = bool(costs) and "" not in costs and abs(sum(costs.values()) - cost) < MAX_UNASSIGNED_COST
    return costs if is_complete else None


def _count_tokens(counter: Counter, report: Report) -> tuple[Counter, list[Addition]]:
    """Count the new tokens. A total that is lower than before changes nothing."""
    tokens, additions = dict(counter.tokens), []
    for each in report.totals:
        new = each.tokens.beyond(tokens.get(each.model, Tokens()))
        if new.total:
            tokens[each.model] = tokens.get(each.model, Tokens()) + new
            is_priced = report.cost_usd is not None or each.cost_usd is not None
            additions.append(Addition(model=each.model, tokens=new, unpriced_tokens=0 if is_priced else new.total))
    return replace(counter, tokens=tokens, inherits_tokens=False), [] if counter.inherits_tokens else additions


def _addition(added: ModelUsage, report: Report) -> Addition:
    """The usage of one message. Its cost is part of the total of the session, which is reported separately."""
    unpriced = 0 if added.cost_usd else added.tokens.total
    return Addition(model=added.model or report.model, tokens=added.tokens, unpriced_tokens=unpriced)


# --- buckets ----------------------------------------------------------------------------------------------------------


def _with_counter(usage: Usage, counter: Counter) -> Usage:
    others = tuple(each for each in usage.counters if each.session_id != counter.session_id)
    return replace(usage, counters=(*others[1 - MAX_COUNTERS :], counter))


def _with_addition(usage: Usage, report: Report, new: Addition, agent_id: str, event_id: str) -> Usage:
    """Add to the bucket of the session, the time and the model, and to the sums."""
    at, model = report.at // QUARTER * QUARTER, new.model or report.model
    newest = tuple(each for each in usage.buckets if each.at == at)
    key = (report.session_id, model)
    bucket = next((each for each in newest if (each.session_id, each.model) == key), None) or Bucket(
        id=f"{event_id}-u{len(newest)}", agent_id=agent_id, session_id=report.session_id, at=at, model=model
    )
    bucket = replace(
        bucket,
        tokens=bucket.tokens + new.tokens,
        unpriced_tokens=bucket.unpriced_tokens + new.unpriced_tokens,
        cost_usd=bucket.cost_usd + new.cost_usd,
    )
    cost = usage.cost_usd if not new.cost_usd else (usage.cost_usd or 0.0) + new.cost_usd
    return replace(
        usage,
        cost_usd=cost,
        tokens=usage.tokens + new.tokens,
        unpriced_tokens=usage.unpriced_tokens + new.unpriced_tokens,
        buckets=(*(each for each in newest if each.id != bucket.id), bucket),
    )
