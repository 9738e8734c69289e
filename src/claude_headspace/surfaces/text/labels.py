"""The texts and symbols of agents, the same in the terminal, on the command line and on the dashboard. Pure.

Texts of agents, prompts and tools may contain control characters. Pass them through `clean_json` or `clean_text` before
they are shown in a terminal.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.cells import cell_len, chop_cells, set_cell_size

from claude_headspace.clients.tools import FILE_KINDS, find_tool, permission_verb

Json = Mapping[str, Any]

SHAPES = {"waiting": "◆", "error": "✕", "working": "●", "idle": "○", "starting": "◌", "ended": "–"}
"""The symbols of states, in the order of the board: agents that need a person first."""

UNKNOWN_SHAPE = "?"

# --- clean and wrap --------------------------------------------------------------------------------------------------

_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, the cursor, modes
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # OSC and its like: titles, links
    r"|\x1b[ -/]*[0-~]"
)
"""Complete terminal control sequences."""

_CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"  # all but tab and newline
    r"|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"  # change the direction of what follows
    r"|[\u200b\u2060-\u2064\ufeff\U000e0000-\U000e007f]"  # invisible
    r"|[\ud800-\udfff]"  # half a character
)
"""Control characters, and characters that are invisible."""


def clean_text(text: str) -> str:
    """A text without terminal control sequences and invisible characters. Line breaks stay."""
    if text.isprintable():
        return text
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    return _CONTROLS.sub("", _SEQUENCES.sub("", plain))


def clean_json(value: Any) -> Any:
    """Decoded JSON with all texts cleaned."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(key): clean_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [clean_json(item) for item in value]
    return value


