"""Recorded sessions of the real Claude Code, to be told again in any order.

`sessions/<scenario>.<version>.jsonl` holds what one client did: hooks with the moment they fired, registry entries and
transcript lines with the moment they reached the disk. They were recorded with a scripted model (what follows `@@` in a
prompt is its script), long bodies are left out, paths are scrubbed.
"""

import json
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from claude_headspace.clients.claude_code.registry import ACTIVITIES
from claude_headspace.clients.claude_code.transcript import read_line
from claude_headspace.clients.client_files import Activity
from claude_headspace.clients.decode import decode
from claude_headspace.inputs.watch.session_registry import BETWEEN_TURNS
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros, Observations, Origin
from tests.kernel.story import Story, new_agent

SESSIONS = Path(__file__).with_name("sessions")
VERSIONS = ("2.1.197", "2.1.325")

ON_THE_WAY: Micros = 15_000
"""How long a hook takes to reach the daemon."""
HELD_BACK: Micros = SECOND
"""How long a registry entry of an unknown session is held back."""

_ids = count(1)


class Told(NamedTuple):
    """Something that one source told, and when it arrived."""

    arrived: Micros
    source: str
    envelope: Envelope


def scenarios() -> list[str]:
    """The names of the scenarios."""
    return sorted({path.name.split(".")[0] for path in SESSIONS.glob("*.jsonl")})


def recorded(scenario: str, version: str) -> list[Told]:
    """All that was told in a session, in the order it arrived."""
    text = (SESSIONS / f"{scenario}.{version}.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    told = [*_hooks(rows), *_lines(rows)]
    told += _entries(rows, told)
    return sorted(told, key=lambda each: each.arrived)


def key_press(scenario: str, version: str) -> Micros:
    """When the human pressed the key that the scenario is about."""
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


def _hooks(rows: list[dict[str, Any]]) -> list[Told]:
    told = []
    for row in rows:
        if row["source"] == "hook":
            at = round(row["arrived"] * SECOND)
            sealed = _envelope(Origin.HOOK, row["name"], at, at + ON_THE_WAY, row["data"], row["pid"])
            told.append(Told(at + ON_THE_WAY, "hook", sealed))
    return told


def _lines(rows: list[dict[str, Any]]) -> list[Told]:
    """The lines that say something; one without a time has that of the line before."""
    told, newest = [], dict[str, Micros]()
    for row in rows:
        line = read_line(msgspec.json.encode(row["data"])) if row["source"] == "transcript" else None
        if line is not None:
            arrived, file = round(row["arrived"] * SECOND), row["name"]
            at = newest[file] = line.at or newest.get(file, arrived)
            told.append(Told(arrived, "line", _envelope(Origin.TRANSCRIPT, "TranscriptLine", at, arrived, row["data"])))
    return told


def _entries(rows: list[dict[str, Any]], others: list[Told]) -> list[Told]:
    """The registry entries as Headspace tells them: those of unknown sessions are held back, passing ones left out."""
    entries = [row for row in rows if row["source"] == "registry"]
    known = {(each.arrived, decode(each.envelope).meta.session_id) for each in others}
    told = []
    for number, row in enumerate(entries):
        data, arrived = row["data"], round(row["arrived"] * SECOND)
        session, released = data["sessionId"], arrived + HELD_BACK
        later = [each for each in entries[number + 1 :] if round(each["arrived"] * SECOND) <= released]
        if not any(moment <= arrived and owner == session for moment, owner in known):
            if any(each["data"]["sessionId"] != session for each in later):
                continue
            arrived = released
        passes = [each for each in later if round(each["arrived"] * SECOND) <= arrived + BETWEEN_TURNS]
        if data.get("status") and not (ACTIVITIES.get(data["status"]) is Activity.IDLE and passes):
            at = data["statusUpdatedAt"] * 1000
            told.append(Told(arrived, "entry", _envelope(Origin.REGISTRY, "Entry", at, arrived, data, data["pid"])))
    return told


def without_end(told: list[Told]) -> list[Told]:
    """The same, without the end of the client: what is seen just before."""
    return [each for each in told if each.envelope.name != "SessionEnd"]


def orders(told: list[Told]) -> dict[str, list[Told]]:
    """The ways in which a session may reach the daemon."""
    by_time = sorted(told, key=lambda each: each.envelope.fired_at)
    hooks = [each for each in told if each.source == "hook"]
    lines = [each for each in by_time if each.source == "line"]
    return {
        "as it happened": told,
        "no registry": [each for each in told if each.source != "entry"],
        "hooks, then the transcript": hooks + lines,
        "the transcript, then hooks": lines + hooks,
        "the transcript alone": lines,
        "no hooks": [each for each in by_time if each.source != "hook"],
    }


def play(told: list[Told]) -> Story:
    """Tell all of it to the kernel."""
    first = told[0].envelope
    story = Story(new_agent(created_at=first.fired_at))
    for each in told:
        story.apply(decode(each.envelope))
    return story


def words(text: str) -> str:
    """A prompt without its script."""
    return text.partition(" @@")[0].strip().splitlines()[0] if text.strip() else ""


def commands(story: Story) -> list[tuple[str, str, str | None]]:
    """What was done: trigger, words, outcome."""
    found = sorted(story.commands.values(), key=lambda command: command.started_at)
    return [(each.trigger.value, words(each.text), each.outcome.value if each.outcome else None) for each in found]


def turns(story: Story) -> list[tuple[str, str, str]]:
    """What was said: by whom, with what intent, in which words."""
    found = sorted(story.turn_rows.values(), key=lambda turn: turn.at)
    return [(each.actor.value, each.intent.value, words(each.text)) for each in found]
