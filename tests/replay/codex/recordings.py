"""Recorded turns of the real Codex 0.166.0, which can be replayed in any order.

`sessions/<scenario>.jsonl` has the hooks with the time at which they fired, the lines of the rollouts with their own
time, and what was typed. The model was scripted (the text after `@@` in a prompt is its script), long bodies are left
out, and paths are replaced.
"""

import json
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from claude_headspace.clients.codex.transcript_files import read_lines
from claude_headspace.clients.decode import decode
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros, Observations, Origin
from tests.kernel.story import Story, new_agent

SESSIONS = Path(__file__).with_name("sessions")
PAYLOADS = Path(__file__).with_name("payloads")
ROOT = "/home/sam/.codex/sessions/"

HOOK_DELAY: Micros = 15_000
"""How long a hook takes to reach the daemon."""
LINE_DELAY: Micros = 110_000
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


def recorded(scenario: str) -> list[RecordedEvent]:
    """All events of a scenario, in the order of arrival."""
    return sorted([*_hooks(scenario), *_lines(scenario)], key=lambda each: each.arrived)


def _hooks(scenario: str) -> list[RecordedEvent]:
    events = []
    for row in rows(scenario):
        if "hook" in row:
            at = round(row["at"] * SECOND)
            name, payload = row["hook"]["hook_event_name"], msgspec.json.encode(row["hook"])
            events.append(RecordedEvent(at + HOOK_DELAY, "hook", envelope(Origin.HOOK, name, at, payload)))
    return events


def _lines(scenario: str) -> list[RecordedEvent]:
    files = dict.fromkeys(row["file"] for row in rows(scenario) if "file" in row)
    events = []
    for file in files:
        raw = b"".join(msgspec.json.encode(row["line"]) + b"\n" for row in rows(scenario) if row.get("file") == file)
        for text, line in read_lines(ROOT + file, raw, 0):
            assert line.at is not None
            made = envelope(Origin.TRANSCRIPT, "TranscriptLine", line.at, text)
            events.append(RecordedEvent(line.at + LINE_DELAY, "line", made))
    return events


def envelope(origin: Origin, name: str, at: Micros, payload: bytes) -> Envelope:
    """An event of Codex."""
    return Envelope(
        id=f"{origin.value}-{next(_ids)}",
        name=name,
        origin=origin,
        client="codex",
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
        "hooks, then the rollout": hooks + lines,
        "the rollout, then hooks": lines + hooks,
        "by their times": sorted(events, key=lambda each: each.envelope.fired_at),
        "the rollout alone": lines,
        "hooks alone": hooks,
    }


def replay(events: list[RecordedEvent]) -> Story:
    """Replay all events in the kernel."""
    story = Story(new_agent(created_at=min(each.envelope.fired_at for each in events), client="codex"))
    for each in events:
        story.apply(decode(each.envelope))
    return story


def states(events: list[RecordedEvent]) -> str:
    """The states of a session in order."""
    boards = [
        ":".join(filter(None, (change.agent.state, change.agent.waiting_for))) for change in replay(events).changes
    ]
    return " ".join(board for number, board in enumerate(boards) if boards[number - 1 : number] != [board])
