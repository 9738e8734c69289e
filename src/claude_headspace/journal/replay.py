"""Derives the projections from the log. Uses only `evolve`, so a replay never notifies or acts again."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from typing import Any

from sqlalchemy import RowMapping, Table

from claude_headspace.clients.decode import decode
from claude_headspace.journal.rows import Row, RowChanges, replace_nul
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort.advance import EffortReplay
from claude_headspace.kernel.effort.snapshot import NO_EFFORTS, EffortsSnapshot
from claude_headspace.kernel.replay import replay_event
from claude_headspace.kernel.search_documents import Document, event_documents
from claude_headspace.kernel.snapshot import Snapshot
from claude_headspace.ports import Difference, StoredEvent


def project(
    events: Iterable[StoredEvent],
    add_documents: Callable[[list[tuple[Document, str]]], None],
    snapshots: Iterable[Snapshot] = (),
    kept_efforts: EffortsSnapshot = NO_EFFORTS,
) -> tuple[RowChanges, int]:
    """The projections of a log and its number of events; search documents go to `add_documents`."""
    row_changes, agents, efforts, count = RowChanges(), dict[str, Agent](), EffortReplay(kept_efforts), 0
    row_changes.add_efforts_snapshot(kept_efforts)
    steps: Iterable[Snapshot | StoredEvent] = merge(snapshots, events, key=_seq)
    for step in steps:
        if isinstance(step, Snapshot):
            agents[step.agent.id] = step.agent
            row_changes.add_snapshot(step)
            continue
        stored, count = step, count + 1
        event, agent = decode(stored.envelope), agents.get(stored.agent_id)
        retold = replay_event(agent, stored.agent_id, stored.envelope, event, stored.strategy, stored.anomaly)
        if retold is not None:
            agents[stored.agent_id] = retold.change.agent
            row_changes.add_change(stored.seq, retold.change, retold.claims)
            add_documents(event_documents(stored.seq, event, retold.change))
        agent = retold.change.agent if retold else None
        if effort_change := efforts.apply(stored.seq, stored.envelope, event, agent):
            row_changes.add_effort_change(effort_change)
    row_changes.add_agent_rows({})
    return row_changes, count


def _seq(step: Snapshot | StoredEvent) -> int:
    """A snapshot is applied at its place in the log: its identities may belong to another agent later."""
    return step.seq


def compare(table: Table, expected: Mapping[Any, Row], found: Sequence[RowMapping]) -> Iterator[Difference]:
    """The rows of a table that differ from the expected ones."""
    keys = [column.name for column in table.primary_key]
    stored = {_key(dict(row), keys): dict(row) for row in found}
    wanted = {_key(row, keys): row for row in expected.values()}
    for key in sorted(stored.keys() | wanted.keys()):
        problem = _problem(wanted.get(key), stored.get(key))
        if problem:
            yield Difference(str(table.name), key, problem)  # msgspec cannot encode SQLAlchemy's subclass of str


def _key(row: Mapping[Any, Any], keys: list[str]) -> str:
    return ":".join(str(replace_nul(row[name])) for name in keys)


def _problem(wanted: Row | None, stored: Row | None) -> str | None:
    if wanted is None:
        return "does not follow from the log"
    if stored is None:
        return "is missing"
    differing = [name for name, value in wanted.items() if replace_nul(stored.get(name)) != replace_nul(value)]
    return f"differs in {', '.join(differing)}" if differing else None
