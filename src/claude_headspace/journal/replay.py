"""From the log back to the projections. Uses `evolve` alone, so a replay can never notify or act again."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import RowMapping, Table

from claude_headspace.journal.rows import Projection, Row, storable
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.documents import Document, documents
from claude_headspace.kernel.effort.advance import Ledger
from claude_headspace.kernel.effort.nouns import EffortChange
from claude_headspace.kernel.retell import retell
from claude_headspace.kernel.snapshot import Snapshot
from claude_headspace.ports import Difference, StoredEvent


def project(
    events: Iterable[StoredEvent],
    find: Callable[[list[tuple[Document, str]]], None],
    snapshots: Iterable[Snapshot] = (),
) -> tuple[Projection, int]:
    """Everything that follows from a log, and how many events it has; what can be found is handed on to `find`."""
    projection, agents, efforts, count = Projection(), dict[str, Agent](), Ledger(), 0
    for snapshot in snapshots:
        agents[snapshot.agent.id] = snapshot.agent
        projection.begin(snapshot)
    for stored in events:
        count += 1
        retold = retell(agents.get(stored.agent_id), stored.agent_id, stored.envelope, stored.strategy, stored.anomaly)
        if retold is not None:
            agents[stored.agent_id] = retold.change.agent
            projection.take(stored.seq, retold.change, retold.claims)
            find(documents(stored.seq, stored.envelope, retold.change))
        _take_effort(projection, efforts.read(stored.envelope, retold.change.agent if retold else None))
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
            yield Difference(str(table.name), key, problem)  # SQLAlchemy's own kind of text cannot be encoded


def _key(row: Mapping[Any, Any], keys: list[str]) -> str:
    return ":".join(str(storable(row[name])) for name in keys)


def _problem(wanted: Row | None, stored: Row | None) -> str | None:
    if wanted is None:
        return "is there but does not follow from the log"
    if stored is None:
        return "is missing"
    differing = [name for name, value in wanted.items() if storable(stored.get(name)) != storable(value)]
    return f"differs in {', '.join(differing)}" if differing else None
