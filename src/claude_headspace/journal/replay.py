"""From the log back to the projections. Uses `evolve` alone, so a replay can never notify or act again."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from typing import Any

from sqlalchemy import RowMapping, Table

from claude_headspace.journal.rows import Projection, Row, replace_nul
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort.advance import Ledger
from claude_headspace.kernel.effort.model import EffortChange
from claude_headspace.kernel.effort.snapshot import NO_EFFORTS, EffortsSnapshot
from claude_headspace.kernel.replay import retell
from claude_headspace.kernel.search_documents import Document, documents
from claude_headspace.kernel.snapshot import Snapshot
from claude_headspace.ports import Difference, StoredEvent


def project(
    events: Iterable[StoredEvent],
    find: Callable[[list[tuple[Document, str]]], None],
    snapshots: Iterable[Snapshot] = (),
    kept: EffortsSnapshot = NO_EFFORTS,
) -> tuple[Projection, int]:
    """Everything that follows from a log, and how many events it has; what can be found is handed on to `find`."""
    projection, agents, efforts, count = Projection(), dict[str, Agent](), Ledger(kept), 0
    projection.add_efforts_snapshot(kept)
    steps: Iterable[Snapshot | StoredEvent] = merge(snapshots, events, key=_seq)
    for step in steps:
        if isinstance(step, Snapshot):
            agents[step.agent.id] = step.agent
            projection.add_snapshot(step)
            continue
        stored, count = step, count + 1
        retold = retell(agents.get(stored.agent_id), stored.agent_id, stored.envelope, stored.strategy, stored.anomaly)
        if retold is not None:
            agents[stored.agent_id] = retold.change.agent
            projection.add_change(stored.seq, retold.change, retold.claims)
            find(documents(stored.seq, stored.envelope, retold.change))
        _take_effort(projection, efforts.read(stored.seq, stored.envelope, retold.change.agent if retold else None))
    projection.table_rows(_nobody)
    return projection, count


def _seq(step: Snapshot | StoredEvent) -> int:
    """Each agent begins where it stood among the others: what it was known by then may be another's later."""
    return step.seq


def _take_effort(projection: Projection, change: EffortChange | None) -> None:
    if change is not None:
        projection.add_effort_change(change)


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
            yield Difference(str(table.name), key, problem)  # SQLAlchemy's own kind of text cannot be encoded


def _key(row: Mapping[Any, Any], keys: list[str]) -> str:
    return ":".join(str(replace_nul(row[name])) for name in keys)


def _problem(wanted: Row | None, stored: Row | None) -> str | None:
    if wanted is None:
        return "is there but does not follow from the log"
    if stored is None:
        return "is missing"
    differing = [name for name, value in wanted.items() if replace_nul(stored.get(name)) != replace_nul(value)]
    return f"differs in {', '.join(differing)}" if differing else None
