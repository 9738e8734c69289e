"""Recorded sessions of the real Claude Code, which can be replayed in any order.

`sessions/<scenario>.<version>.jsonl` is the recording of one client: hooks with the time at which they fired, registry
entries and transcript lines with the time at which they were written. The model was scripted (the text after `@@` in a
prompt is its script), long bodies are left out, and paths are replaced.
"""

import json
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from claude_headspace.clients.claude_code.registry import ACTIVITIES
from claude_headspace.clients.claude_code.transcript import read_line
from claude_headspace.clients.decode import decode
from claude_headspace.clients.registry_entry import Activity
from claude_headspace.inputs.watch.session_registry import BETWEEN_TURNS
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros, Observations, Origin
from tests.kernel.story import Story, new_agent

SESSIONS = Path(__file__).with_name("sessions")
VERSIONS = ("2.1.197", "2.1.325")

HOOK_DELAY: Micros = 15_000
"""How long a hook takes to reach the daemon."""
REGISTRY_DELAY: Micros = SECOND
"""How long a registry entry of an unknown session is delayed."""

_ids = count(1)


class RecordedEvent(NamedTuple):
    """An event of one source, and when it arrived."""

    arrived: Micros
    source: str
    envelope: Envelope


def scenarios() -> list[str]:
    """The names of the scenarios."""
    return sorted({path.name.split(".")[0] for path in SESSIONS.glob("*.jsonl")})


def recorded(scenario: str, version: str) -> list[RecordedEvent]:
    """All events of a session, in the order of arrival."""
    text = (SESSIONS / f"{scenario}.{version}.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    events = [*_hooks(rows), *_lines(rows)]
    events += _entries(rows, events)
    return sorted(events, key=lambda each: each.arrived)


def key_press(scenario: str, version: str) -> Micros:
    """The time at which the user pressed the key of the scenario."""
    text = (SESSIONS / f"{scenario}.{version}.jsonl").read_text(encoding="utf-8")
    acts = [row for row in map(json.loads, text.splitlines()) if row["source"] == "act"]
    return round(float(acts[0]["arrived"]) * SECOND)


def _envelope(origin: Origin, name: str, at: Micros, arrived: Micros, data: Any, pid: int | None = None) -> Envelope:
    return Envelope(
        id=f"{origin.value}-{next(_ids)}",
        name=name,
        origin=origin,
        client="claude-code",
        host="laptop",
        fired_at=at,
        received_at=arrived,
        payload=msgspec.json.encode(data),
        observations=Observations(client_pid=pid),
    )


def _hooks(rows: list[dict[str, Any]]) -> list[RecordedEvent]:
    events = []
    for row in rows:
        if row["source"] == "hook":
            at = round(row["arrived"] * SECOND)
            envelope = _envelope(Origin.HOOK, row["name"], at, at + HOOK_DELAY, row["data"], row["pid"])
            events.append(RecordedEvent(at + HOOK_DELAY, "hook", envelope))
    return events


def _lines(rows: list[dict[str, Any]]) -> list[RecordedEvent]:
    """The transcript lines with a meaning. A line without a time has the time of the previous line."""
    events, newest = [], dict[str, Micros]()
    for row in rows:
        line = read_line(msgspec.json.encode(row["data"])) if row["source"] == "transcript" else None
        if line is not None:
            arrived, file = round(row["arrived"] * SECOND), row["name"]
            at = newest[file] = line.at or newest.get(file, arrived)
            events.append(
                RecordedEvent(arrived, "line", _envelope(Origin.TRANSCRIPT, "TranscriptLine", at, arrived, row["data"]))
            )
    return events


def _entries(rows: list[dict[str, Any]], others: list[RecordedEvent]) -> list[RecordedEvent]:
    """The registry entries as Headspace stores them: delayed for unknown sessions, and without short idle times."""
    entries = [row for row in rows if row["source"] == "registry"]
    known = {(each.arrived, decode(each.envelope).meta.session_id) for each in others}
    events = []
    for number, row in enumerate(entries):
        data, arrived = row["data"], round(row["arrived"] * SECOND)
        session, released = data["sessionId"], arrived + REGISTRY_DELAY
        later = [each for each in entries[number + 1 :] if round(each["arrived"] * SECOND) <= released]
        if not any(time <= arrived and owner == session for time, owner in known):
            if any(each["data"]["sessionId"] != session for each in later):
                continue
            arrived = released
        passes = [each for each in later if round(each["arrived"] * SECOND) <= arrived + BETWEEN_TURNS]
        if data.get("status") and not (ACTIVITIES.get(data["status"]) is Activity.IDLE and passes):
            at = data["statusUpdatedAt"] * 1000
            events.append(
                RecordedEvent(arrived, "entry", _envelope(Origin.REGISTRY, "Entry", at, arrived, data, data["pid"]))
            )
    return events


def without_end(events: list[RecordedEvent]) -> list[RecordedEvent]:
    """The events without the end of the client."""
    return [each for each in events if each.envelope.name != "SessionEnd"]


def orders(events: list[RecordedEvent]) -> dict[str, list[RecordedEvent]]:
    """The orders in which the events of a session may reach the daemon."""
    by_time = sorted(events, key=lambda each: each.envelope.fired_at)
    hooks = [each for each in events if each.source == "hook"]
    lines = [each for each in by_time if each.source == "line"]
    return {
        "as it happened": events,
        "no registry": [each for each in events if each.source != "entry"],
        "hooks, then the transcript": hooks + lines,
        "the transcript, then hooks": lines + hooks,
        "the transcript alone": lines,
        "no hooks": [each for each in by_time if each.source != "hook"],
    }


def replay(events: list[RecordedEvent]) -> Story:
    """Replay all events in the kernel."""
    first = events[0].envelope
    story = Story(new_agent(created_at=first.fired_at))
    for each in events:
        story.apply(decode(each.envelope))
    return story


def words(text: str) -> str:
    """A prompt without its script."""
    return text.partition(" @@")[0].strip().splitlines()[0] if text.strip() else ""


def commands(story: Story) -> list[tuple[str, str, str | None]]:
    """The commands: trigger, text, outcome."""
    found = sorted(story.commands.values(), key=lambda command: command.started_at)
    return [(each.trigger.value, words(each.text), each.outcome.value if each.outcome else None) for each in found]


def turns(story: Story) -> list[tuple[str, str, str]]:
    """The turns: actor, intent, text."""
    found = sorted(story.turn_rows.values(), key=lambda turn: turn.at)
    return [(each.actor.value, each.intent.value, words(each.text)) for each in found]
