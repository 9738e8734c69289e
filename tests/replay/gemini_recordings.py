"""A recorded session of the real Gemini CLI, which can be replayed in any order.

`gemini/session.hooks.jsonl` has the hooks of one run in their order, and `gemini/session.chat.jsonl` its chat file. The
text after `@@` in a prompt is the script of the model. Long strings are cut, and paths are replaced.
"""

import json
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from claude_headspace.clients.decode import decode
from claude_headspace.clients.gemini.chat import Chat
from claude_headspace.clients.transcript_line import parse_time
from claude_headspace.kernel.agent import Command
from claude_headspace.kernel.envelope import Envelope, Micros, Observations, Origin
from tests.kernel.story import Story, new_agent

FOLDER = Path(__file__).with_name("gemini")
HOOK_DELAY: Micros = 40_000
"""How long the script of a hook takes to start."""
LINE_DELAY: Micros = 60_000
"""How long a line takes to be read."""

_ids = count(1)


class Recorded(NamedTuple):
    """An event, and when it arrived."""

    arrived: Micros
    source: str
    envelope: Envelope


def payloads() -> dict[str, bytes]:
    """Recorded payloads by the name of their file."""
    return {path.stem: path.read_bytes() for path in sorted((FOLDER / "payloads").glob("*.json"))}


def hooks(name: str) -> list[Recorded]:
    """The hooks of a recording."""
    rows = [json.loads(line) for line in (FOLDER / f"{name}.hooks.jsonl").read_text().splitlines()]
    return [_hook(row) for row in rows]


def _hook(row: dict[str, Any]) -> Recorded:
    at = (parse_time(row["timestamp"]) or 0) + HOOK_DELAY
    envelope = _envelope(row["hook_event_name"], Origin.HOOK, at, msgspec.json.encode(row))
    return Recorded(at + 15_000, "hook", envelope)


def lines(name: str, chat: Chat) -> list[Recorded]:
    """The lines of a chat file that have facts."""
    found, newest = [], 0
    for raw in (FOLDER / name).read_bytes().splitlines():
        for stored, line in chat.read(raw):
            newest = line.at or newest
            envelope = _envelope("TranscriptLine", Origin.TRANSCRIPT, newest, stored, f"transcript:{line.key}")
            found.append(Recorded(newest + LINE_DELAY, "line", envelope))
    return found


def _envelope(name: str, origin: Origin, at: Micros, payload: bytes, delivery_id: str | None = None) -> Envelope:
    return Envelope(
        id=f"{origin.value}-{next(_ids)}",
        name=name,
        origin=origin,
        client="gemini",
        host="laptop",
        fired_at=at,
        received_at=at,
        payload=payload,
        observations=Observations(client_pid=4711) if origin is Origin.HOOK else Observations(),
        delivery_id=delivery_id,
    )


def by_arrival(events: list[Recorded]) -> list[Recorded]:
    """The events in the order in which they arrived. Hooks and lines of one time keep their order."""
    return sorted(events, key=lambda each: each.arrived)


def replay(events: list[Recorded]) -> Story:
    """Replay events in the kernel. An event with a known delivery id is stored once."""
    story = Story(new_agent(client="gemini", created_at=events[0].envelope.fired_at))
    known = set[str]()
    for each in events:
        if each.envelope.delivery_id is None or each.envelope.delivery_id not in known:
            known.add(each.envelope.delivery_id or "")
            story.apply(decode(each.envelope))
    return story


def states(events: list[Recorded]) -> list[str]:
    """Each state after another, as the events arrive."""
    story, found = Story(new_agent(client="gemini", created_at=events[0].envelope.fired_at)), list[str]()
    for each in events:
        story.apply(decode(each.envelope))
        state, waiting_for = story.board
        shown = f"{state}:{waiting_for}" if waiting_for else state
        if not found or found[-1] != shown:
            found.append(shown)
    return found


def commands(story: Story) -> list[str]:
    """The commands: text and outcome."""
    ordered: list[Command] = sorted(story.commands.values(), key=lambda command: command.started_at)
    return [f"{each.text.partition(' @@')[0]}: {each.outcome.value if each.outcome else ''}" for each in ordered]
