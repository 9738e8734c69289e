"""Recorded turns of the real Copilot CLI 1.0.102, which can be replayed in any order.

`sessions/<scenario>.jsonl` has the hooks with the time at which they fired, and the lines of `events.jsonl`, which have
their own time. The model was scripted (the text after `@@` in a prompt is its script), and paths are replaced. Some
turns were recorded with Copilot's own names of events, others with those of Claude Code.
"""

import json
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from claude_headspace.clients.copilot.transcript_files import read_lines
from claude_headspace.clients.decode import decode
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros, Observations, Origin
from tests.kernel.story import Story, new_agent

SESSIONS = Path(__file__).with_name("sessions")
PAYLOADS = Path(__file__).with_name("payloads")
ROOT = "/home/sam/.copilot/session-state/"

HOOK_DELAY: Micros = 15_000
"""How long a hook takes to reach the daemon."""
LINE_DELAY: Micros = 250_000
"""How long a line takes to be written and read."""

_ids = count(1)


class RecordedEvent(NamedTuple):
    """An event of one source, and when it arrived."""

    arrived: Micros
    source: str
    envelope: Envelope


def scenarios() -> list[str]:
    """The names of the scenarios."""
    return sorted(path.stem for path in SESSIONS.glob("*.jsonl"))


def rows(scenario: str) -> list[dict[str, Any]]:
    """The rows of a recording."""
    return [json.loads(line) for line in (SESSIONS / f"{scenario}.jsonl").read_text(encoding="utf-8").splitlines()]


def session_of(scenario: str) -> str:
    """The session of a recording."""
    hooks = [row["hook"] for row in rows(scenario) if "hook" in row]
    found: str = hooks[0].get("sessionId") or hooks[0]["session_id"]
    return found


def recorded(scenario: str) -> list[RecordedEvent]:
    """All events of a scenario, in the order of arrival."""
    return sorted([*_hooks(scenario), *_lines(scenario)], key=lambda each: each.arrived)


def _hooks(scenario: str) -> list[RecordedEvent]:
    events = []
    for row in rows(scenario):
        if "hook" in row:
            at = round(row["at"] * SECOND)
            made = envelope(Origin.HOOK, row["event"], at, msgspec.json.encode(row["hook"]))
            events.append(RecordedEvent(at + HOOK_DELAY, "hook", made))
    return events


def raw_lines(scenario: str) -> bytes:
    """The lines of a scenario as in their file."""
    return b"".join(msgspec.json.encode(row["line"]) + b"\n" for row in rows(scenario) if "line" in row)


def _lines(scenario: str) -> list[RecordedEvent]:
    events = []
    for text, line in read_lines(f"{ROOT}{session_of(scenario)}/events.jsonl", raw_lines(scenario), 0):
        assert line.at is not None
        made = envelope(Origin.TRANSCRIPT, "TranscriptLine", line.at, text)
        events.append(RecordedEvent(line.at + LINE_DELAY, "line", made))
    return events


def envelope(origin: Origin, name: str, at: Micros, payload: bytes) -> Envelope:
    """An event of Copilot CLI."""
    return Envelope(
        id=f"{origin.value}-{next(_ids)}",
        name=name,
        origin=origin,
        client="copilot",
        host="laptop",
        fired_at=at,
        received_at=at + HOOK_DELAY,
        payload=payload,
        observations=Observations(client_pid=4711 if origin is Origin.HOOK else None),
    )


def orders(events: list[RecordedEvent]) -> dict[str, list[RecordedEvent]]:
    """The orders in which the events of a session may reach the daemon."""
    hooks = [each for each in events if each.source == "hook"]
    lines = [each for each in events if each.source == "line"]
    return {
        "as it happened": events,
        "hooks, then lines": hooks + lines,
        "lines, then hooks": lines + hooks,
        "by their times": sorted(events, key=lambda each: each.envelope.fired_at),
        "lines alone": lines,
    }


def replay(events: list[RecordedEvent]) -> Story:
    """Replay all events in the kernel."""
    story = Story(new_agent(created_at=min(each.envelope.fired_at for each in events), client="copilot"))
    for each in events:
        story.apply(decode(each.envelope))
    return story


def states(events: list[RecordedEvent]) -> str:
    """The states of a session in order."""
    boards = [
        ":".join(filter(None, (change.agent.state, change.agent.waiting_for))) for change in replay(events).changes
    ]
    return " ".join(board for number, board in enumerate(boards) if boards[number - 1 : number] != [board])
