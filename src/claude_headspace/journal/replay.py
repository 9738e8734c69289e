"""From the log back to the projections. Uses `evolve` alone, so a replay can never notify or act again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import RowMapping, Table

from claude_headspace.journal.rows import Projection, Row, storable
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.birth import born, claims
from claude_headspace.kernel.correlate import Strategy
from claude_headspace.kernel.decode import decode
from claude_headspace.kernel.effort.advance import Ledger
from claude_headspace.kernel.effort.nouns import EffortChange
from claude_headspace.kernel.evolve import evolve
from claude_headspace.ports import UNDERSTANDING_FAILED, Difference, StoredEvent


def project(events: Iterable[StoredEvent]) -> tuple[Projection, int]:
    """Everything that follows from a log, and how many events it has."""
    projection, agents, efforts, count = Projection(), dict[str, Agent](), Ledger(), 0
    for stored in events:
        count += 1
        if stored.strategy is Strategy.NOBODY:
            continue
        if stored.strategy is Strategy.EFFORT:
            _take_effort(projection, efforts.read(stored.envelope, decode(stored.envelope), None))
            continue
        if stored.anomaly is not None and stored.anomaly.startswith(UNDERSTANDING_FAILED):
            continue
        event = decode(stored.envelope)
        agent = agents.get(stored.agent_id) or born(stored.agent_id, stored.envelope, event)
        change = evolve(agent, event)
        agents[stored.agent_id] = change.agent
        projection.take(stored.seq, change, claims(agent, stored.envelope, event))
        _take_effort(projection, efforts.read(stored.envelope, event, change.agent))
    projection.rows(_nobody)
    return projection, count


def _take_effort(projection: Projection, change: EffortChange | None) -> None:
    if change is not None:
        projection.take_effort(change)


def _nobody(_agent_id: str) -> None:
    """A replay begins with nothing."""


def compare(table: Table, expected: Mapping[Any, Row], found: Sequence[RowMapping]) -> Iterator[Difference]:
    """The rows of one projection that do not follow from the log."""
    keys = [column.name for column in table.primary_key]
    stored = {_key(dict(row), keys): dict(row) for row in found}
    wanted = {_key(row, keys): row for row in expected.values()}
    for key in sorted(stored.keys() | wanted.keys()):
        problem = _problem(wanted.get(key), stored.get(key))
        if problem:
            yield Difference(table.name, key, problem)


def _key(row: Mapping[Any, Any], keys: list[str]) -> str:
    return ":".join(str(storable(row[name])) for name in keys)


def _problem(wanted: Row | None, stored: Row | None) -> str | None:
    if wanted is None:
        return "is there but does not follow from the log"
    if stored is None:
        return "is missing"
    differing = [name for name, value in wanted.items() if storable(stored.get(name)) != storable(value)]
    return f"differs in {', '.join(differing)}" if differing else None
