"""Fills a journal with a history: any number of events of agents that ended long ago.

The batches of the engine write it directly into the journal of a scratch home, before a daemon opens it.
"""

import json
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path

from bench import sessions
from claude_headspace.engine.batch import Batch
from claude_headspace.engine.submission import BatchFunctions, Submission
from claude_headspace.journal.sql import SqlJournal
from claude_headspace.kernel.envelope import Envelope, Observations, Origin

START_AT = 1_750_000_000_000_000
INTERVAL_MICROS = 10_000
CONCURRENT_AGENTS = 100
"""The number of agents that work at the same time."""
EVENTS_EACH = 199
BATCH = 1_000


def fill(url: str, already: int, wanted: int, progress: Callable[[int], None]) -> None:
    """Extend a journal from `already` to `wanted` events."""
    journal = SqlJournal(url)
    journal.open()
    ids = count(already)
    try:
        events = islice(_events(), already, wanted)
        for number, batch in enumerate(iter(lambda: list(islice(events, BATCH)), [])):
            with journal.transaction() as transaction:
                work = Batch(transaction, BatchFunctions(new_id=lambda: f"past-{next(ids):012}"))
                work.process([Submission(envelope, None, None) for envelope in batch])  # type: ignore[arg-type]
                transaction.write(work.records)
            progress(already + number * BATCH)
    finally:
        journal.close()


def _events() -> Iterator[Envelope]:
    """The history. It is the same for every call."""
    numbers = count()
    for generation in count():
        first = 1_000_000 + generation * CONCURRENT_AGENTS
        scripts = [
            sessions.script(first + n, Path(f"/past/p{n:03}"), Path("/past/.claude")) for n in range(CONCURRENT_AGENTS)
        ]
        walks = [sessions.walk(script) for script in scripts]
        for _ in range(EVENTS_EACH):
            for walk in walks:
                yield _envelope(next(numbers), next(walk))
        for script in scripts:
            start = json.loads(script.start.pieces[0])
            end = {"session_id": start["session_id"], "cwd": start["cwd"], "hook_event_name": "SessionEnd"}
            yield _envelope(next(numbers), json.dumps({**end, "reason": "prompt_input_exit"}).encode())


def _envelope(number: int, payload: bytes) -> Envelope:
    body = json.loads(payload)
    at = START_AT + number * INTERVAL_MICROS
    return Envelope(
        id=f"past-{number:012}",
        name=body["hook_event_name"],
        origin=Origin.HOOK,
        client="claude-code",
        host="past",
        fired_at=at,
        received_at=at,
        payload=payload,
        observations=Observations(project_root=body["cwd"], branch="main", tmux_pane=f"%{number % CONCURRENT_AGENTS}"),
        delivery_id=f"past-{number:012}",
    )