def one_line(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


def cut(text: str, width: int) -> str:
    """A text cut to the width, at the end of a word unless that would leave less than half."""
    if cell_len(text) <= width:
        return text
    if width < 1:
        return ""
    head = set_cell_size(text, width - 1).rstrip()
    inside_a_word = not text[len(head)].isspace()
    whole = head.rpartition(" ")[0] if inside_a_word else head
    return (whole if cell_len(whole) * 2 >= width else head).rstrip(" ,;:.") + "…"


def wrap(text: str, width: int, taken: int = 0) -> list[str]:
    """Wrap a text between words. The first line is shorter by `taken`."""
    broken: list[str] = []
    for line in text.splitlines() or [""]:
        current = ""
        for word in line.split(" "):
            longer = f"{current} {word}" if current else word
            if current and cell_len(longer) > width - (0 if broken else taken):
                broken.append(current)
                longer = word
            *full, current = chop_cells(longer, width) if cell_len(longer) > width else [longer]
            broken += full
        broken.append(current)
    return broken


# --- time -----------------------------------------------------------------------------------------------------------


def parse_timestamp(time: str) -> datetime:
    """A timestamp of the API; the earliest time if it is invalid."""
    try:
        found = datetime.fromisoformat(time)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def duration(seconds: float) -> str:
    """A duration in one unit: "12 s", "4 min", "2 h", "3 d"."""
    whole = max(int(seconds), 0)
    for unit, size, until in (("s", 1, 60), ("min", 60, 3600), ("h", 3600, 48 * 3600)):
        if whole < until:
            return f"{whole // size} {unit}"
    return f"{whole // 86400} d"


def ago(time: str, now: datetime) -> str:
    """A time relative to now: "just now", "12 s ago", "3 d ago". A future time is "just now"."""
    seconds = (now - parse_timestamp(time)).total_seconds()
    return "just now" if seconds < 5 else f"{duration(seconds)} ago"


def clock_time(time: str, now: datetime) -> str:
    """The local time of day, with the date if it is not today."""
    local = parse_timestamp(time).astimezone(now.tzinfo)
    return f"{local:%H:%M:%S}" if local.date() == now.date() else f"{local:%Y-%m-%d %H:%M}"


# --- agents ----------------------------------------------------------------------------------------------------------

WAIT_KINDS = {
    "question": "an answer",
    "elicitation": "an answer",
    "plan": "plan approval",
    "permission": "permission",
    "dialog": "input in its terminal",
}
"""What an agent waits for, by kind of wait."""


def shape(state: str) -> str:
    """The symbol of a state."""
    return SHAPES.get(state, UNKNOWN_SHAPE)


def summary(agent: Json, now: datetime | None) -> str:
    """What an agent does, in a few words. With `now` also how long ago it finished."""
    match agent.get("state"):
        case "waiting":
            return _waiting(agent)
        case "error":
            return f"stopped: {(agent.get('error') or 'unknown error').replace('_', ' ')}"
        case "working":
            return _working(agent)
        case "idle":
            return _idle(agent, now)
        case "ended":
            return _when("ended", agent.get("ended_at"), now)
        case "starting":
            return _starting(agent)
        case other:
            return str(other or "unknown")


def activity(agent: Json, now: datetime | None) -> str:
    """What an agent does, with its note. If it needs a person, without the note."""
    words, note = summary(agent, now), agent.get("note")
    if not note or agent.get("state") not in ("working", "idle", "starting"):
        return words
    return f"{words} · {one_line(note['text'])}"


def note_text(agent: Json, now: datetime) -> str:
    """The note of an agent and its age."""
    note = agent.get("note")
    return f"{one_line(note['text'])} ({ago(note['at'], now)})" if note else ""


def badges(agent: Json) -> list[str]:
    """Badges of an agent: its mode if it works on a mission, and the number of finished workers."""
    news = len(agent.get("news") or ())
    return [
        *([agent["mode"]] if agent.get("mission") and agent.get("mode") else []),
        *([f"{count(news, 'worker')} finished"] if news else []),
    ]


def summary_has_time(agent: Json) -> bool:
    """Whether the summary contains a time."""
    return agent.get("state") == "ended" or (agent.get("state") == "idle" and _is_done(agent))


def state_text(state: str, waiting_for: str | None) -> str:
    """A state in a sentence: "waiting for an answer"."""
    return f"waiting for {WAIT_KINDS.get(waiting_for or '', 'input')}" if state == "waiting" else state


def _waiting(agent: Json) -> str:
    waits: Sequence[Json] = agent.get("waits") or ()
    if not waits:
        return state_text("waiting", agent.get("waiting_for"))
    more = f" (and {len(waits) - 1} more)" if len(waits) > 1 else ""
    return wait_text(waits[-1]) + more


def wait_text(wait: Json) -> str:
    """What an agent wants from a person."""
    text, tool = one_line(wait["text"]), wait.get("tool") or ""
    match wait["kind"]:
        case "permission":
            about = _about(tool, wait.get("summary") or "")
            verb = f"wants to {permission_verb(tool) or f'use {tool}'}" if tool else "asks"
            return f"{verb}: {about or text}" if about or text else "asks for permission"
        case "plan":
            return f"wants to {verb}" if (verb := permission_verb(tool)) else "has a plan"
        case "dialog":
            return f"shows a dialog: {text}" if text else "shows a dialog"
        case _:
            return f"asks: {_question(wait)}" if text else "asks a question"


def _question(wait: Json) -> str:
    """The question to answer; for a message that ends with a question, its last sentence."""
    if wait.get("questions") or wait.get("tool"):
        return one_line(wait["text"])
    last_line = wait["text"].rstrip().rpartition("\n")[2].strip()
    return re.split(r"(?<=[.!?:])\s+", last_line)[-1]


def _working(agent: Json) -> str:
    subagents: Sequence[Json] = agent.get("subagents") or ()
    if tool := agent.get("tool"):
        return tool_text(tool)
    if len(subagents) > 1:
        return f"{len(subagents)} sub-agents working"
    if subagents:
        return f"sub-agent: {subagent_text(subagents[0])}"
    command = agent.get("command") or {}
    text = one_line(command.get("text") or "") if command.get("ended_at") is None else ""
    return f"working: {text}" if text else "working"


def subagent_text(subagent: Json) -> str:
    """What a sub-agent does."""
    kind = subagent.get("type") or "sub-agent"
    if subagent.get("tool"):
        return f"{kind}, {tool_text(subagent['tool'])}"
    return f"{kind}, {one_line(subagent['description'])}" if subagent.get("description") else str(kind)


def tool_text(tool: Json) -> str:
    """The tool in flight: "editing auth.py", "Bash: npm test"."""
    name, about = tool["name"], _about(tool["name"], tool.get("summary") or "")
    if about and (doing := find_tool(name).doing):
        return f"{doing} {about}"
    return f"{name}: {about}" if about else str(name)


def _about(tool: str, text: str) -> str:
    """What a tool call is about; for a file only its name."""
    return text.rstrip("/").rpartition("/")[2] if find_tool(tool).kind in FILE_KINDS else one_line(text)


def _is_done(agent: Json) -> bool:
    """Whether the agent finished a command in this session and has no background tasks."""
    ended = (agent.get("command") or {}).get("ended_at")
    if not ended or agent.get("background_tasks"):
        return False
    session = agent.get("session")
    return session is None or parse_timestamp(session["started_at"]) <= parse_timestamp(ended)


def _idle(agent: Json, now: datetime | None) -> str:
    if tasks := agent.get("background_tasks"):
        kind = "shell" if all(task["kind"] == "shell" for task in tasks) else "task"
        return f"idle, {count(len(tasks), kind)} running"
    if not _is_done(agent):
        return "idle"
    command = agent["command"]
    word = "done" if command.get("outcome") in (None, "completed") else command["outcome"]
    return _when(word, command["ended_at"], now)


def _starting(agent: Json) -> str:
    supervision = agent.get("supervision") or {}
    return f"restarting: {supervision['reason']}" if supervision.get("under_way") else "starting"


def effort_text(effort: Json | None) -> str:
    """An effort by its name: "fix #2, phase look"."""
    if not effort:
        return ""
    return f"{effort['skill']} #{effort['ordinal']}" + (f", phase {effort['phase']}" if effort["phase"] else "")


def supervision_text(agent: Json, now: datetime) -> str:
    """How often a supervised client was restarted, when and why."""
    found = agent.get("supervision")
    if not found:
        return ""
    often = f"restarted {count(found['restarts'], 'time')}" if found["restarts"] else "not restarted yet"
    last = f", {ago(found['restarted_at'], now)}: {found['reason']}" if found["restarted_at"] else ""
    end = f"; no more: {found['ended']}" if found["ended"] else ""
    return f"{often}{last}{end}"


def _when(word: str, time: str | None, now: datetime | None) -> str:
    return f"{word} {ago(time, now)}" if time and now else word


def count(number: int, noun: str) -> str:
    """A number with its noun: "1 agent", "1,204 events"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


_INTERRUPTED = {
    "confirmed": "{agent} has stopped: it is {state}.",
    "pressed": "Esc was pressed for {agent}, and it goes on: it is {state}.",
}


def interrupt_result(done: Json) -> str:
    """The result of an interrupt."""
    return _INTERRUPTED.get(done["status"], "{agent} is {state}.").format(agent=done["agent"], state=done["state"])


_SENT = {
    "confirmed": "{agent} has it.",
    "typed": "Typed to {agent}; it has not taken it up yet.",
    "duplicate": "{agent} had it already: nothing was typed.",
}


def send_result(sent: Json) -> str:
    """The result of sending a text."""
    return _SENT.get(sent["status"], "Sent to {agent}.").format(agent=sent["agent"])
